/**
 * The script of the page: posts what is typed, shows the committed messages of one conversation as its live feed brings
 * them, and the answer that is being written from its stream. It runs in browsers as it stands, so it is plain
 * JavaScript. `fetch` instead of `EventSource`, since that cannot send a token.
 */
export const pageScript = `
"use strict";
const texts = JSON.parse(document.getElementById("texts").textContent);
const $ = (id) => document.getElementById(id);
const log = $("log"), form = $("form"), input = $("message"), state = $("state"), tokenForm = $("token-form");
const store = (key, value) => {
  try {
    if (value !== undefined) sessionStorage.setItem(key, value);
    return sessionStorage.getItem(key);
  } catch { return value ?? null; }
};
const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(8)), (b) => b.toString(16).padStart(2, "0")).join("");
const named = new URLSearchParams(location.search).get("conversation") || "";
const conversation = /^[\\w.-]{1,64}$/.test(named) ? named : store("conversation") || "page-" + newId();
store("conversation", conversation);
$("conversation").textContent = conversation;
const bubbles = new Map();
let last = 0;

const call = (path, options = {}) => {
  const headers = { ...options.headers };
  const token = store("token");
  if (token) headers.authorization = "Bearer " + token;
  return fetch(path, { ...options, headers }).then((response) => {
    tokenForm.hidden = response.status !== 401;
    if (response.status === 401) state.textContent = texts.token_needed;
    return response;
  });
};

async function* events(path, headers) {
  const response = await call(path, { headers });
  if (!response.ok) throw Object.assign(new Error(String(response.status)), { status: response.status });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split("\\n\\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = { type: "message", data: "" };
      for (const line of block.split("\\n")) {
        if (line.startsWith("event: ")) event.type = line.slice(7);
        else if (line.startsWith("data: ")) event.data += line.slice(6);
      }
      if (event.data) yield event;
    }
  }
}

function bubble(key, role) {
  let item = bubbles.get(key);
  if (!item) {
    item = document.createElement("li");
    item.className = role;
    const who = document.createElement("strong");
    who.textContent = role === "user" ? texts.you : texts.agent;
    item.append(who, document.createElement("p"));
    bubbles.set(key, item);
    log.append(item);
  }
  return item;
}

function show(key, role, text) {
  const item = bubble(key, role);
  item.lastChild.textContent = text;
  item.scrollIntoView({ block: "nearest" });
  return item;
}

async function follow(run, stream) {
  let text = "";
  state.textContent = texts.working;
  try {
    for await (const { type, data } of events("/v1/stream/" + stream + "?offset=-1&live=sse", {})) {
      if (type !== "data") continue;
      for (const { chunk } of JSON.parse(data)) {
        if (chunk.type === "start") text = "";
        if (chunk.type === "text-delta") text += chunk.delta;
        if (chunk.type === "data-final-text") text = chunk.data.text;
      }
      if (text && !bubbles.has("done " + run)) show("live " + run, "assistant", text).setAttribute("aria-busy", "true");
    }
  } catch { /* The committed answer comes by the feed. */ }
  if (state.textContent === texts.working) state.textContent = "";
}

function dropLive(run) {
  bubbles.get("live " + run)?.remove();
  bubbles.delete("live " + run);
}

function committed(message) {
  last = message.postSeq;
  if (message.role === "assistant") dropLive(message.run);
  show(message.id, message.role, message.text);
}

function ended({ run, state: runState }) {
  if (!["completed", "failed", "cancelled", "interrupted"].includes(runState)) return;
  dropLive(run);
  bubbles.set("done " + run, null);
}

async function feed() {
  const address = encodeURIComponent(texts.address + conversation);
  for (;;) {
    try {
      for await (const { type, data } of events("/v1/conversations/events?address=" + address + "&after=" + last, {})) {
        if (type === "message") committed(JSON.parse(data));
        else if (type === "run") ended(JSON.parse(data));
      }
    } catch (error) {
      if (error.status === 401) return;
      state.textContent = texts.lost;
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

async function say(text) {
  const body = JSON.stringify({ conversation, text, id: "page-" + newId() });
  const response = await call("/v1/messages", { method: "POST", headers: { "content-type": "application/json" }, body });
  const answer = await response.json();
  if (!response.ok) {
    state.textContent = texts.refused + " " + answer.detail;
    return false;
  }
  state.textContent = "";
  if (answer.stream) follow(answer.run, answer.stream);
  return true;
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = input.value.trim();
  if (text === "") return;
  input.value = "";
  try {
    if (!(await say(text))) input.value = text;
  } catch {
    input.value = text;
    state.textContent = texts.lost;
  }
  input.focus();
});
input.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit();
  }
});
$("stop").addEventListener("click", () => say("stop").catch(() => { state.textContent = texts.lost; }));
tokenForm.addEventListener("submit", (event) => {
  event.preventDefault();
  store("token", $("token").value);
  $("token").value = "";
  state.textContent = "";
  tokenForm.hidden = true;
  feed();
});
feed();
`;

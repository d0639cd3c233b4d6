/**
 * The page of somebody who has never heard of Waybill: the AI SDK's own hook and transport, as its manual shows them,
 * under React's StrictMode. The chat's id stands in the URL; what was said before is loaded as an app would do it.
 */
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { createElement as h, StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";

const id = new URLSearchParams(location.search).get("id");
const transport = new DefaultChatTransport({ api: "/api/chat" });

function textOf(message) {
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function Chat({ before }) {
  const { messages, sendMessage, status, stop, error } = useChat({
    id,
    messages: before,
    transport,
    resume: true,
  });
  const [text, setText] = useState("");
  const submit = (event) => {
    event.preventDefault();
    void sendMessage({ text });
    setText("");
  };
  return h(
    "main",
    null,
    h("p", { role: "status" }, status),
    error ? h("p", { role: "alert" }, error.message) : null,
    ...messages.map((message) =>
      h("article", { key: message.id, "aria-label": message.role }, textOf(message)),
    ),
    h(
      "form",
      { onSubmit: submit },
      h("input", { "aria-label": "Message", value: text, onChange: (event) => setText(event.target.value) }),
      h("button", null, "Send"),
      h("button", { type: "button", onClick: stop }, "Stop"),
    ),
  );
}

const query = new URLSearchParams({ address: `web:main/${id}`, limit: "100" });
const { items } = await (await fetch(`/v1/messages?${query}`)).json();
const before = items.map(({ id, role, text, platformId }) => ({
  id: role === "user" ? (platformId ?? id) : id,
  role,
  parts: [{ type: "text", text }],
}));
createRoot(document.getElementById("root")).render(h(StrictMode, null, h(Chat, { before })));

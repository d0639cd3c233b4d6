import type { Clock } from "../../kernel/clock.ts";
import type { Agent, RunContext } from "../agent.ts";
import { fnAgent } from "../function/function-agent.ts";
import { abortReason } from "../race-abort.ts";
import { guideTexts, languageOf, type GuideTexts } from "./guide-texts.ts";

const longDeltas = 200;
const longPauseMs = 30;
const slowSeconds = 15;
const slowStepSeconds = 3;
const jobSteps = 10;
const jobStepMs = 2_000;

type Word = "long" | "slow" | "fail" | "job" | "why";

const words: Readonly<Record<string, Word>> = {
  long: "long",
  slow: "slow",
  fail: "fail",
  job: "job",
  why: "why",
  길게: "long",
  천천히: "slow",
  실패: "fail",
  작업: "job",
  왜: "why",
};

/**
 * The agents that are there without any settings: `guide` answers and shows what can be tried, `worker` does the
 * job that `guide` starts (so a gateway must give it that name). They call no model and need no key.
 */
export function guideAgents({ clock }: { clock: Clock }): { guide: Agent; worker: Agent } {
  return {
    guide: fnAgent((ctx) => answer(ctx, clock)),
    worker: fnAgent((ctx) => work(ctx, clock), { background: true }),
  };
}

async function* answer(ctx: RunContext, clock: Clock): AsyncGenerator<string, undefined, undefined> {
  const texts = guideTexts[languageOf(ctx.text)];
  switch (wordOf(ctx.text)) {
    case "long":
      yield* long(ctx, clock, texts);
      return;
    case "slow":
      yield await slow(ctx, clock, texts);
      return;
    case "fail":
      throw new Error("The guide was asked to fail.");
    case "job":
      yield texts.jobStarted((await ctx.start("worker", texts.jobTask)).run);
      return;
    case "why":
      yield texts.why(ctx.run.id);
      return;
    case undefined:
      yield greeting(ctx, texts);
  }
}

/** The word that the message is, also in the form of a command (`/long`) or with a mark at its end (`why?`). */
function wordOf(text: string): Word | undefined {
  const word = /^\/?(\p{L}+)[\s?!.]*$/u.exec(text.trim())?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(words, word) ? words[word] : undefined;
}

async function* long(
  ctx: RunContext,
  clock: Clock,
  texts: GuideTexts,
): AsyncGenerator<string, undefined, undefined> {
  for (let n = 0; n < longDeltas; n += 1) {
    if (n > 0) await pause(ctx, clock, longPauseMs);
    yield texts.long[n % texts.long.length]!;
  }
}

async function slow(ctx: RunContext, clock: Clock, texts: GuideTexts): Promise<string> {
  for (let passed = 0; passed < slowSeconds; passed += slowStepSeconds) {
    await ctx.progress(texts.slowProgress(passed, slowSeconds), Math.round((100 * passed) / slowSeconds));
    await pause(ctx, clock, slowStepSeconds * 1_000);
  }
  return texts.slowDone(slowSeconds);
}

function greeting(ctx: RunContext, texts: GuideTexts): string {
  const names = ctx.message.parts.flatMap((part) =>
    part.type === "file" ? [part.filename ?? part.mediaType] : [],
  );
  return [
    texts.hello(ctx.text.trim()),
    ...(names.length > 0 ? [texts.files(names.join(", "))] : []),
    texts.list,
  ].join("\n\n");
}

async function work(ctx: RunContext, clock: Clock): Promise<string> {
  const texts = guideTexts[languageOf(ctx.text)];
  for (let step = 1; step <= jobSteps; step += 1) {
    await ctx.progress(texts.jobProgress(step, jobSteps), Math.round((100 * (step - 1)) / jobSteps));
    await pause(ctx, clock, jobStepMs);
  }
  return texts.jobDone(jobSteps, ctx.run.id);
}

function pause(ctx: RunContext, clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      takeBack();
      reject(abortReason(ctx.signal));
    };
    const takeBack = clock.after(ms, () => {
      ctx.signal.removeEventListener("abort", onAbort);
      resolve();
    });
    if (ctx.signal.aborted) onAbort();
    else ctx.signal.addEventListener("abort", onAbort, { once: true });
  });
}

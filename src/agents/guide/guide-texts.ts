/**
 * What the guide says, in English and in Korean. The guide answers in the language of the message and not of the
 * reader's settings, so its texts are its own.
 */
export type GuideLanguage = "en" | "ko";

export interface GuideTexts {
  hello: (text: string) => string;
  list: string;
  files: (names: string) => string;
  long: readonly string[];
  slowProgress: (seconds: number, of: number) => string;
  slowDone: (seconds: number) => string;
  jobTask: string;
  jobStarted: (run: string) => string;
  jobProgress: (step: number, of: number) => string;
  jobDone: (steps: number, run: string) => string;
  why: (run: string) => string;
}

/** Korean if the text has a letter of the Korean script, else English. */
export function languageOf(text: string): GuideLanguage {
  return /\p{Script=Hangul}/u.test(text) ? "ko" : "en";
}

const en: GuideTexts = {
  hello: (text) => (text === "" ? "Hello! I am the built-in guide." : `You said: ${text}`),
  list: [
    "I am not a model, and I need no key. I show what the gateway does. Try one of these words:",
    "",
    "- `long`: a long answer, streamed in small pieces",
    "- `slow`: an answer that takes 15 seconds; talk in another conversation meanwhile",
    "- `fail`: an agent that breaks",
    "- `job`: a job in the background that answers here when it is done",
    "- `why`: how to see why an answer went where it went",
    "",
    "Also, at any time: `status`, `stop`, `new`, `help`.",
    "",
    "Put your own agent here with `waybill init`, or a model with WAYBILL_MODEL.",
  ].join("\n"),
  files: (names) => `I was given: ${names}.`,
  long: ["Every ", "piece ", "of ", "this ", "answer ", "is ", "sent ", "once, ", "and ", "in ", "order. "],
  slowProgress: (seconds, of) => `${seconds} of ${of} seconds`,
  slowDone: (seconds) => `That took ${seconds} seconds. Other conversations were answered meanwhile.`,
  jobTask: "Count to ten, slowly.",
  jobStarted: (run) =>
    `I have started a job: ${run}\nAsk \`status\` to see how far it is. Its answer comes here.`,
  jobProgress: (step, of) => `step ${step} of ${of}`,
  jobDone: (steps, run) => `The job is done: ${steps} steps (${run}).`,
  why: (run) =>
    [
      "Every answer leaves a trail: who asked, which run answered, where it was due, and which rule chose the place.",
      `See the trail of this one in a terminal: waybill why ${run}`,
    ].join("\n"),
};

const ko: GuideTexts = {
  hello: (text) =>
    text === "" ? "안녕하세요! 저는 내장 안내 에이전트입니다." : `이렇게 말씀하셨어요: ${text}`,
  list: [
    "저는 언어 모델이 아니며 키도 필요 없습니다. 게이트웨이가 무엇을 하는지 보여 드립니다. 다음 낱말을 보내 보세요:",
    "",
    "- `길게` (`long`): 작은 조각으로 흘러나오는 긴 답",
    "- `천천히` (`slow`): 15초 걸리는 답. 그동안 다른 대화에서 이야기해 보세요",
    "- `실패` (`fail`): 고장 나는 에이전트",
    "- `작업` (`job`): 뒤에서 돌다가 끝나면 여기에 답하는 작업",
    "- `왜` (`why`): 답이 왜 그곳으로 갔는지 보는 방법",
    "",
    "언제든지: `status`, `stop`, `new`, `help`.",
    "",
    "`waybill init`으로 직접 만든 에이전트를, WAYBILL_MODEL로 모델을 여기에 둘 수 있습니다.",
  ].join("\n"),
  files: (names) => `받은 파일: ${names}.`,
  long: ["이 ", "답의 ", "모든 ", "조각은 ", "한 ", "번씩, ", "순서대로 ", "전해집니다. "],
  slowProgress: (seconds, of) => `${of}초 중 ${seconds}초`,
  slowDone: (seconds) => `${seconds}초 걸렸습니다. 그동안 다른 대화에는 계속 답했습니다.`,
  jobTask: "천천히 열까지 세기.",
  jobStarted: (run) =>
    `작업을 시작했습니다: ${run}\n\`status\`로 진행 상황을 볼 수 있고, 답은 여기로 옵니다.`,
  jobProgress: (step, of) => `${of}단계 중 ${step}단계`,
  jobDone: (steps, run) => `작업이 끝났습니다: ${steps}단계 (${run}).`,
  why: (run) =>
    [
      "모든 답은 기록을 남깁니다: 누가 물었는지, 어느 실행이 답했는지, 어디로 가야 했는지, 어떤 규칙이 자리를 골랐는지.",
      `이 답의 기록은 터미널에서 볼 수 있습니다: waybill why ${run}`,
    ].join("\n"),
};

export const guideTexts: Readonly<Record<GuideLanguage, GuideTexts>> = { en, ko };

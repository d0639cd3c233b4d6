import { consoleChatEn, consoleChatKo } from "./console-chat.ts";
import { consoleDeliveriesEn, consoleDeliveriesKo } from "./console-deliveries.ts";
import { consoleGuideEn, consoleGuideKo } from "./console-guide.ts";
import { consoleOperateEn, consoleOperateKo } from "./console-operate.ts";
import { consoleRunsEn, consoleRunsKo } from "./console-runs.ts";
import { consoleEn, consoleKo } from "./console.ts";

/**
 * What people read in chat and in the console. English is the source: its keys and its `{placeholders}` are the types
 * of `renderText`, and a test holds Korean against it. A notice is stored as key and values and rendered per reader,
 * so a key that was once released keeps its meaning and its placeholders.
 *
 * How texts are written: whole sentences, no exclamation marks, nothing technical but the run's id. In Korean a
 * placeholder is never followed by a particle that depends on its last sound (이/가, 을/를, 은/는).
 */

/** A text; with `one` and `other`, the number in `{count}` chooses. */
export type Text = string | { one: string; other: string };

export const en = {
  // how a run ended, where it did not end with an answer
  "message.withdrawn": "This message was taken back.",
  "run.failed": "Something went wrong and I could not answer this. (run {run})",
  "run.interrupted":
    "The gateway stopped while I was working on this, so it was not finished. Please ask again. (run {run})",
  "run.cancelled": "This was stopped before it was finished. (run {run})",
  "run.deadline": "This took longer than it may, so it was stopped. (run {run})",
  "run.limit_tokens": "This reached its limit of model tokens, so it was stopped. (run {run})",
  "run.limit_steps": "This reached its limit of model calls, so it was stopped. (run {run})",
  "run.provider_failed":
    "The language model could not be reached or did not answer properly. Please try again later. (run {run})",
  "run.too_large": "The answer grew larger than it may, so it was stopped. (run {run})",
  "run.bad_output": "The agent gave something that cannot be shown as an answer. (run {run})",

  // jobs
  "job.accepted": "I have taken this on as a job for {agent} and will post the result here. (run {run})",
  "job.accepted_many": {
    one: "I have taken on {count} job and will post its result here.",
    other: "I have taken on {count} jobs and will post their results here.",
  },
  "job.cancelled_with_parent":
    "The job for {agent} never began, because what asked for it ended first. (run {run})",

  // the answer to "are you working on it?"
  "status.none": "There is no record of a run in this conversation.",
  "status.removed_older": "Records older than {age} have been removed.",
  "status.staged": "{agent}: recorded {age} ago; it begins as soon as this has been confirmed here.",
  "status.queued": "{agent}: waiting for its turn for {age}.",
  "status.running": "{agent}: working on it for {age}.",
  "status.running_progress": "{agent}: working on it for {age}. Last progress: {progress}",
  "status.waiting": "{agent}: waiting for an approval or for another result for {age}.",
  "status.completed": "{agent}: finished {age} ago.",
  "status.failed": "{agent}: failed {age} ago. Reason: {reason}",
  "status.cancelled": "{agent}: stopped {age} ago, before it was finished.",
  "status.interrupted":
    "{agent}: interrupted {age} ago because the gateway stopped; it was not finished. Please ask again.",

  // reasons, inside of status sentences
  "reason.agent_failed": "the agent failed",
  "reason.agent_bad_output": "the agent gave something that is no answer",
  "reason.agent_output_too_large": "the answer grew too large",
  "reason.token_limit": "the limit of model tokens was reached",
  "reason.step_limit": "the limit of model calls was reached",
  "reason.deadline_exceeded": "it took longer than it may",
  "reason.provider_unauthorized": "the language model refused the gateway's key",
  "reason.provider_rate_limited": "the language model is used too much at the moment",
  "reason.provider_failed": "the language model failed",
  "reason.provider_bad_answer": "the language model did not answer properly",
  "reason.unknown_agent": "the agent is no longer in the settings",
  "reason.cancel": "somebody stopped it",
  "reason.shutdown": "the gateway was shut down",
  "reason.lease_lost": "the gateway stopped unexpectedly",
  "reason.parent": "what asked for it ended first",
  "reason.limit": "a limit was reached",
  "reason.other": "an error in the gateway",

  // the reserved words
  "stop.done": { one: "Stopped {count} run.", other: "Stopped {count} runs." },
  "stop.nothing": "Nothing is running here.",
  "new.done": "We begin anew: what was said here before is no longer taken into account.",
  "help.text": `Write what you need; the answer comes here. These words always work, in threads too:
stop (or /stop): stops what is running here
new (or /new): begins anew, without what was said before
status (or /status): what is running here, and what has ended
help (or /help): this text`,

  // refusals
  "sender.denied": "{sender} may not talk to agents in {address}.",
  daily_cap: "Today's limit for {agent} has been reached. Please try again tomorrow.",

  "why.not_mine": "This post is not one of mine.",

  // files and pictures that did not reach the agent
  "parts.left_out": "The file {name} was left out. Reason: {reason}",
  "parts.reason.too_large": "it is larger than {limit}",
  "parts.reason.too_many": "only {limit} files of one message are taken",
  "parts.reason.type": "files of the type {type} are not accepted here",
  "parts.reason.unreadable": "it could not be read",
  "parts.reason.link": "only data URLs and links that begin with https:// are taken",
  "parts.reason.agent": "this agent takes text only",

  "preview.working": "… working",

  // the page that the server shows while there is no console
  "page.lead":
    "Waybill puts agents where people talk. This server is running; you can talk to its agent here.",
  "page.conversation": "Conversation",
  "page.message": "Your message",
  "page.send": "Send",
  "page.stop": "Stop",
  "page.you": "You",
  "page.agent": "Agent",
  "page.working": "An answer is being written.",
  "page.lost": "The connection was lost. Trying again.",
  "page.refused": "This was not taken:",
  "page.token": "Access token",
  "page.token_needed": "This server asks for its access token.",
  "page.token_use": "Use token",
  "page.links": "More",
  "page.api": "What the API offers",
  "page.runs": "Runs",
  "page.deliveries": "Deliveries",

  ...consoleEn,
  ...consoleChatEn,
  ...consoleRunsEn,
  ...consoleOperateEn,
  ...consoleDeliveriesEn,
  ...consoleGuideEn,
} as const satisfies Record<string, Text>;

export type TextKey = keyof typeof en;

export const ko: Record<TextKey, Text> = {
  "message.withdrawn": "이 메시지는 보낸 사람이 지웠습니다.",
  "run.failed": "문제가 생겨 답변하지 못했습니다. (실행 {run})",
  "run.interrupted":
    "작업하는 동안 게이트웨이가 중단되어 끝내지 못했습니다. 다시 요청해 주세요. (실행 {run})",
  "run.cancelled": "끝나기 전에 중지되었습니다. (실행 {run})",
  "run.deadline": "허용된 시간을 넘겨 중지되었습니다. (실행 {run})",
  "run.limit_tokens": "모델 토큰 한도에 도달하여 중지되었습니다. (실행 {run})",
  "run.limit_steps": "모델 호출 횟수 한도에 도달하여 중지되었습니다. (실행 {run})",
  "run.provider_failed":
    "언어 모델에 연결할 수 없거나 올바른 응답을 받지 못했습니다. 나중에 다시 시도해 주세요. (실행 {run})",
  "run.too_large": "답변이 허용된 크기를 넘어 중지되었습니다. (실행 {run})",
  "run.bad_output": "에이전트가 답변으로 보여 드릴 수 없는 결과를 냈습니다. (실행 {run})",

  "job.accepted": "{agent} 작업으로 접수했습니다. 결과는 여기에 올리겠습니다. (실행 {run})",
  "job.accepted_many": "작업 {count}개를 접수했습니다. 결과는 여기에 올리겠습니다.",
  "job.cancelled_with_parent": "{agent} 작업은 요청한 쪽이 먼저 끝나 시작되지 않았습니다. (실행 {run})",

  "status.none": "이 대화에는 실행 기록이 없습니다.",
  "status.removed_older": "{age}보다 오래된 기록은 삭제되었습니다.",
  "status.staged": "{agent}: {age} 전에 등록되었고, 접수 안내가 올라오면 시작합니다.",
  "status.queued": "{agent}: {age}째 차례를 기다리고 있습니다.",
  "status.running": "{agent}: {age}째 작업하고 있습니다.",
  "status.running_progress": "{agent}: {age}째 작업하고 있습니다. 최근 진행 상황: {progress}",
  "status.waiting": "{agent}: 승인이나 다른 결과를 {age}째 기다리고 있습니다.",
  "status.completed": "{agent}: {age} 전에 끝났습니다.",
  "status.failed": "{agent}: {age} 전에 실패했습니다. 이유: {reason}",
  "status.cancelled": "{agent}: {age} 전에 중지되어 끝내지 못했습니다.",
  "status.interrupted": "{agent}: {age} 전에 게이트웨이가 중단되어 끝내지 못했습니다. 다시 요청해 주세요.",

  "reason.agent_failed": "에이전트 오류",
  "reason.agent_bad_output": "에이전트가 답변이 아닌 결과를 냄",
  "reason.agent_output_too_large": "답변이 너무 큼",
  "reason.token_limit": "모델 토큰 한도 도달",
  "reason.step_limit": "모델 호출 횟수 한도 도달",
  "reason.deadline_exceeded": "허용 시간 초과",
  "reason.provider_unauthorized": "언어 모델이 게이트웨이의 키를 거부함",
  "reason.provider_rate_limited": "언어 모델 사용량이 일시적으로 많음",
  "reason.provider_failed": "언어 모델 오류",
  "reason.provider_bad_answer": "언어 모델의 응답이 올바르지 않음",
  "reason.unknown_agent": "에이전트가 더 이상 설정에 없음",
  "reason.cancel": "누군가 중지함",
  "reason.shutdown": "게이트웨이 종료",
  "reason.lease_lost": "게이트웨이가 예기치 않게 중단됨",
  "reason.parent": "요청한 쪽이 먼저 끝남",
  "reason.limit": "한도 도달",
  "reason.other": "게이트웨이 내부 오류",

  "stop.done": "실행 {count}개를 중지했습니다.",
  "stop.nothing": "여기에는 실행 중인 작업이 없습니다.",
  "new.done": "새로 시작합니다. 이전에 나눈 대화는 더 이상 참고하지 않습니다.",
  "help.text": `필요한 것을 적어 주시면 여기에 답변합니다. 다음 단어는 스레드를 포함해 어디서나 쓸 수 있습니다.
stop (또는 /stop): 여기에서 실행 중인 작업을 중지합니다
new (또는 /new): 이전 대화를 참고하지 않고 새로 시작합니다
status (또는 /status): 여기에서 실행 중이거나 끝난 작업을 알려 줍니다
help (또는 /help): 이 안내를 보여 줍니다`,

  "sender.denied": "{sender}: {address}에서 에이전트와 대화할 권한이 없습니다.",
  daily_cap: "{agent}의 오늘 사용 한도에 도달했습니다. 내일 다시 시도해 주세요.",

  "why.not_mine": "제가 올린 글이 아닙니다.",

  "parts.left_out": "{name} 파일은 제외되었습니다. 이유: {reason}",
  "parts.reason.too_large": "{limit}보다 큼",
  "parts.reason.too_many": "메시지 하나에 파일은 {limit}개까지만 받음",
  "parts.reason.type": "여기에서 받지 않는 파일 형식({type})",
  "parts.reason.unreadable": "파일을 읽을 수 없음",
  "parts.reason.link": "데이터 URL이나 https://로 시작하는 링크만 받음",
  "parts.reason.agent": "이 에이전트는 텍스트만 받음",

  "preview.working": "… 작업 중",

  "page.lead":
    "Waybill은 사람들이 대화하는 곳에 에이전트를 연결합니다. 서버가 실행 중이며 여기에서 에이전트와 대화할 수 있습니다.",
  "page.conversation": "대화",
  "page.message": "메시지",
  "page.send": "보내기",
  "page.stop": "중지",
  "page.you": "나",
  "page.agent": "에이전트",
  "page.working": "답변을 작성하고 있습니다.",
  "page.lost": "연결이 끊어져 다시 시도합니다.",
  "page.refused": "메시지를 보내지 못했습니다:",
  "page.token": "액세스 토큰",
  "page.token_needed": "이 서버를 사용하려면 액세스 토큰이 필요합니다.",
  "page.token_use": "토큰 사용",
  "page.links": "더 보기",
  "page.api": "API 설명",
  "page.runs": "실행 목록",
  "page.deliveries": "전달 목록",

  ...consoleKo,
  ...consoleChatKo,
  ...consoleRunsKo,
  ...consoleOperateKo,
  ...consoleDeliveriesKo,
  ...consoleGuideKo,
};

/** What the console's guide says. */
export const consoleGuideEn = {
  "console.guide.title": "See it for yourself",
  "console.guide.lead":
    "Four promises, shown live on this gateway. Press a button and watch where things go; whatever you see really happened, and each line leads to its record.",
  "console.guide.no_agents":
    "This gateway has agents of its own, and the built-in guide is not among them. Start one without a settings file, in an empty folder, to see these promises.",
  "console.guide.show": "Show it",
  "console.guide.show_again": "Show it again",
  "console.guide.running": "Going on",
  "console.guide.trace": "What happened",
  "console.guide.pane": "Conversation {name}",
  "console.guide.pane_empty": "Nothing was said here yet.",
  "console.guide.open_run": "its record",
  "console.guide.kept": "Promise kept",
  "console.guide.broken": "Promise broken",
  "console.guide.later": "Comes later",
  "console.guide.promise": "Promise {number}",

  "console.guide.stays.title": "An answer stays where it was asked",
  "console.guide.stays.about":
    "Alice asks for something slow in a direct message. Meanwhile Bob talks in a channel, so the channel was active last. Her answer still arrives in her direct message, and nowhere else.",
  "console.guide.stays.asked": "Alice asked in her direct message.",
  "console.guide.stays.other": "Bob wrote in the channel, so the channel is where somebody spoke last.",
  "console.guide.stays.posted": "An answer was posted in",
  "console.guide.stays.rule": "(chosen by: {rule})",
  "console.guide.stays.kept":
    "The slow answer stands in the direct message. In the meantime the channel got {count} answers of its own, and nothing was mixed.",
  "console.guide.stays.broken": "An answer is not where it was asked. Please report this with its run.",
  "console.guide.line.one": "Good morning, everybody",
  "console.guide.line.two": "Who takes the minutes today?",
  "console.guide.line.three": "The deploy is at four",
  "console.guide.line.four": "See you at lunch",

  "console.guide.job.title": "A killed process is admitted, once",
  "console.guide.job.about":
    "A job begins in the background. You kill the process in the middle of it. When it runs again, the conversation is told that the job was interrupted: one notice, where the answer was due.",
  "console.guide.job.started": "The job began. It takes 20 seconds.",
  "console.guide.job.kill": "Now kill the gateway, in a terminal on its machine:",
  "console.guide.job.process": "It is process {pid}, and its boot id is {boot}.",
  "console.guide.job.copy_kill": "Copy the command that kills it",
  "console.guide.job.restart":
    "Then start it again, the way you started it. In a clone of the repository that is:",
  "console.guide.job.copy_start": "Copy the command that starts it",
  "console.guide.job.gone": "The gateway is gone. Nothing is lost; start it again.",
  "console.guide.job.back": "Another process answers: {pid}. It found what the dead one had left.",
  "console.guide.job.interrupted": "The job is recorded as interrupted, in the same step as the notice.",
  "console.guide.job.kept": "One notice arrived, where the job's answer was due.",
  "console.guide.job.broken": "There are {count} notices. There should be one; please report this.",
  "console.guide.job.finished":
    "The job ended before the process was killed, and its answer is here. Show it again, and be quicker.",
  "console.guide.job.stopped": "The job was stopped before the process was killed. Show it again.",

  "console.guide.peers.title": "What agents tell one another stays readable",
  "console.guide.peers.about":
    "One agent gives another a task. Its words are sealed for the one that they are for, and kept readable for people.",
  "console.guide.tokens.title": "Five tokens arrive as five tokens",
  "console.guide.tokens.about":
    "An agent calls another one through code that a user wrote. Each token reaches this page once, counted.",
} as const;

export const consoleGuideKo: { [K in keyof typeof consoleGuideEn]: string } = {
  "console.guide.title": "직접 확인해 보세요",
  "console.guide.lead":
    "네 가지 약속을 이 게이트웨이에서 직접 보여 드립니다. 버튼을 누르고 어디로 가는지 지켜보세요. 보이는 것은 모두 실제로 일어난 일이며, 각 줄에서 기록을 열 수 있습니다.",
  "console.guide.no_agents":
    "이 게이트웨이에는 내장 안내 에이전트가 없습니다. 빈 폴더에서 설정 파일 없이 게이트웨이를 시작하면 이 약속들을 확인할 수 있습니다.",
  "console.guide.show": "보여 주기",
  "console.guide.show_again": "다시 보여 주기",
  "console.guide.running": "진행 중",
  "console.guide.trace": "일어난 일",
  "console.guide.pane": "대화: {name}",
  "console.guide.pane_empty": "아직 이곳에 메시지가 없습니다.",
  "console.guide.open_run": "기록 보기",
  "console.guide.kept": "약속을 지켰습니다",
  "console.guide.broken": "약속이 깨졌습니다",
  "console.guide.later": "다음 버전에서 추가됩니다",
  "console.guide.promise": "약속 {number}번",

  "console.guide.stays.title": "답변은 질문한 곳에 남습니다",
  "console.guide.stays.about":
    "Alice가 다이렉트 메시지에서 오래 걸리는 일을 부탁합니다. 그동안 Bob이 채널에서 말하므로 마지막으로 활동한 곳은 채널입니다. 그래도 Alice의 답변은 다이렉트 메시지에만 도착합니다.",
  "console.guide.stays.asked": "Alice가 다이렉트 메시지에서 질문했습니다.",
  "console.guide.stays.other": "Bob이 채널에 글을 써서 마지막으로 활동한 곳은 채널이 되었습니다.",
  "console.guide.stays.posted": "답변이 게시된 곳:",
  "console.guide.stays.rule": "(선택 기준: {rule})",
  "console.guide.stays.kept":
    "느린 답변은 다이렉트 메시지에 있습니다. 그동안 채널에는 채널의 답변 {count}개가 올라왔고 아무것도 섞이지 않았습니다.",
  "console.guide.stays.broken": "질문한 곳이 아닌 곳에 답변이 있습니다. 실행 기록과 함께 알려 주세요.",
  "console.guide.line.one": "여러분, 좋은 아침입니다",
  "console.guide.line.two": "오늘 회의록은 누가 쓰나요?",
  "console.guide.line.three": "배포는 네 시입니다",
  "console.guide.line.four": "점심때 봬요",

  "console.guide.job.title": "프로세스가 죽으면 한 번만 알려 드립니다",
  "console.guide.job.about":
    "백그라운드 작업을 시작하고, 도중에 프로세스를 강제로 종료합니다. 다시 시작하면 답변이 올 자리에 작업이 중단되었다는 알림이 한 번 올라옵니다.",
  "console.guide.job.started": "작업을 시작했습니다. 20초 걸립니다.",
  "console.guide.job.kill": "이제 게이트웨이가 있는 컴퓨터의 터미널에서 강제로 종료하세요:",
  "console.guide.job.process": "프로세스 번호는 {pid}, 부팅 ID는 {boot}입니다.",
  "console.guide.job.copy_kill": "종료 명령 복사",
  "console.guide.job.restart":
    "그런 다음 처음 시작한 방법으로 다시 시작하세요. 저장소를 복제했다면 다음과 같습니다:",
  "console.guide.job.copy_start": "시작 명령 복사",
  "console.guide.job.gone": "게이트웨이가 사라졌습니다. 잃은 것은 없으니 다시 시작해 주세요.",
  "console.guide.job.back": "다른 프로세스가 응답합니다({pid}). 이전 프로세스가 남긴 것을 찾았습니다.",
  "console.guide.job.interrupted": "작업이 중단된 것으로 기록되었고, 알림도 함께 기록되었습니다.",
  "console.guide.job.kept": "작업의 답변이 올 자리에 알림이 한 번 도착했습니다.",
  "console.guide.job.broken": "알림이 {count}개 있습니다. 하나여야 하므로 알려 주세요.",
  "console.guide.job.finished":
    "프로세스를 종료하기 전에 작업이 끝나 답변이 올라왔습니다. 다시 눌러 조금 더 빨리 종료해 보세요.",
  "console.guide.job.stopped": "프로세스를 종료하기 전에 작업이 중지되었습니다. 다시 눌러 보세요.",

  "console.guide.peers.title": "에이전트끼리 나눈 말도 읽을 수 있습니다",
  "console.guide.peers.about":
    "한 에이전트가 다른 에이전트에게 일을 맡깁니다. 그 내용은 받는 쪽만 열 수 있게 봉인되고, 사람이 읽을 수 있게도 남습니다.",
  "console.guide.tokens.title": "토큰 다섯 개는 다섯 개로 도착합니다",
  "console.guide.tokens.about":
    "사용자가 작성한 코드를 거쳐 에이전트가 다른 에이전트를 호출합니다. 각 토큰은 이 페이지에 한 번씩 도착하며 개수를 셉니다.",
};

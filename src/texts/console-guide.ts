/** What the console's guide says. */
export const consoleGuideEn = {
  "console.guide.lead": "What this gateway promises, shown live. Press a button and watch where things go.",
} as const;

export const consoleGuideKo: { [K in keyof typeof consoleGuideEn]: string } = {
  "console.guide.lead":
    "이 게이트웨이가 약속하는 것을 직접 보여 드립니다. 버튼을 누르고 어디로 가는지 지켜보세요.",
};

import { CircleCheck, CircleX } from "lucide-react";
import type { ReactNode } from "react";
import { useTexts } from "../../app/language.tsx";
import { Clock } from "../../components/records/time.tsx";
import classes from "./trace.module.css";

export interface TraceLine {
  key: string;
  at: string;
  text: ReactNode;
}

/** What happened, line by line, and whether the promise was kept. */
export function Trace({ lines, children }: { lines: readonly TraceLine[]; children?: ReactNode }) {
  const t = useTexts();
  return (
    <section className={classes["trace"]}>
      <h4>{t("console.guide.trace")}</h4>
      <ol aria-label={t("console.guide.trace")} aria-live="polite">
        {lines.map((line) => (
          <li key={line.key}>
            <Clock at={line.at} />
            <div>{line.text}</div>
          </li>
        ))}
      </ol>
      {children}
    </section>
  );
}

export function Verdict({ kept, children }: { kept: boolean; children: ReactNode }) {
  const t = useTexts();
  const Icon = kept ? CircleCheck : CircleX;
  return (
    <p className={classes["verdict"]} data-kept={kept} role="status">
      <Icon size={18} aria-hidden />
      <span>
        <strong>{t(kept ? "console.guide.kept" : "console.guide.broken")}.</strong> {children}
      </span>
    </p>
  );
}

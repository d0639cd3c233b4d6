import type { ReactNode } from "react";
import { useTexts } from "../../app/language.tsx";
import classes from "./guide-page.module.css";

/** One promise: what it says, the button that shows it, and what is seen then. */
export function Promised(props: {
  number: number;
  title: string;
  about: string;
  action: ReactNode;
  children?: ReactNode;
}) {
  const t = useTexts();
  return (
    <section className={classes["promise"]} aria-label={t("console.guide.promise", { number: props.number })}>
      <header className={classes["head"]}>
        <span className={classes["number"]} aria-hidden>
          {props.number}
        </span>
        <div className={classes["title"]}>
          <h3>{props.title}</h3>
          <p>{props.about}</p>
        </div>
        <div className={classes["action"]}>{props.action}</div>
      </header>
      {props.children}
    </section>
  );
}

import { Link } from "wouter";
import classes from "./crumb.module.css";

/** A title with the way back to the list it is of. */
export function Crumb({ href, list, children }: { href: string; list: string; children: string }) {
  return (
    <>
      <Link href={href} className={classes["list"]}>
        {list}
      </Link>{" "}
      <span className={classes["slash"]} aria-hidden>
        /
      </span>{" "}
      {children}
    </>
  );
}

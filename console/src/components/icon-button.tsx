import type { ButtonHTMLAttributes, ReactNode } from "react";
import classes from "./icon-button.module.css";

interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "aria-label" | "title"> {
  /** Its name, for screen readers and as a tooltip. */
  label: string;
  children: ReactNode;
  active?: boolean;
}

/** A button that is only an icon. Light enough to stand in every row of a long list. */
export function IconButton({ label, children, active, className, ...rest }: IconButtonProps) {
  const names = [classes["button"], className].filter(Boolean).join(" ");
  return (
    <button type="button" aria-label={label} title={label} data-active={active} {...rest} className={names}>
      {children}
    </button>
  );
}

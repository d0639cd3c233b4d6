import { Link, useLocation } from "wouter";
import { useTexts } from "./language.tsx";
import { pageOf, pages } from "./pages.ts";
import classes from "./rail.module.css";
import { SettingsMenu } from "./settings-menu.tsx";

/** Where one can go. `wide`: in the drawer, a row of its own. */
export function Rail({ wide = false }: { wide?: boolean }) {
  const t = useTexts();
  const [pathname] = useLocation();
  const here = pageOf(pathname);
  return (
    <nav className={classes["rail"]} data-wide={wide} aria-label={t("console.navigation")}>
      <Link href="/chat" className={classes["mark"]} aria-label="Waybill" title="Waybill">
        <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
          <path
            d="M5 9.5l5 14 6-11.5 6 11.5 5-14"
            fill="none"
            stroke="currentColor"
            strokeWidth="3"
            strokeLinecap="round"
            strokeLinejoin="round"
          />
        </svg>
      </Link>
      <ul>
        {pages.map((row) => (
          <li key={row.path}>
            <Link
              href={row.path}
              className={classes["item"]}
              aria-current={row === here ? "page" : undefined}
            >
              <row.icon size={20} strokeWidth={1.75} aria-hidden />
              <span>{t(row.label)}</span>
            </Link>
          </li>
        ))}
      </ul>
      <SettingsMenu />
    </nav>
  );
}

import { Button } from "@mantine/core";
import { RefreshCw, WifiOff } from "lucide-react";
import { useEffect, useState } from "react";
import { useLive } from "../data/live.ts";
import { useTexts } from "./language.tsx";
import classes from "./notices.module.css";

/** What everybody on the page should know: the server cannot be reached, or it is of another version than this page. */
export function Notices() {
  const t = useTexts();
  const { status, version } = useLive();
  const stale = useStalePage();
  const reload = stale || (version !== null && version !== __WAYBILL_VERSION__);
  return (
    <div role="status">
      {status === "offline" ? (
        <p className={classes["notice"]} data-kind="warn">
          <WifiOff size={16} aria-hidden />
          {t("console.offline")}
        </p>
      ) : null}
      {reload ? (
        <p className={classes["notice"]}>
          <RefreshCw size={16} aria-hidden />
          {t("console.new_version")}
          <Button size="compact-sm" variant="light" onClick={() => location.reload()}>
            {t("console.reload")}
          </Button>
        </p>
      ) : null}
    </div>
  );
}

/** True when a piece of this page is no longer on the server, because it serves another build. */
function useStalePage(): boolean {
  const [stale, setStale] = useState(false);
  useEffect(() => {
    const hear = (event: Event): void => {
      event.preventDefault();
      setStale(true);
    };
    addEventListener("vite:preloadError", hear);
    return () => removeEventListener("vite:preloadError", hear);
  }, []);
  return stale;
}

import { Kbd, Modal } from "@mantine/core";
import type { TextKey } from "../../../src/texts/render.ts";
import { useTexts } from "./language.tsx";
import classes from "./help-dialog.module.css";
import { pages } from "./pages.ts";
import { isMac } from "./keys.ts";

const mod = isMac ? "⌘" : "Ctrl";
const alt = isMac ? "⌥" : "Alt";

const keys = [
  { keys: [mod, "K"], text: "console.key.palette" },
  { keys: [alt, "↑"], text: "console.key.previous" },
  { keys: [alt, "↓"], text: "console.key.next" },
  { keys: [alt, "Shift", "↓"], text: "console.key.unread" },
  { keys: ["n"], text: "console.key.new" },
  { keys: ["i"], text: "console.key.composer" },
  { keys: ["Enter"], text: "console.key.send" },
  { keys: ["Shift", "Enter"], text: "console.key.line" },
  { keys: ["/"], text: "console.key.words" },
  { keys: ["j", "k"], text: "console.key.rows" },
  { keys: ["Esc"], text: "console.key.close" },
  { keys: ["?"], text: "console.key.help" },
] as const satisfies readonly { keys: readonly string[]; text: TextKey }[];

/** The keys that work, in words. */
export function HelpDialog({ onClose }: { onClose: () => void }) {
  const t = useTexts();
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("console.keys")}
      closeButtonProps={{ "aria-label": t("console.close") }}
    >
      <dl className={classes["keys"]}>
        {keys.map((row) => (
          <Row key={row.text} keys={row.keys} text={t(row.text)} />
        ))}
        {pages.map((page) => (
          <Row key={page.path} keys={["g", page.key]} text={t("console.key.page", { page: t(page.label) })} />
        ))}
      </dl>
    </Modal>
  );
}

function Row({ keys: names, text }: { keys: readonly string[]; text: string }) {
  return (
    <div>
      <dt>
        {names.map((name, index) => (
          <Kbd key={index}>{name}</Kbd>
        ))}
      </dt>
      <dd>{text}</dd>
    </div>
  );
}

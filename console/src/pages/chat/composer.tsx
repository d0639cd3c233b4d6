import { ArrowUp, Paperclip, Square } from "lucide-react";
import { useEffect, useRef, type KeyboardEvent, type ReactNode } from "react";
import type { WireRun } from "../../../../src/http/api.ts";
import { useTexts } from "../../app/language.tsx";
import { IconButton } from "../../components/icon-button.tsx";
import { send } from "../../data/outgoing.ts";
import { cancelRun } from "../../data/runs.ts";
import { AttachmentList } from "./attachment-list.tsx";
import type { FilePart } from "./attachments.ts";
import classes from "./composer.module.css";
import { SpeakerMenu } from "./speaker-menu.tsx";
import { useDraft } from "./use-draft.ts";
import { useGrowing } from "./use-growing.ts";
import { useFiles } from "./use-files.ts";
import { useWordMenu } from "./use-word-menu.ts";
import { WordMenu } from "./word-menu.tsx";

interface ComposerProps {
  address: string;
  runs: readonly WireRun[];
  placeholder?: string;
  /** Sends instead of to `address`; used where the place is made with its first message. */
  onSend?: (text: string, files: readonly FilePart[]) => void;
  autoFocus?: boolean;
}

/** Where one writes: Enter sends, Shift+Enter is a new line, files come by button, drop and paste. */
export function Composer({ address, runs, placeholder, onSend, autoFocus = true }: ComposerProps) {
  const t = useTexts();
  const [text, setText] = useDraft(address);
  const files = useFiles(text);
  const field = useRef<HTMLTextAreaElement>(null);
  const menu = useWordMenu(text, (word) => submit(`/${word}`));
  useGrowing(field, text);
  useEffect(() => {
    if (autoFocus && matchMedia("(hover: hover)").matches) field.current?.focus({ preventScroll: true });
  }, [autoFocus]);
  const empty = text.trim() === "" && files.list.length === 0;
  function submit(said = text): void {
    if ((said.trim() === "" && files.list.length === 0) || files.problem !== null) return;
    setText("");
    files.clear();
    if (onSend) onSend(said.trim(), files.list);
    else void send(address, said.trim(), files.list);
  }
  const onKey = (event: KeyboardEvent): void => {
    // While Korean is composed, Enter ends the syllable and sends nothing.
    if (event.nativeEvent.isComposing || event.keyCode === 229 || menu.onKey(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      submit();
    }
  };
  return (
    <div className={classes["composer"]} {...files.drop} data-over={files.over}>
      <WordMenu id={menu.id} found={menu.found} at={menu.at} onChoose={(word) => submit(`/${word}`)} />
      <div className={classes["box"]}>
        <AttachmentList files={files.list} onRemove={files.remove} />
        <textarea
          ref={field}
          data-composer
          rows={1}
          dir="auto"
          value={text}
          placeholder={placeholder ?? t("console.composer.placeholder")}
          aria-label={placeholder ?? t("console.composer.placeholder")}
          {...menu.aria}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKey}
          onPaste={files.paste}
        />
        <Bar runs={runs} onFiles={files.add}>
          <SendButton disabled={empty || files.problem !== null} onSend={() => submit()} />
        </Bar>
      </div>
      {files.problem === null ? null : (
        <p className={classes["problem"]} role="alert">
          {t(files.problem)}
        </p>
      )}
    </div>
  );
}

interface BarProps {
  runs: readonly WireRun[];
  onFiles: (files: Iterable<File>) => void;
  children: ReactNode;
}

/** What stands below the text: files, as whom one speaks, stop and send. */
function Bar({ runs, onFiles, children }: BarProps) {
  const t = useTexts();
  return (
    <div className={classes["bar"]}>
      <FileButton onFiles={onFiles} />
      <SpeakerMenu />
      <span className={classes["hint"]}>{t("console.composer.hint")}</span>
      <StopButton runs={runs} />
      {children}
    </div>
  );
}

function SendButton({ disabled, onSend }: { disabled: boolean; onSend: () => void }) {
  const t = useTexts();
  const label = t("console.composer.send");
  return (
    <button
      type="button"
      className={classes["send"]}
      aria-label={label}
      title={label}
      disabled={disabled}
      onClick={onSend}
    >
      <ArrowUp size={18} aria-hidden />
    </button>
  );
}

function FileButton({ onFiles }: { onFiles: (files: Iterable<File>) => void }) {
  const t = useTexts();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton label={t("console.composer.attach")} onClick={() => input.current?.click()}>
        <Paperclip size={17} />
      </IconButton>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          onFiles(Array.from(event.currentTarget.files ?? []));
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}

/** Stops the answer that is being given here; jobs have a button of their own. */
function StopButton({ runs }: { runs: readonly WireRun[] }) {
  const t = useTexts();
  const answering = runs.filter((run) => !run.background);
  if (answering.length === 0) return null;
  return (
    <button
      type="button"
      className={classes["stop"]}
      onClick={() => {
        for (const run of answering) cancelRun(run.id).catch(() => {});
      }}
    >
      <Square size={11} fill="currentColor" aria-hidden />
      {t("console.composer.stop")}
    </button>
  );
}

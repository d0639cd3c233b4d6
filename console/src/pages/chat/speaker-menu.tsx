import { Popover } from "@mantine/core";
import { Check, ChevronDown, UserPlus } from "lucide-react";
import { useState, type FormEvent } from "react";
import { useTexts } from "../../app/language.tsx";
import { Avatar } from "../../components/avatar.tsx";
import { addSpeaker, speakAs, useSpeakers } from "../../data/speakers.ts";
import classes from "./composer.module.css";

/** As whom one speaks in this window: the operator, or somebody whose view is tried. */
export function SpeakerMenu() {
  const t = useTexts();
  const { others, current } = useSpeakers();
  const [open, setOpen] = useState(false);
  const name = others.find(({ id }) => id === current)?.name ?? t("console.chat.operator");
  const all = [{ id: null, name: t("console.chat.operator") }, ...others];
  return (
    <Popover position="top-start" width={240} trapFocus opened={open} onChange={setOpen}>
      <Popover.Target>
        <button type="button" className={classes["speaker"]} onClick={() => setOpen(!open)}>
          <span className="visually-hidden">{t("console.speaker.as", { name })}</span>
          <Avatar name={name} small />
          <span dir="auto" aria-hidden>
            {name}
          </span>
          <ChevronDown size={13} aria-hidden />
        </button>
      </Popover.Target>
      <Popover.Dropdown className={classes["speakers"]!} aria-label={t("console.speaker.title")}>
        <p>{t("console.speaker.title")}</p>
        {all.map((one) => (
          <button
            key={one.id ?? ""}
            type="button"
            aria-pressed={one.id === current}
            onClick={() => {
              speakAs(one.id);
              setOpen(false);
            }}
          >
            <Avatar name={one.name} small />
            <span dir="auto">{one.name}</span>
            {one.id === current ? <Check size={14} aria-hidden /> : null}
          </button>
        ))}
        <AddSpeaker onDone={() => setOpen(false)} />
      </Popover.Dropdown>
    </Popover>
  );
}

function AddSpeaker({ onDone }: { onDone: () => void }) {
  const t = useTexts();
  const [name, setName] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() === "") return;
    addSpeaker(name);
    onDone();
  };
  return (
    <form className={classes["add-speaker"]} onSubmit={submit}>
      <input
        value={name}
        maxLength={80}
        placeholder={t("console.speaker.name")}
        aria-label={t("console.speaker.name")}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <button type="submit" aria-label={t("console.speaker.add")} title={t("console.speaker.add")}>
        <UserPlus size={15} aria-hidden />
      </button>
    </form>
  );
}

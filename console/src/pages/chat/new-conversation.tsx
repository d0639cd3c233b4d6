import { SegmentedControl } from "@mantine/core";
import { useId, useState } from "react";
import { useLocation } from "wouter";
import { useTexts } from "../../app/language.tsx";
import { PageHeader } from "../../app/page-header.tsx";
import { randomId, send } from "../../data/outgoing.ts";
import { hrefOf } from "../../data/place.ts";
import { useNode } from "../../data/runs-list.ts";
import type { FilePart } from "./attachments.ts";
import { Composer } from "./composer.tsx";
import { slugOf } from "../../components/names.ts";
import classes from "./new-conversation.module.css";

/** What the built-in guide understands, for a first message by one press; every agent's gateway knows the last one. */
const tries = ["long", "slow", "job", "help"] as const;
const always = tries.slice(-1);

/** A conversation begins with its first message. `first`: there is none yet, so it says what this is. */
export function NewConversation({ first = false }: { first?: boolean }) {
  const t = useTexts();
  const [, navigate] = useLocation();
  const [kind, setKind] = useState<"dm" | "channel">("dm");
  const [name, setName] = useState("");
  const field = useId();
  const begin = (text: string, files: readonly FilePart[]): void => {
    const address = `web:main/${placeName(name, text, kind)}`;
    void send(address, text, files, kind);
    navigate(hrefOf(address));
  };
  return (
    <>
      <PageHeader title={t("console.chat.new")} />
      <div className={classes["new"]}>
        <div className={classes["middle"]}>
          <h2>{t(first ? "console.new.welcome" : "console.new.title")}</h2>
          {first ? <p>{t("console.new.about")}</p> : null}
          <SegmentedControl
            value={kind}
            onChange={(value) => setKind(value === "channel" ? "channel" : "dm")}
            role="radiogroup"
            aria-label={t("console.new.kind")}
            data={[
              { value: "dm", label: t("console.new.dm") },
              { value: "channel", label: t("console.new.channel") },
            ]}
          />
          <label htmlFor={field}>
            {t(kind === "channel" ? "console.new.channel_name" : "console.new.dm_name")}
          </label>
          <input
            id={field}
            dir="auto"
            maxLength={60}
            value={name}
            placeholder={t(kind === "channel" ? "console.new.channel_example" : "console.new.dm_example")}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Tries onChoose={(word) => begin(word, [])} />
        </div>
      </div>
      <Composer address="new" runs={[]} placeholder={t("console.new.placeholder")} onSend={begin} />
    </>
  );
}

function Tries({ onChoose }: { onChoose: (word: string) => void }) {
  const t = useTexts();
  const { data } = useNode();
  if (!data) return null;
  return (
    <div className={classes["tries"]}>
      {(data.defaultAgent === "guide" ? tries : always).map((word) => (
        <button key={word} type="button" onClick={() => onChoose(word)}>
          {t(`console.new.try_${word}`)}
        </button>
      ))}
    </div>
  );
}

/** The name of the place: as somebody wished, else the first words of the message with something random behind. */
function placeName(name: string, text: string, kind: "dm" | "channel"): string {
  const wished = slugOf(name);
  if (wished !== "") return wished;
  const words = slugOf(text.slice(0, 36)) || kind;
  return `${words}-${randomId().slice(0, 4)}`;
}

import { useMutation } from "@tanstack/react-query";
import { ArrowRight, ClipboardPaste } from "lucide-react";
import { useState, type FormEvent } from "react";
import { useLocation } from "wouter";
import { useTexts } from "../../app/language.tsx";
import { IconButton } from "../icon-button.tsx";
import { ApiError } from "../../data/api.ts";
import { hrefOfStory, readPasted, readStory } from "../../data/story.ts";
import classes from "./paste-box.module.css";

/** Takes any id, address or link and opens its story. What is pasted opens at once. */
export function PasteBox() {
  const t = useTexts();
  const [, navigate] = useLocation();
  const [text, setText] = useState("");
  const find = useMutation({
    mutationFn: async (given: string) => {
      const pasted = readPasted(given);
      if (pasted === null) return;
      const href = "href" in pasted ? pasted.href : hrefOfStory(await readStory(pasted.ask));
      if (href !== null) navigate(href);
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    find.mutate(text);
  };
  return (
    <form className={classes["box"]} onSubmit={submit}>
      <ClipboardPaste size={15} aria-hidden />
      <input
        type="text"
        aria-label={t("console.paste.label")}
        aria-invalid={find.isError}
        placeholder={t("console.paste.placeholder")}
        title={t("console.paste.label")}
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          find.reset();
        }}
        onPaste={(event) => {
          const pasted = event.clipboardData.getData("text").trim();
          if (text !== "" || pasted === "") return;
          event.preventDefault();
          setText(pasted);
          find.mutate(pasted);
        }}
      />
      <IconButton
        type="submit"
        label={t("console.paste.open")}
        disabled={text.trim() === "" || find.isPending}
      >
        <ArrowRight size={16} />
      </IconButton>
      {find.isError ? (
        <p role="alert" className={classes["error"]}>
          {find.error instanceof ApiError && find.error.status === 404
            ? t("console.paste.not_found")
            : t("console.error.title")}
        </p>
      ) : null}
    </form>
  );
}

import { Button, Modal, PasswordInput } from "@mantine/core";
import { useState, useSyncExternalStore, type FormEvent, type ReactNode } from "react";
import { access } from "../data/api.ts";
import { useTexts } from "./language.tsx";

/** Asks for the operator's token when the server wants one. The page behind it stays: nothing typed is lost. */
export function AccessGate({ children }: { children: ReactNode }) {
  const refused = useSyncExternalStore(access.subscribe, () => access.refused);
  return (
    <>
      {children}
      {refused ? <TokenDialog /> : null}
    </>
  );
}

function TokenDialog() {
  const t = useTexts();
  const [value, setValue] = useState("");
  const wrong = access.token !== null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const token = value.trim();
    if (token !== "") access.use(token);
  };
  return (
    <Modal
      opened
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={t("console.token.title")}
      zIndex={400}
    >
      <form onSubmit={submit}>
        <PasswordInput
          data-autofocus
          autoComplete="off"
          label={t("console.token.label")}
          description={t("console.token.about")}
          error={wrong ? t("console.token.wrong") : null}
          value={value}
          onChange={(event) => setValue(event.currentTarget.value)}
        />
        <Button type="submit" fullWidth mt="md">
          {t("console.token.use")}
        </Button>
      </form>
    </Modal>
  );
}

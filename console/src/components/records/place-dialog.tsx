import { Button, Modal } from "@mantine/core";
import { useId, useState, type FormEvent } from "react";
import { useTexts } from "../../app/language.tsx";
import { useConversations } from "../../data/conversations.ts";
import { nameOf } from "../names.ts";
import classes from "./actions.module.css";

/** Asks for the place that something lacks: one of the known ones, or any address. */
export function PlaceDialog(props: {
  about: string;
  onClose: () => void;
  onGive: (address: string) => void;
}) {
  const t = useTexts();
  const { data } = useConversations();
  const [address, setAddress] = useState("");
  const id = useId();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    props.onClose();
    props.onGive(address.trim());
  };
  return (
    <Modal
      opened
      onClose={props.onClose}
      transitionProps={{ duration: 0 }}
      title={t("console.place.title")}
      closeButtonProps={{ "aria-label": t("console.close") }}
    >
      <form onSubmit={submit}>
        <p className={classes["about"]}>{props.about}</p>
        <label className={classes["field"]}>
          {t("console.place.label")}
          <input
            type="text"
            data-autofocus
            list={`${id}-places`}
            placeholder="web:main/general"
            spellCheck={false}
            autoComplete="off"
            value={address}
            onChange={(event) => setAddress(event.currentTarget.value)}
          />
        </label>
        <datalist id={`${id}-places`}>
          {(data?.items ?? []).map((one) => (
            <option key={one.address} value={one.address}>
              {nameOf(one)}
            </option>
          ))}
        </datalist>
        <div className={classes["buttons"]}>
          <Button variant="default" onClick={props.onClose}>
            {t("console.close")}
          </Button>
          <Button type="submit" disabled={address.trim() === ""}>
            {t("console.place.give")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

import { Button, Modal } from "@mantine/core";
import { useTexts } from "../../app/language.tsx";
import classes from "./actions.module.css";

/** Asks whether somebody means it. `quote`: what it is about, in its own words. */
export function Confirm(props: {
  opened: boolean;
  title: string;
  quote: string;
  about: string;
  yes: string;
  no: string;
  /** It ends something. */
  danger?: boolean;
  onClose: () => void;
  onYes: () => void;
}) {
  const t = useTexts();
  const { opened, title, quote, about, yes, no, danger = false, onClose, onYes } = props;
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      transitionProps={{ duration: 0 }}
      title={title}
      closeButtonProps={{ "aria-label": t("console.close") }}
    >
      <blockquote className={classes["quote"]} dir="auto">
        {quote}
      </blockquote>
      <p className={classes["about"]}>{about}</p>
      <div className={classes["buttons"]}>
        <Button variant="default" onClick={onClose}>
          {no}
        </Button>
        <Button
          data-autofocus
          {...(danger ? { className: classes["danger"]! } : {})}
          onClick={() => {
            onClose();
            onYes();
          }}
        >
          {yes}
        </Button>
      </div>
    </Modal>
  );
}

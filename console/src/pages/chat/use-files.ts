import { useState, type ClipboardEvent, type DragEvent } from "react";
import { bytesOf, messageBytesMost, readFiles, type FilePart } from "./attachments.ts";

/** Files that go with the message, however they came; and why it cannot be sent with them. */
export function useFiles(text: string) {
  const [list, setList] = useState<readonly FilePart[]>([]);
  const [unreadable, setUnreadable] = useState(false);
  const [over, setOver] = useState(false);
  const add = (files: Iterable<File>): void => {
    readFiles(files).then(
      (read) => {
        setUnreadable(false);
        setList((now) => [...now, ...read]);
      },
      () => setUnreadable(true),
    );
  };
  const tooLarge = bytesOf(text, list) > messageBytesMost;
  const problem = tooLarge ? "console.composer.too_large" : unreadable ? "console.composer.unreadable" : null;
  const drop = {
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      if (event.dataTransfer.files.length > 0) event.preventDefault();
      setOver(false);
      add(event.dataTransfer.files);
    },
  };
  const paste = (event: ClipboardEvent): void => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    add(event.clipboardData.files);
  };
  const remove = (index: number): void => setList((now) => now.toSpliced(index, 1));
  return { list, add, remove, clear: () => setList([]), problem, over, drop, paste } as const;
}

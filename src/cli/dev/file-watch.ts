import { createHash } from "node:crypto";
import { readFileSync, watch, type FSWatcher } from "node:fs";
import { basename, dirname } from "node:path";
import { systemClock } from "../../kernel/clock.ts";

/** Editors write a file in several steps; this long after the last of them it is looked at. */
const SETTLE_MS = 50;

/**
 * Watches files by their content, so that a save without a change is none. Folders are watched and not files, since
 * editors replace a file by another one; a file that does not exist yet can be watched too.
 */
export class FileWatch {
  readonly #onChange: (files: string[]) => void;
  readonly #folders = new Map<string, FSWatcher>();
  readonly #digests = new Map<string, string | null>();
  #cancel: (() => void) | null = null;

  constructor(onChange: (files: string[]) => void) {
    this.#onChange = onChange;
  }

  /** Watches these files from now on, and no others. */
  set(files: readonly string[]): void {
    const wanted = new Set(files);
    for (const file of this.#digests.keys()) if (!wanted.has(file)) this.#digests.delete(file);
    for (const file of wanted) if (!this.#digests.has(file)) this.#digests.set(file, digestOf(file));
    const folders = new Set([...wanted].map((file) => dirname(file)));
    for (const [folder, watcher] of this.#folders) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const folder of folders) if (!this.#folders.has(folder)) this.#watch(folder);
  }

  #watch(folder: string): void {
    try {
      const watcher = watch(folder, (_event, name) => {
        const isOurs = [...this.#digests.keys()].some(
          (file) => dirname(file) === folder && (name === null || basename(file) === name),
        );
        if (isOurs) this.#look();
      });
      watcher.on("error", () => watcher.close());
      this.#folders.set(folder, watcher);
    } catch {
      // A folder that is gone: its files are looked at when another one changes.
    }
  }

  #look(): void {
    this.#cancel?.();
    this.#cancel = systemClock.after(SETTLE_MS, () => {
      const changed: string[] = [];
      for (const [file, before] of this.#digests) {
        const now = digestOf(file);
        if (now === before) continue;
        this.#digests.set(file, now);
        changed.push(file);
      }
      if (changed.length > 0) this.#onChange(changed);
    });
  }

  close(): void {
    this.#cancel?.();
    for (const watcher of this.#folders.values()) watcher.close();
  }
}

/** Null: there is no such file. */
function digestOf(file: string): string | null {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("base64");
  } catch {
    return null;
  }
}

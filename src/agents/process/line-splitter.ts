/**
 * Cuts a byte stream into lines. A line ends with LF (a CR before it is left out); blank lines are left out. `tooLong`
 * is called once, as soon as a line has more than `most` bytes; nothing is given after that.
 */
export function lineSplitter(
  most: number,
  line: (text: string) => void,
  tooLong: () => void,
): { write(chunk: Buffer): void; end(): void } {
  let pieces: Buffer[] = [];
  let waiting = 0;
  let broken = false;

  const give = (): void => {
    const text = Buffer.concat(pieces, waiting).toString("utf8").trim();
    pieces = [];
    waiting = 0;
    if (text !== "") line(text);
  };
  const keep = (piece: Buffer): void => {
    if (waiting + piece.length > most) {
      broken = true;
      pieces = [];
      tooLong();
    } else if (piece.length > 0) {
      pieces.push(piece);
      waiting += piece.length;
    }
  };
  return {
    write(chunk) {
      let rest = chunk;
      while (!broken) {
        const at = rest.indexOf(0x0a);
        keep(at === -1 ? rest : rest.subarray(0, at));
        if (at === -1 || broken) return;
        give();
        rest = rest.subarray(at + 1);
      }
    },
    /** The stream is over; what has no LF is a line all the same. */
    end() {
      if (!broken && waiting > 0) give();
      broken = true;
    },
  };
}

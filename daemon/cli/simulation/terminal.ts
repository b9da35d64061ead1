/** A terminal with finished lines above and one line that is drawn over and over. */
import { cutToWidth } from '../display-width.js';

export interface Terminal {
  print(line: string): void;
  /** The empty string clears it. */
  live(line: string): void;
}

/** `quiet`: no live line. Where the output is no terminal, live lines are left out too. */
export function createTerminal(out: NodeJS.WriteStream, quiet: boolean): Terminal {
  const draws = out.isTTY === true && !quiet;
  let drawn = false;
  const clear = () => {
    if (drawn) out.write('\r\u001b[2K');
    drawn = false;
  };
  return {
    print(line) {
      clear();
      out.write(`${line}\n`);
    },
    live(line) {
      if (!draws) return;
      clear();
      if (line === '') return;
      // A pseudo-terminal that nobody has sized says 0.
      out.write(cutToWidth(line, (out.columns || 100) - 1));
      drawn = true;
    },
  };
}

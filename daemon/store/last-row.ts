/**
 * `<database>-last`: the id of the newest outbox row that was committed, outside the database. A database that knows
 * fewer rows than that has lost its log, or is a copy from earlier: it would give the same `seq` twice and begin again
 * what has ended. Written after each commit and never fsynced, so it may be behind the database, and never ahead of it.
 */
import fs from 'node:fs';

interface LastRow {
  epoch: string;
  id: number;
}

export class LastRowMark {
  readonly #fd: number;
  readonly #epoch: string;
  #failures = 0;

  /** Throws what the file system throws. */
  constructor(database: string, epoch: string) {
    this.#fd = fs.openSync(pathOf(database), fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600);
    this.#epoch = epoch;
  }

  /** Times that it could not be written; the old mark then stands. */
  get failures(): number {
    return this.#failures;
  }

  /** The commit of row `id` has succeeded. */
  write(id: number): void {
    try {
      fs.writeSync(this.#fd, `${this.#epoch} ${String(id).padStart(16, '0')}\n`, 0);
    } catch {
      this.#failures += 1;
    }
  }

  close(): void {
    fs.closeSync(this.#fd);
  }
}

/** Null where there is none, or none that can be read. */
export function readLastRow(database: string): LastRow | null {
  let text: string;
  try {
    text = fs.readFileSync(pathOf(database), 'utf8');
  } catch {
    return null;
  }
  const [, epoch, id] = /^(\S+) (\d{16})\n/.exec(text) ?? [];
  return epoch === undefined || id === undefined ? null : { epoch, id: Number(id) };
}

function pathOf(database: string): string {
  return `${database}-last`;
}

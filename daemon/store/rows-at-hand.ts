/**
 * Rows that were committed a moment ago and not handed out yet, so that a publisher that keeps up need not read back
 * what was just written. A copy for speed only: whatever is not certain here is read from the database.
 */
import type { OutboxRow } from './outbox-types.js';

/** More than this is left to the database: nobody is taking rows, or slower than they come. */
const MAX_ROWS = 4_000;
const MAX_BYTES = 4 * 1024 * 1024;

export class RowsAtHand {
  /** Every committed row with an id behind this one is here; null: this knows nothing. */
  #after: number | null = null;
  #rows: OutboxRow[] = [];
  /** Rows before this one in `#rows` were handed out. */
  #first = 0;
  #bytes = 0;
  /** Of the running transaction; `#spoilt`: it changed other rows as well. */
  readonly #fresh: OutboxRow[] = [];
  #spoilt = false;

  /** A row of the running transaction; `dropNewest` takes it back. */
  add(row: OutboxRow): void {
    this.#fresh.push(row);
  }

  dropNewest(): void {
    this.#fresh.pop();
  }

  committed(): void {
    const fresh = this.#fresh;
    if (this.#spoilt) this.#forget();
    this.#spoilt = false;
    if (this.#after !== null) {
      for (const row of fresh) {
        this.#rows.push(row);
        this.#bytes += row.payload.length;
      }
      if (this.#rows.length - this.#first > MAX_ROWS || this.#bytes > MAX_BYTES) this.#forget();
    }
    fresh.length = 0;
  }

  /** Rows behind `afterId`, each given once; null when the database has to be asked. */
  take(afterId: number, limit: number): OutboxRow[] | null {
    if (this.#after === null || afterId < this.#after) return null;
    const rows = this.#rows;
    const taken: OutboxRow[] = [];
    for (; this.#first < rows.length && taken.length < limit; this.#first++) {
      const row = rows[this.#first];
      if (row === undefined) break;
      this.#bytes -= row.payload.length;
      if (row.id > afterId) taken.push(row);
    }
    this.#after = taken.at(-1)?.id ?? afterId;
    if (this.#first === rows.length || this.#first > MAX_ROWS) {
      rows.splice(0, this.#first);
      this.#first = 0;
    }
    return taken;
  }

  /** The database was asked for rows behind `afterId` and gave these; `all`: there are no more. */
  given(afterId: number, rows: readonly OutboxRow[], all: boolean): void {
    this.#forget();
    if (all) this.#after = rows.at(-1)?.id ?? afterId;
  }

  /** The running transaction changes or removes rows: nothing here can be relied on until after it. */
  spoil(): void {
    this.#spoilt = true;
    this.#forget();
  }

  #forget(): void {
    this.#after = null;
    this.#rows = [];
    this.#first = 0;
    this.#bytes = 0;
  }
}

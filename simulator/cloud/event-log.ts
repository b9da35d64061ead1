/**
 * The reference consumer: from messages that come at least once, in nearly any order, to the robot's log, each event
 * exactly once and in order. The rule in words: docs/consumer.md. What it keeps belongs into the same transaction as
 * what an event leads to; here it is in memory.
 */

/** What has to be read of a row of the ordered lane. */
export interface LogRow {
  store_epoch: string;
  seq: number;
  idempotency_key: string;
  /** `DEAD_LETTERED` for the tombstone of a row that the broker refused. */
  event?: unknown;
}

export interface LogEntry<R extends LogRow = LogRow> {
  row: R;
  /** `lost`: the row itself may still come, under the same key and a new `seq`. */
  kind: 'event' | 'lost';
}

export interface LogOptions {
  /** The `seq` to begin with in the first epoch; null, for who comes late: the one that arrives first. */
  first: number | null;
  /** Rows that wait for one before them; when there are more, that one is given up. */
  maxWaiting: number;
  /** Keys remembered, so that an event that comes under another number is known. */
  maxKeys: number;
}

/** Hundreds of rows are under way at once at most; keys of a week at ten events a minute. */
const DEFAULTS: LogOptions = { first: null, maxWaiting: 1000, maxKeys: 100_000 };

interface Epoch<R> {
  next: number;
  /** By `seq`: rows that came before one of their predecessors. */
  waiting: Map<number, R>;
}

export class EventLog<R extends LogRow = LogRow> {
  readonly #options: LogOptions;
  readonly #apply: (entry: LogEntry<R>) => void;
  readonly #epochs = new Map<string, Epoch<R>>();
  readonly #keys = new Set<string>();
  #repeats = 0;
  #skipped = 0;

  /** `apply` gets each entry of the log once, in order. */
  constructor(apply: (entry: LogEntry<R>) => void, options: Partial<LogOptions> = {}) {
    this.#apply = apply;
    this.#options = { ...DEFAULTS, ...options };
  }

  /** Rows that wait for one before them. */
  get waiting(): number {
    return [...this.#epochs.values()].reduce((sum, { waiting }) => sum + waiting.size, 0);
  }

  /** Messages that were there already. */
  get repeats(): number {
    return this.#repeats;
  }

  /** Numbers that were given up: each is a gap to look into. */
  get skipped(): number {
    return this.#skipped;
  }

  accept(row: R): void {
    const epoch = this.#epochOf(row);
    if (row.seq < epoch.next || epoch.waiting.has(row.seq)) {
      this.#repeats += 1;
      return;
    }
    epoch.waiting.set(row.seq, row);
    this.#advance(epoch);
    while (epoch.waiting.size > this.#options.maxWaiting) {
      const next = Math.min(...epoch.waiting.keys());
      this.#skipped += next - epoch.next;
      epoch.next = next;
      this.#advance(epoch);
    }
  }

  /** An epoch that follows another begins at 1. */
  #epochOf({ store_epoch, seq }: R): Epoch<R> {
    const known = this.#epochs.get(store_epoch);
    if (known !== undefined) return known;
    const epoch: Epoch<R> = {
      next: this.#epochs.size === 0 ? (this.#options.first ?? seq) : 1,
      waiting: new Map(),
    };
    this.#epochs.set(store_epoch, epoch);
    return epoch;
  }

  #advance(epoch: Epoch<R>): void {
    for (let row = epoch.waiting.get(epoch.next); row !== undefined; row = epoch.waiting.get(epoch.next)) {
      epoch.waiting.delete(epoch.next);
      epoch.next += 1;
      this.#take(row);
    }
  }

  #take(row: R): void {
    if (row.event === 'DEAD_LETTERED') {
      // Its key is not remembered: under it the row itself may come when a person has requeued it.
      this.#apply({ row, kind: 'lost' });
    } else if (this.#keys.has(row.idempotency_key)) {
      this.#repeats += 1;
    } else {
      this.#keys.add(row.idempotency_key);
      for (const key of this.#keys) {
        if (this.#keys.size <= this.#options.maxKeys) break;
        this.#keys.delete(key);
      }
      this.#apply({ row, kind: 'event' });
    }
  }
}

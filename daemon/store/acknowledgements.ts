/** Rows that the broker has: collected during a turn, taken out together right before its commit. */
import type { OutboxSql, OutboxState } from './outbox-rows.js';
import type { OutboxLane, OutboxRow } from './outbox-types.js';

/** What has to be known of a row to let it leave. */
interface Handed {
  lane: OutboxLane;
  seq: number | null;
  bytes: number;
}

/** Handed rows remembered so that their acknowledgement needs no query. */
const MAX_HANDED = 20_000;

/**
 * The ordered lane knows how far it is acknowledged by one number, `ackedSeq`; only a row that is acknowledged before
 * one of its predecessors is marked. So taking acknowledgements in order costs nothing per row.
 */
export class Acknowledgements {
  readonly #sql: OutboxSql;
  readonly #state: OutboxState;
  readonly #lookUp: (id: number) => Handed | null;
  readonly #handed = new Map<number, Handed>();
  /** Ordered rows acknowledged before one of their predecessors, by `seq`. */
  #ahead: Set<number>;
  #waiting: number[] = [];

  constructor(sql: OutboxSql, state: OutboxState, lookUp: (id: number) => Handed | null) {
    this.#sql = sql;
    this.#state = state;
    this.#lookUp = lookUp;
    this.#ahead = new Set(sql.ackedAhead.all(state.ackedSeq));
  }

  /** Ordered rows that were acknowledged before one of their predecessors. */
  get ahead(): number {
    return this.#ahead.size;
  }

  get any(): boolean {
    return this.#waiting.length > 0;
  }

  /** Rows that a publisher has in hands now. */
  handed(rows: readonly OutboxRow[], sizeOf: (payload: string) => number): void {
    if (this.#handed.size > MAX_HANDED) this.#handed.clear();
    for (const row of rows) {
      this.#handed.set(row.id, { lane: row.lane, seq: row.seq, bytes: sizeOf(row.payload) });
    }
  }

  isHanded(id: number): boolean {
    return this.#handed.has(id);
  }

  /** The row has another payload now; what is on its way does not count. */
  replaced(id: number): void {
    this.#handed.delete(id);
  }

  isUnsent(seq: number): boolean {
    return seq > this.#state.ackedSeq && !this.#ahead.has(seq);
  }

  add(id: number): void {
    this.#waiting.push(id);
  }

  /** Inside the transaction. Gives the way back, for when its commit fails; then they are taken with the next one. */
  take(): () => void {
    const before = { state: { ...this.#state }, ahead: new Set(this.#ahead) };
    for (const id of this.#waiting) this.#takeOne(id);
    return () => {
      Object.assign(this.#state, before.state);
      this.#ahead = before.ahead;
    };
  }

  committed(): void {
    for (const id of this.#waiting) this.#handed.delete(id);
    this.#waiting = [];
  }

  #takeOne(id: number): void {
    const row = this.#handed.get(id) ?? this.#lookUp(id);
    if (row === null) return;
    const state = this.#state;
    if (row.lane === 'ordered') {
      if (row.seq === null || !this.isUnsent(row.seq)) return;
      this.#takeOrdered(row.seq);
    } else {
      const statement = row.lane === 'response' ? this.#sql.deleteResponse : this.#sql.deleteTelemetry;
      if (statement.run(id).changes === 0) return;
      if (row.lane === 'telemetry') state.telemetryRows--;
    }
    state.rows--;
    state.bytes -= row.bytes;
    state.published++;
  }

  #takeOrdered(seq: number): void {
    const state = this.#state;
    if (seq !== state.ackedSeq + 1) {
      this.#sql.markAcked.run(seq);
      this.#ahead.add(seq);
      return;
    }
    state.ackedSeq = seq;
    while (this.#ahead.delete(state.ackedSeq + 1)) state.ackedSeq++;
  }
}

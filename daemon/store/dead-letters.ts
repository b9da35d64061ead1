/** Rows that the broker refuses for good: kept with the reason until a person requeues or drops them. */
import type { OutboxSql, OutboxState } from './outbox-rows.js';
import type { DeadLetter } from './outbox-types.js';

/** A row on its way to the dead letters. */
interface Refused {
  lane: string;
  topic: string;
  seq: number | null;
  key: string | null;
  reason: string;
  attempts: number;
  bytes: number;
  payload: string;
}

interface DeadLetterHost {
  now(): number;
  change(delta: Partial<OutboxState>): void;
  append(letter: { lane: string; topic: string; key: string | null; payload: string }): void;
  /** Neither sent nor on its way. */
  isWaiting(seq: number): boolean;
}

/** Every method runs inside a store transaction. */
export class DeadLetters {
  readonly #sql: OutboxSql;
  readonly #host: DeadLetterHost;

  constructor(sql: OutboxSql, host: DeadLetterHost) {
    this.#sql = sql;
    this.#host = host;
  }

  bury(row: Refused): void {
    const { lane, topic, seq, key, reason, attempts, bytes, payload } = row;
    this.#sql.insertDead.run(
      lane,
      topic,
      seq,
      key,
      reason.slice(0, 500),
      attempts,
      this.#host.now(),
      bytes,
      payload,
    );
    this.#host.change({ deadRows: 1, deadBytes: bytes });
  }

  list(limit: number, after: number): DeadLetter[] {
    return this.#sql.listDead.all(after, limit).map((row) => ({
      id: row.id,
      topic: row.topic,
      seq: row.seq,
      reason: row.reason,
      attempts: row.attempts,
      at: row.at,
      payload: row.payload,
    }));
  }

  /**
   * Sends it again. While its tombstone was not sent, it takes its old place; otherwise it goes to the end of its
   * lane with a new `seq` and its old idempotency key.
   */
  requeue(id: number): boolean {
    const row = this.#sql.deadById.get(id);
    if (row === undefined) return false;
    this.drop(id);
    if (row.seq !== null && this.#host.isWaiting(row.seq)) this.#restore(row.seq, row.bytes, row.payload);
    else this.#host.append(row);
    return true;
  }

  drop(id: number): boolean {
    const row = this.#sql.deadById.get(id);
    if (row === undefined) return false;
    this.#sql.deleteDead.run(id);
    this.#host.change({ deadRows: -1, deadBytes: -row.bytes });
    return true;
  }

  #restore(seq: number, bytes: number, payload: string): void {
    const tombstoneBytes = this.#sql.bytesOf.get(seq) ?? bytes;
    this.#sql.replaceOrdered.run(payload, bytes, 0, seq);
    this.#host.change({ bytes: bytes - tombstoneBytes });
  }
}

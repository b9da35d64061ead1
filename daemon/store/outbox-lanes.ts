/** The three lanes of the outbox: rows go in, are read back, and are taken out, with the counters that go with them. */
import type { LooseRow, OutboxSql, OutboxState } from './outbox-rows.js';
import type { OutboxLane, OutboxRow } from './outbox-types.js';
import { RowsAtHand } from './rows-at-hand.js';
import type { Store } from './store.js';
import { StoredRows, type Window } from './stored-rows.js';

/** A row's own columns and its place in the indexes, roughly; counted on top of its payload. */
const ROW_OVERHEAD_BYTES = 100;

/** What a row takes up, bytes. */
export function sizeOf(payload: string): number {
  return Buffer.byteLength(payload) + ROW_OVERHEAD_BYTES;
}

/** Every method that writes runs inside a store transaction, and takes its counters back when that is undone. */
export class OutboxLanes {
  readonly stored: StoredRows;
  /** Rows of the running transaction wait for its commit. */
  appended = false;
  /** The counters have to be written with this commit. */
  dirty = false;
  readonly #sql: OutboxSql;
  readonly #state: OutboxState;
  readonly #store: Store;
  readonly #now: () => number;
  readonly #atHand: Record<OutboxLane, RowsAtHand> = {
    ordered: new RowsAtHand(),
    response: new RowsAtHand(),
    telemetry: new RowsAtHand(),
  };

  constructor(sql: OutboxSql, state: OutboxState, store: Store, now: () => number) {
    this.#sql = sql;
    this.#state = state;
    this.#store = store;
    this.#now = now;
    this.stored = new StoredRows(sql);
  }

  insertOrdered(topic: string, key: string, payload: object): void {
    const text = JSON.stringify(payload);
    const bytes = sizeOf(text);
    const { nextSeq, nextId } = this.#state;
    const now = this.#now();
    this.#sql.insertOrdered.run(nextSeq, nextId, topic, key, now, bytes, text);
    this.change({ nextSeq: 1, nextId: 1, rows: 1, bytes });
    this.#added({
      id: nextId,
      lane: 'ordered',
      topic,
      seq: nextSeq,
      idempotencyKey: key,
      payload: text,
      createdAt: now,
      attempts: 0,
    });
  }

  insertResponse(topic: string, text: string): void {
    const bytes = sizeOf(text);
    const { nextId } = this.#state;
    const now = this.#now();
    this.#sql.insertResponse.run(nextId, topic, now, bytes, text);
    this.change({ nextId: 1, rows: 1, bytes });
    this.#added(looseRow('response', nextId, topic, text, now));
  }

  insertTelemetry(topic: string, compactKey: string | null, text: string): void {
    const bytes = sizeOf(text);
    const { nextId } = this.#state;
    const now = this.#now();
    this.#sql.insertTelemetry.run(nextId, topic, compactKey, now, bytes, text);
    this.change({ nextId: 1, nextTelemetrySeq: 1, rows: 1, telemetryRows: 1, bytes });
    this.#added(looseRow('telemetry', nextId, topic, text, now));
  }

  removeTelemetry(row: Pick<LooseRow, 'id' | 'bytes'>): void {
    this.spoil('telemetry');
    this.#sql.deleteTelemetry.run(row.id);
    this.change({ rows: -1, telemetryRows: -1, bytes: -row.bytes });
  }

  removeResponse(row: Pick<LooseRow, 'id' | 'bytes'>): void {
    this.spoil('response');
    this.#sql.deleteResponse.run(row.id);
    this.change({ rows: -1, bytes: -row.bytes });
  }

  /** Rows of one lane, as they come from memory or the database; of all lanes, always from the database. */
  peek(window: Window, limit: number, lane: OutboxLane | undefined): OutboxRow[] {
    if (lane === undefined) return this.stored.rows(window, limit);
    const atHand = this.#atHand[lane];
    const taken = atHand.take(window.afterId, limit);
    if (taken !== null) return taken;
    const rows = this.stored.rowsOf(lane, window, limit);
    atHand.given(window.afterId, rows, rows.length < limit);
    return rows;
  }

  /** Rows of this lane change or go in the running transaction: nothing kept of it can be relied on. */
  spoil(lane: OutboxLane): void {
    this.#atHand[lane].spoil();
  }

  committed(): void {
    this.dirty = false;
    for (const rows of Object.values(this.#atHand)) rows.committed();
  }

  change(delta: Partial<OutboxState>): void {
    this.dirty = true;
    add(this.#state, delta, 1);
    this.#store.onUndo(() => add(this.#state, delta, -1));
  }

  #added(row: OutboxRow): void {
    this.appended = true;
    const atHand = this.#atHand[row.lane];
    atHand.add(row);
    this.#store.onUndo(() => atHand.dropNewest());
  }
}

function add(state: OutboxState, delta: Partial<OutboxState>, sign: 1 | -1): void {
  for (const name of Object.keys(delta) as (keyof OutboxState)[]) state[name] += sign * (delta[name] ?? 0);
}

function looseRow(
  lane: 'response' | 'telemetry',
  id: number,
  topic: string,
  payload: string,
  createdAt: number,
): OutboxRow {
  return { id, lane, topic, seq: null, idempotencyKey: null, payload, createdAt, attempts: 0 };
}

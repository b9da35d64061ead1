/** The durable outbox: rows written in the transaction of what they tell, gone only after PUBACK. */

import type { Clock } from '../../config/contracts/clock.js';
import type { Ids } from '../../config/contracts/ids.js';
import { Acknowledgements } from './acknowledgements.js';
import { DeadLetters } from './dead-letters.js';
import { OutboxLanes, sizeOf } from './outbox-lanes.js';
import {
  DEFAULT_OUTBOX_LIMITS,
  hasRoom,
  isFull,
  type OutboxLimits,
  telemetryToDrop,
} from './outbox-limits.js';
import {
  type LooseRow,
  loadOutboxState,
  type OrderedRow,
  type OutboxState,
  prepareOutbox,
  tombstoneOf,
} from './outbox-rows.js';
import type {
  DeadLetter,
  LaneStamp,
  OutboxFlow,
  OutboxLane,
  OutboxReader,
  OutboxRow,
  OutboxStats,
  OutboxWriter,
} from './outbox-types.js';
import type { Store } from './store.js';
import { StoreError } from './store-error.js';
import type { StoredRows } from './stored-rows.js';

export interface OutboxDeps {
  store: Store;
  clock: Clock;
  ids: Ids;
  deviceId: string;
  bootId: string;
  limits?: Partial<OutboxLimits>;
}

/** History is cut in pieces, so that no single commit pays for all of it. */
const TRIM_ROWS = 2_000;
const TRIM_SLACK = 256;

export class Outbox implements OutboxWriter, OutboxReader {
  readonly #deps: OutboxDeps;
  readonly #store: Store;
  readonly #limits: OutboxLimits;
  readonly #sql;
  readonly #stored: StoredRows;
  readonly #dead: DeadLetters;
  readonly #state: OutboxState;
  readonly #acks: Acknowledgements;
  readonly #lanes: OutboxLanes;
  readonly #listeners = new Set<() => void>();
  #flow: (() => OutboxFlow) | null = null;
  #compacted = 0;
  /** Rows behind these are of the running transaction. */
  #committedId: number;
  #committedSeq: number;
  #ackedId: number;
  /** Rows up to here are cut from the history. */
  #trimmedSeq: number;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
    this.#store = deps.store;
    this.#limits = { ...DEFAULT_OUTBOX_LIMITS, ...deps.limits };
    const { db } = deps.store;
    this.#sql = prepareOutbox(db);
    this.#state = loadOutboxState(db);
    this.#lanes = new OutboxLanes(this.#sql, this.#state, deps.store, () => this.#now());
    this.#stored = this.#lanes.stored;
    this.#acks = new Acknowledgements(this.#sql, this.#state, (id) => this.#lookUp(id));
    this.#committedId = this.#state.nextId - 1;
    this.#committedSeq = this.#state.nextSeq - 1;
    this.#ackedId = this.#stored.idOf(this.#state.ackedSeq);
    this.#trimmedSeq = Math.max(0, this.#state.ackedSeq - this.#limits.historyRows);
    this.#dead = new DeadLetters(this.#sql, {
      now: () => deps.clock.now(),
      change: (delta) => this.#lanes.change(delta),
      append: (letter) => this.#appendAgain(letter),
      isWaiting: (seq) => this.#acks.isUnsent(seq) && !this.#acks.isHanded(this.#stored.idOf(seq)),
    });
    deps.store.participate({
      beforeCommit: () => this.#beforeCommit(),
      committed: () => this.#committed(),
    });
  }

  appendOrdered(
    topic: string,
    key: string | null,
    build: (stamp: LaneStamp & { idempotency_key: string }) => object,
    options: { droppable?: boolean } = {},
  ): void {
    this.#store.join(() => {
      if (options.droppable === true && isFull(this.#state, this.#limits)) {
        this.#lanes.change({ droppedOrdered: 1 });
        return;
      }
      const event_id = this.#deps.ids.ulid();
      const idempotency_key = key ?? event_id;
      const seq = this.#state.nextSeq;
      this.#lanes.insertOrdered(
        topic,
        idempotency_key,
        build({ ...this.#stamp(event_id), seq, idempotency_key }),
      );
    });
  }

  appendResponse(topic: string, payload: object): void {
    this.#store.join(() => this.#lanes.insertResponse(topic, JSON.stringify(payload)));
  }

  appendTelemetry(
    topic: string,
    compactKey: string | null,
    build: (stamp: Omit<LaneStamp, 'seq'> & { telemetry_seq: number; idempotency_key: string }) => object,
  ): void {
    this.#store.join(() => {
      const replaced = compactKey === null ? undefined : this.#sql.telemetryByKey.get(compactKey);
      if (replaced !== undefined) {
        this.#lanes.removeTelemetry(replaced);
        this.#compacted++;
      }
      const drop = telemetryToDrop(this.#state, this.#limits);
      if (drop > 0) for (const row of this.#sql.oldestTelemetry.all(drop)) this.#dropTelemetry(row);
      if (isFull(this.#state, this.#limits)) {
        this.#lanes.change({ droppedTelemetry: 1 });
        return;
      }
      const event_id = this.#deps.ids.ulid();
      const telemetry_seq = this.#state.nextTelemetrySeq;
      const payload = build({ ...this.#stamp(event_id), telemetry_seq, idempotency_key: event_id });
      this.#lanes.insertTelemetry(topic, compactKey, JSON.stringify(payload));
    });
  }

  hasRoom(): boolean {
    return hasRoom(this.#state, this.#limits);
  }

  peek(afterId: number, limit: number, lane?: OutboxLane): OutboxRow[] {
    const { ackedSeq } = this.#state;
    const window = { afterId, ackedId: this.#ackedId, ackedSeq, upTo: this.#committedId };
    const rows = this.#lanes.peek(window, limit, lane);
    this.#acks.handed(rows, sizeOf);
    return rows;
  }

  acknowledged(id: number): void {
    this.#acks.add(id);
    try {
      this.#store.touch();
    } catch (error) {
      // It is kept, and taken with the next commit that succeeds.
      if (!(error instanceof StoreError)) throw error;
    }
  }

  countAttempt(id: number): number {
    const found = this.#stored.find(id);
    if (found === null) return 0;
    this.#lanes.spoil(found.lane);
    return this.#store.join(() => {
      const { attemptOrdered, attemptResponse, attemptTelemetry } = this.#sql;
      const count = { ordered: attemptOrdered, response: attemptResponse, telemetry: attemptTelemetry };
      count[found.lane].run(id);
      return this.#stored.find(id)?.row.attempts ?? 0;
    });
  }

  deadLetter(id: number, reason: string): void {
    const found = this.#stored.find(id);
    if (found === null) return;
    this.#lanes.spoil(found.lane);
    this.#store.join(() => {
      if (found.lane === 'ordered') this.#deadLetterOrdered(found.row, reason);
      else this.#deadLetterLoose(found.row, found.lane, reason);
    });
  }

  expired(id: number): void {
    const found = this.#stored.find(id);
    if (found?.lane === 'telemetry') this.#store.join(() => this.#dropTelemetry(found.row));
  }

  reportFlow(flow: () => OutboxFlow): void {
    this.#flow = flow;
  }

  onAppended(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  stats(): OutboxStats {
    const s = this.#state;
    const ordered = s.nextSeq - 1 - s.ackedSeq - this.#acks.ahead;
    return {
      depth: s.rows,
      bytes: s.bytes,
      oldestAgeMs: s.rows === 0 ? null : this.#ageOf(this.#stored.oldestAt(s.ackedSeq)),
      deadLetters: s.deadRows,
      publishedTotal: s.published,
      droppedTelemetryTotal: s.droppedTelemetry,
      nextSeq: s.nextSeq,
      storeEpoch: this.#store.epoch,
      lanes: { ordered, response: s.rows - ordered - s.telemetryRows, telemetry: s.telemetryRows },
      accepting: this.hasRoom(),
      flow: this.#flow?.() ?? null,
    };
  }

  deadLetters(limit: number, after = 0): DeadLetter[] {
    return this.#dead.list(limit, after);
  }

  requeue(id: number): boolean {
    this.#lanes.spoil('ordered');
    return this.#store.join(() => this.#dead.requeue(id));
  }

  drop(id: number): boolean {
    return this.#store.join(() => this.#dead.drop(id));
  }

  /** Committed events of the ordered lane with a greater `seq`, oldest first, sent or not. */
  recentEvents(since: number, limit: number): { seq: number; topic: string; payload: object }[] {
    const rows = this.#sql.recent.all(since, this.#committedSeq, limit);
    return rows.map((row) => ({ seq: row.seq, topic: row.topic, payload: JSON.parse(row.payload) }));
  }

  counters(): Record<string, number> {
    const s = this.#state;
    return {
      depth: s.rows,
      bytes: s.bytes,
      dead_letters: s.deadRows,
      published_total: s.published,
      dropped_telemetry_total: s.droppedTelemetry,
      dropped_ordered_total: s.droppedOrdered,
      compacted_telemetry_total: this.#compacted,
    };
  }

  #stamp(event_id: string): Omit<LaneStamp, 'seq'> {
    const { deviceId, bootId } = this.#deps;
    return { event_id, store_epoch: this.#store.epoch, device_id: deviceId, boot_id: bootId };
  }

  #dropTelemetry(row: LooseRow): void {
    this.#lanes.removeTelemetry(row);
    this.#lanes.change({ droppedTelemetry: 1 });
  }

  /** A letter taken out of the dead ones goes to the end of its lane, under its old key and a new `seq`. */
  #appendAgain(letter: { lane: string; topic: string; key: string | null; payload: string }): void {
    if (letter.lane === 'response') {
      this.#lanes.insertResponse(letter.topic, letter.payload);
    } else if (letter.lane === 'telemetry') {
      this.#lanes.insertTelemetry(letter.topic, null, letter.payload);
    } else {
      const payload: Record<string, unknown> = JSON.parse(letter.payload);
      const key = letter.key ?? String(payload.idempotency_key);
      this.#lanes.insertOrdered(letter.topic, key, { ...payload, seq: this.#state.nextSeq });
    }
  }

  #deadLetterOrdered(row: OrderedRow, reason: string): void {
    if (!this.#acks.isUnsent(row.seq)) return;
    // A broker that refuses even the tombstone leaves the consumer with a gap; the rows behind it still go on.
    if (row.tombstone === 1) {
      this.acknowledged(row.id);
      return;
    }
    this.#dead.bury({ ...row, lane: 'ordered', reason });
    const text = JSON.stringify(tombstoneOf(row, reason));
    const bytes = sizeOf(text);
    this.#sql.replaceOrdered.run(text, bytes, 1, row.seq);
    this.#lanes.change({ bytes: bytes - row.bytes });
    this.#acks.replaced(row.id);
    this.#lanes.appended = true;
  }

  #deadLetterLoose(row: LooseRow, lane: 'response' | 'telemetry', reason: string): void {
    this.#dead.bury({ ...row, lane, seq: null, key: null, reason });
    if (lane === 'telemetry') {
      this.#lanes.removeTelemetry(row);
    } else {
      this.#lanes.removeResponse(row);
    }
  }

  #beforeCommit(): void {
    if (this.#acks.any) this.#takeAcks();
    this.#trimHistory();
    if (this.#lanes.dirty) this.#sql.saveState.run(this.#state);
  }

  #committed(): void {
    this.#lanes.committed();
    this.#acks.committed();
    if (this.#state.nextId - 1 !== this.#committedId) this.#store.lastRow?.write(this.#state.nextId - 1);
    this.#committedId = this.#state.nextId - 1;
    this.#committedSeq = this.#state.nextSeq - 1;
    if (!this.#lanes.appended) return;
    this.#lanes.appended = false;
    for (const listener of this.#listeners) listener();
  }

  /** All acknowledgements of a turn: usually one number moves, and nothing else is written. */
  #takeAcks(): void {
    const ackedId = this.#ackedId;
    const undo = this.#acks.take();
    this.#store.onUndo(() => {
      undo();
      this.#ackedId = ackedId;
    });
    this.#lanes.dirty = true;
    this.#ackedId = this.#stored.idOf(this.#state.ackedSeq);
  }

  #lookUp(id: number) {
    const found = this.#stored.find(id);
    if (found === null) return null;
    return { lane: found.lane, seq: found.lane === 'ordered' ? found.row.seq : null, bytes: found.row.bytes };
  }

  #trimHistory(): void {
    const upTo = this.#state.ackedSeq - this.#limits.historyRows;
    if (upTo < this.#trimmedSeq + TRIM_SLACK) return;
    const removed = this.#sql.trimHistory.run(upTo, TRIM_ROWS).changes;
    const before = this.#trimmedSeq;
    this.#trimmedSeq = removed < TRIM_ROWS ? upTo : before;
    this.#store.onUndo(() => {
      this.#trimmedSeq = before;
    });
  }

  #ageOf(at: number | null): number | null {
    return at === null ? null : Math.max(0, this.#now() - at);
  }

  #now(): number {
    return Math.round(this.#deps.clock.now());
  }
}

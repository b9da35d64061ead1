/** The durable outbox between whoever has something to tell and the session that publishes it. */

/** `ordered`: events with `seq`. `response`: answers to commands. `telemetry`: may be compacted or dropped. */
export type OutboxLane = 'ordered' | 'response' | 'telemetry';

export interface OutboxRow {
  /** Position in the outbox; rows are published in this order within their lane. */
  id: number;
  lane: OutboxLane;
  /** `events/task`, `events/observation`, `command/response`, …: below the device's root. */
  topic: string;
  /** Present on the ordered lane. */
  seq: number | null;
  idempotencyKey: string | null;
  payload: string;
  createdAt: number;
  attempts: number;
}

/** What every ordered row carries; given to the caller so that it can build the payload around it. */
export interface LaneStamp {
  event_id: string;
  seq: number;
  store_epoch: string;
  device_id: string;
  boot_id: string;
}

export interface OutboxWriter {
  /** Appends to the ordered lane inside the running store transaction. `key` null: the event id is the key. */
  appendOrdered(
    topic: string,
    key: string | null,
    build: (stamp: LaneStamp & { idempotency_key: string }) => object,
    /** `droppable`: may be missed when the outbox is full to the brim; it then takes no `seq` and is counted. */
    options?: { droppable?: boolean },
  ): void;
  appendResponse(topic: string, payload: object): void;
  /** `compactKey`: a newer row with the same key replaces an unsent older one. */
  appendTelemetry(
    topic: string,
    compactKey: string | null,
    build: (stamp: Omit<LaneStamp, 'seq'> & { telemetry_seq: number; idempotency_key: string }) => object,
  ): void;
  /** False while terminal events could no longer be kept: new work is then refused with TASK_MANAGER_BUSY. */
  hasRoom(): boolean;
}

export interface OutboxStats {
  depth: number;
  bytes: number;
  oldestAgeMs: number | null;
  deadLetters: number;
  publishedTotal: number;
  droppedTelemetryTotal: number;
  nextSeq: number;
  storeEpoch: string;
  /** Of `depth`, per lane. */
  lanes: Record<OutboxLane, number>;
  /** False while new work is refused, so that the end of accepted work still fits. */
  accepting: boolean;
  /** How the publishing goes; null while nobody publishes. */
  flow: OutboxFlow | null;
}

/** What the publisher says of itself. Rates are rows per second over the last seconds. */
export interface OutboxFlow {
  /** Sent and not acknowledged yet. */
  inFlight: number;
  publishPerS: number;
  ackPerS: number;
}

export interface DeadLetter {
  id: number;
  topic: string;
  seq: number | null;
  reason: string;
  attempts: number;
  at: number;
  payload: string;
}

export interface OutboxReader {
  /**
   * The next unsent rows after `afterId`, committed ones only, oldest first: of one lane, or of all in the order of
   * their ids.
   */
  peek(afterId: number, limit: number, lane?: OutboxLane): OutboxRow[];
  /** PUBACK arrived: the row leaves. Cheap to call for many rows in one tick. */
  acknowledged(id: number): void;
  /** A try failed for a reason of this row's own (not of the connection). Returns the number of tries. */
  countAttempt(id: number): number;
  /**
   * Moves the row to the dead letters; an ordered row leaves a tombstone under the same `seq` and the same id, so
   * that `peek(id - 1, 1)` gives the tombstone after the commit (`onAppended` is called).
   */
  deadLetter(id: number, reason: string): void;
  /** Telemetry that came too late to be of use: it leaves unsent, and is counted as dropped. */
  expired(id: number): void;
  /** The publisher says where to ask how it goes; shown in `stats`. */
  reportFlow(flow: () => OutboxFlow): void;
  /** Called (once per commit) after rows were committed. */
  onAppended(listener: () => void): () => void;
  stats(): OutboxStats;
  /** Oldest first, those behind `after`. */
  deadLetters(limit: number, after?: number): DeadLetter[];
  requeue(id: number): boolean;
  drop(id: number): boolean;
}

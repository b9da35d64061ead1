/** The outbox's statements, and the counters that stand in one row and are written once per commit. */
import type Database from 'better-sqlite3';
import type { OutboxRow } from './outbox-types.js';

export interface OutboxState {
  nextId: number;
  nextSeq: number;
  nextTelemetrySeq: number;
  /** Every ordered row up to this `seq` was acknowledged. */
  ackedSeq: number;
  /** Unsent rows of all lanes, and their bytes. */
  rows: number;
  bytes: number;
  telemetryRows: number;
  deadRows: number;
  deadBytes: number;
  published: number;
  droppedTelemetry: number;
  droppedOrdered: number;
}

export interface OrderedRow {
  seq: number;
  id: number;
  topic: string;
  key: string;
  created_at: number;
  attempts: number;
  bytes: number;
  acked: number;
  tombstone: number;
  payload: string;
}

export interface LooseRow {
  id: number;
  topic: string;
  created_at: number;
  attempts: number;
  bytes: number;
  payload: string;
}

export interface DeadRow {
  id: number;
  lane: string;
  topic: string;
  seq: number | null;
  key: string | null;
  reason: string;
  attempts: number;
  at: number;
  bytes: number;
  payload: string;
}

interface StateRow {
  next_id: number;
  next_seq: number;
  next_telemetry_seq: number;
  acked_seq: number;
  rows: number;
  bytes: number;
  telemetry_rows: number;
  dead_rows: number;
  dead_bytes: number;
  published: number;
  dropped_telemetry: number;
  dropped_ordered: number;
}

export function loadOutboxState(db: Database.Database): OutboxState {
  const row = db.prepare<[], StateRow>('SELECT * FROM outbox_state WHERE one = 1').get();
  if (row === undefined) throw new Error('the outbox has no state row');
  return {
    nextId: row.next_id,
    nextSeq: row.next_seq,
    nextTelemetrySeq: row.next_telemetry_seq,
    ackedSeq: row.acked_seq,
    rows: row.rows,
    bytes: row.bytes,
    telemetryRows: row.telemetry_rows,
    deadRows: row.dead_rows,
    deadBytes: row.dead_bytes,
    published: row.published,
    droppedTelemetry: row.dropped_telemetry,
    droppedOrdered: row.dropped_ordered,
  };
}

/** Every statement of the outbox, prepared once. */
export function prepareOutbox(db: Database.Database) {
  const ordered = 'INSERT INTO outbox_ordered VALUES (?, ?, ?, ?, ?, 0, ?, 0, 0, ?)';
  return {
    saveState: db.prepare<OutboxState>(
      `UPDATE outbox_state SET next_id = @nextId, next_seq = @nextSeq, next_telemetry_seq = @nextTelemetrySeq,
       acked_seq = @ackedSeq, rows = @rows, bytes = @bytes, telemetry_rows = @telemetryRows,
       dead_rows = @deadRows, dead_bytes = @deadBytes, published = @published,
       dropped_telemetry = @droppedTelemetry, dropped_ordered = @droppedOrdered`,
    ),
    /** seq, id, topic, key, created_at, bytes, payload */
    insertOrdered: db.prepare<[number, number, string, string, number, number, string]>(ordered),
    /** id, topic, created_at, bytes, payload */
    insertResponse: db.prepare<[number, string, number, number, string]>(
      'INSERT INTO outbox_responses VALUES (?, ?, ?, 0, ?, ?)',
    ),
    /** id, topic, compact_key, created_at, bytes, payload */
    insertTelemetry: db.prepare<[number, string, string | null, number, number, string]>(
      'INSERT INTO outbox_telemetry VALUES (?, ?, ?, ?, 0, ?, ?)',
    ),
    /** after id, last committed id, acked seq, limit */
    peekOrdered: db.prepare<[number, number, number, number], OrderedRow>(
      `SELECT * FROM outbox_ordered WHERE id > ? AND id <= ? AND seq > ? AND acked = 0 ORDER BY id LIMIT ?`,
    ),
    peekResponses: db.prepare<[number, number, number], LooseRow>(
      'SELECT * FROM outbox_responses WHERE id > ? AND id <= ? ORDER BY id LIMIT ?',
    ),
    peekTelemetry: db.prepare<[number, number, number], LooseRow>(
      'SELECT * FROM outbox_telemetry WHERE id > ? AND id <= ? ORDER BY id LIMIT ?',
    ),
    idBySeq: db.prepare<[number], number>('SELECT id FROM outbox_ordered WHERE seq = ?').pluck(),
    orderedById: db.prepare<[number], OrderedRow>('SELECT * FROM outbox_ordered WHERE id = ?'),
    responseById: db.prepare<[number], LooseRow>('SELECT * FROM outbox_responses WHERE id = ?'),
    telemetryById: db.prepare<[number], LooseRow>('SELECT * FROM outbox_telemetry WHERE id = ?'),
    telemetryByKey: db.prepare<[string], LooseRow>('SELECT * FROM outbox_telemetry WHERE compact_key = ?'),
    oldestTelemetry: db.prepare<[number], LooseRow>('SELECT * FROM outbox_telemetry ORDER BY id LIMIT ?'),
    deleteResponse: db.prepare<[number]>('DELETE FROM outbox_responses WHERE id = ?'),
    deleteTelemetry: db.prepare<[number]>('DELETE FROM outbox_telemetry WHERE id = ?'),
    markAcked: db.prepare<[number]>('UPDATE outbox_ordered SET acked = 1 WHERE seq = ?'),
    /** One `seq` per row that was acknowledged before its predecessors. */
    ackedAhead: db
      .prepare<[number], number>('SELECT seq FROM outbox_ordered WHERE acked = 1 AND seq > ? ORDER BY seq')
      .pluck(),
    /** Up to this seq, at most so many. */
    trimHistory: db.prepare<[number, number]>(
      'DELETE FROM outbox_ordered WHERE seq IN (SELECT seq FROM outbox_ordered WHERE seq <= ? ORDER BY seq LIMIT ?)',
    ),
    attemptOrdered: db.prepare<[number]>('UPDATE outbox_ordered SET attempts = attempts + 1 WHERE id = ?'),
    attemptResponse: db.prepare<[number]>('UPDATE outbox_responses SET attempts = attempts + 1 WHERE id = ?'),
    attemptTelemetry: db.prepare<[number]>(
      'UPDATE outbox_telemetry SET attempts = attempts + 1 WHERE id = ?',
    ),
    bytesOf: db.prepare<[number], number>('SELECT bytes FROM outbox_ordered WHERE seq = ?').pluck(),
    /** payload, bytes, tombstone, seq */
    replaceOrdered: db.prepare<[string, number, number, number]>(
      'UPDATE outbox_ordered SET payload = ?, bytes = ?, tombstone = ?, attempts = 0 WHERE seq = ?',
    ),
    insertDead: db.prepare<
      [string, string, number | null, string | null, string, number, number, number, string]
    >(
      `INSERT INTO dead_letters (lane, topic, seq, key, reason, attempts, at, bytes, payload)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    /** after, limit */
    listDead: db.prepare<[number, number], DeadRow>(
      'SELECT * FROM dead_letters WHERE id > ? ORDER BY id LIMIT ?',
    ),
    deadById: db.prepare<[number], DeadRow>('SELECT * FROM dead_letters WHERE id = ?'),
    deleteDead: db.prepare<[number]>('DELETE FROM dead_letters WHERE id = ?'),
    /** acked seq */
    oldestOrdered: db
      .prepare<[number], number>(
        'SELECT created_at FROM outbox_ordered WHERE seq > ? AND acked = 0 ORDER BY seq LIMIT 1',
      )
      .pluck(),
    oldestResponse: db
      .prepare<[], number>('SELECT created_at FROM outbox_responses ORDER BY id LIMIT 1')
      .pluck(),
    oldestTelemetryAt: db
      .prepare<[], number>('SELECT created_at FROM outbox_telemetry ORDER BY id LIMIT 1')
      .pluck(),
    /** since, last committed seq, limit */
    recent: db.prepare<[number, number, number], OrderedRow>(
      'SELECT * FROM outbox_ordered WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?',
    ),
  };
}
export type OutboxSql = ReturnType<typeof prepareOutbox>;

/** What the consumer gets in place of a row that was refused for good. */
export function tombstoneOf(row: OrderedRow, reason: string): object {
  const original: Record<string, unknown> = JSON.parse(row.payload);
  return {
    contract_version: original.contract_version,
    event_id: original.event_id,
    seq: row.seq,
    store_epoch: original.store_epoch,
    device_id: original.device_id,
    boot_id: original.boot_id,
    idempotency_key: row.key,
    event: 'DEAD_LETTERED',
    reason,
  };
}

export function shownOrdered(row: OrderedRow): OutboxRow {
  return {
    id: row.id,
    lane: 'ordered',
    topic: row.topic,
    seq: row.seq,
    idempotencyKey: row.key,
    payload: row.payload,
    createdAt: row.created_at,
    attempts: row.attempts,
  };
}

export function shownLoose(row: LooseRow, lane: 'response' | 'telemetry'): OutboxRow {
  return {
    id: row.id,
    lane,
    topic: row.topic,
    seq: null,
    idempotencyKey: null,
    payload: row.payload,
    createdAt: row.created_at,
    attempts: row.attempts,
  };
}

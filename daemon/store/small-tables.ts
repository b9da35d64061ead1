/** The small tables: machine snapshots, settings, and the memory of answered commands. */
import { z } from 'zod';
import type { Log } from '../../config/contracts/log.js';
import type { CommandResponse } from '../../config/contracts/wire/command.js';
import { commandResponseSchema } from '../../config/contracts/wire/command.js';
import type { PersistedSnapshot, SnapshotStorage } from '../../state-machines/types.js';
import type { CommandMemory, RememberedCommand } from '../intake/types.js';
import type { Store } from './store.js';

const snapshotSchema = z.object({ value: z.unknown(), context: z.unknown(), savedAt: z.number() });

/** What each machine was doing, so that a restart knows. */
export class Snapshots implements SnapshotStorage {
  readonly #store: Store;
  readonly #log: Log;
  readonly #sql;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
    this.#sql = {
      load: store.db.prepare('SELECT json FROM snapshots WHERE key = ?').pluck(),
      save: store.db.prepare('INSERT OR REPLACE INTO snapshots (key, saved_at, json) VALUES (?, ?, ?)'),
    };
  }

  /** Null when there is none, or when what is there cannot be read. */
  loadSnapshot(key: string): PersistedSnapshot | null {
    const json = this.#sql.load.get(key);
    if (typeof json !== 'string') return null;
    const parsed = snapshotSchema.safeParse(JSON.parse(json));
    if (parsed.success) return parsed.data;
    this.#log.warn({ key }, 'a stored snapshot has no known shape: its machine starts afresh');
    return null;
  }

  /** Joins the caller's transaction. */
  saveSnapshot(key: string, snapshot: PersistedSnapshot): void {
    this.#store.join(() => this.#sql.save.run(key, snapshot.savedAt, JSON.stringify(snapshot)));
  }
}

/** Named JSON values that are not worth a table. */
export class Settings {
  readonly #store: Store;
  readonly #sql;

  constructor(store: Store) {
    this.#store = store;
    this.#sql = {
      get: store.db.prepare('SELECT json FROM settings WHERE key = ?').pluck(),
      set: store.db.prepare('INSERT OR REPLACE INTO settings (key, json) VALUES (?, ?)'),
      delete: store.db.prepare('DELETE FROM settings WHERE key = ?'),
    };
  }

  /** `fallback` when nothing is stored, or something that `schema` does not accept. */
  get<T>(key: string, schema: z.ZodType<T>, fallback: T): T {
    const json = this.#sql.get.get(key);
    if (typeof json !== 'string') return fallback;
    const parsed = schema.safeParse(JSON.parse(json));
    return parsed.success ? parsed.data : fallback;
  }

  set(key: string, value: unknown): void {
    this.#store.join(() => this.#sql.set.run(key, JSON.stringify(value ?? null)));
  }

  delete(key: string): void {
    this.#store.join(() => this.#sql.delete.run(key));
  }
}

interface CommandRow {
  command_id: string;
  digest: string;
  response: string;
  keep_until: number;
}

/** At two commands per second for a whole day there is still room. */
const MAX_COMMANDS = 200_000;
const PRUNE_PER_CALL = 100;
/** Looking for what may be forgotten costs a query; once in so many milliseconds of wall time is enough. */
const PRUNE_EVERY_MS = 10_000;

/** Answered `command_id`s, each with its answer, until it may be forgotten. */
export class CommandTable implements CommandMemory {
  readonly #store: Store;
  readonly #sql;
  #count: number;
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(store: Store) {
    this.#store = store;
    const { db } = store;
    this.#sql = {
      find: db.prepare<[string], CommandRow>('SELECT * FROM commands WHERE command_id = ?'),
      insert: db.prepare(
        'INSERT INTO commands (command_id, digest, response, keep_until) VALUES (?, ?, ?, ?)',
      ),
      prune: db.prepare(
        'DELETE FROM commands WHERE command_id IN (SELECT command_id FROM commands WHERE keep_until < ? LIMIT ?)',
      ),
    };
    this.#count = Number(db.prepare('SELECT count(*) FROM commands').pluck().get());
  }

  find(commandId: string): RememberedCommand | null {
    const row = this.#sql.find.get(commandId);
    if (row === undefined) return null;
    const response: CommandResponse = commandResponseSchema.parse(JSON.parse(row.response));
    return { commandId: row.command_id, digest: row.digest, response, keepUntil: row.keep_until };
  }

  /** Joins the caller's transaction; an id that is remembered already is a defect and throws. */
  remember(command: RememberedCommand): void {
    this.#store.join(() => {
      const { commandId, digest, response, keepUntil } = command;
      this.#sql.insert.run(commandId, digest, JSON.stringify(response), Math.ceil(keepUntil));
      this.#add(1);
    });
  }

  /** `wallMs`: wall time, epoch ms. */
  prune(wallMs: number): void {
    if (Math.abs(wallMs - this.#prunedAt) < PRUNE_EVERY_MS && this.hasRoom()) return;
    this.#prunedAt = wallMs;
    this.#store.join(() => this.#add(-this.#sql.prune.run(Math.floor(wallMs), PRUNE_PER_CALL).changes));
  }

  hasRoom(): boolean {
    return this.#count < MAX_COMMANDS;
  }

  #add(change: number): void {
    this.#count += change;
    this.#store.onUndo(() => {
      this.#count -= change;
    });
  }
}

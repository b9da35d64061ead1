/** The small tables: machine snapshots and settings. */
import { z } from 'zod';
import type { Log } from '../../config/contracts/log.js';
import type { PersistedSnapshot, SnapshotStorage } from '../../state-machines/types.js';
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

/** Named JSON values that are not worth a table: what the household set, and the two ends of the audit log. */
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

/** Timers that survive a restart: rows that come back as events. */
import type { Clock } from '../../config/contracts/clock.js';
import { errorText } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import type { Store } from './store.js';
import { StoreError } from './store-error.js';

export interface TimerRow {
  kind: string;
  key: string;
  /** Robot time, epoch ms. */
  dueAt: number;
  /**
   * `duration`: so long from when it was set, whatever happens to the clock; `calendar`: at that time of the
   * robot's clock, also when the clock is set.
   */
  basis: 'duration' | 'calendar';
  /** Plain JSON. */
  payload: unknown;
}

export interface TimersDeps {
  store: Store;
  clock: Clock;
  log: Log;
}

/** Called inside a store transaction in which the row is already gone; a throw brings the row back. */
export type TimerHandler = (row: TimerRow) => void;

const RETRY_MS = 1_000;
/** A handler that keeps failing is a defect; its timer is given up after so many tries, loudly. */
const MAX_TRIES = 5;
/** How often the robot's clock is compared with its timers at least, ms: a clock can be set while we wait. */
const LOOK_MS = 30_000;
/** A difference between the two clocks beyond this counts as a jump, ms. */
const JUMP_MS = 500;
const MAX_TIMERS = 20_000;

interface Entry {
  row: TimerRow;
  /** When it is due on the clock that never jumps, ms. Decides for `duration`. */
  monoDue: number;
  /** Not tried again before, on the same clock: its last try failed, or could not be stored. */
  notBefore: number;
  failures: number;
}

export class Timers {
  readonly #deps: TimersDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #handlers = new Map<string, TimerHandler>();
  readonly #counters = { fired: 0, handler_failures: 0, given_up: 0, clock_jumps: 0 };
  readonly #sql;
  #offset: number;
  #disarm: (() => void) | null = null;
  /** When the next look is due, `mono` ms. */
  #nextLook = Number.POSITIVE_INFINITY;
  #running = false;

  constructor(deps: TimersDeps) {
    this.#deps = deps;
    const { db } = deps.store;
    this.#sql = {
      set: db.prepare(
        'INSERT OR REPLACE INTO timers (kind, key, due_at, basis, payload) VALUES (?, ?, ?, ?, ?)',
      ),
      delete: db.prepare('DELETE FROM timers WHERE kind = ? AND key = ?'),
      move: db.prepare('UPDATE timers SET due_at = ? WHERE kind = ? AND key = ?'),
    };
    this.#offset = deps.clock.now() - deps.clock.mono();
    for (const row of this.#load()) this.#entries.set(entryKey(row.kind, row.key), this.#entry(row));
  }

  /** Sets a timer, or moves the one of the same kind and key. Joins the caller's transaction. */
  set(
    kind: string,
    key: string,
    dueAt: number,
    payload: unknown,
    basis: TimerRow['basis'] = 'duration',
  ): void {
    if (!Number.isFinite(dueAt)) throw new RangeError(`timer ${kind}/${key}: due at ${dueAt}`);
    const row: TimerRow = { kind, key, dueAt: Math.round(dueAt), basis, payload };
    const id = entryKey(kind, key);
    if (!this.#entries.has(id) && this.#entries.size >= MAX_TIMERS) {
      throw new Error(`over ${MAX_TIMERS} timers are set`);
    }
    this.#deps.store.join(() => {
      this.#sql.set.run(kind, key, row.dueAt, basis, JSON.stringify(payload ?? null));
      this.#put(id, this.#entry(row));
    });
  }

  /** True when there was one. Joins the caller's transaction. */
  cancel(kind: string, key: string): boolean {
    const id = entryKey(kind, key);
    if (!this.#entries.has(id)) return false;
    this.#deps.store.join(() => {
      this.#sql.delete.run(kind, key);
      this.#put(id, null);
    });
    return true;
  }

  get(kind: string, key: string): TimerRow | null {
    return this.#entries.get(entryKey(kind, key))?.row ?? null;
  }

  list(kind: string): TimerRow[] {
    return [...this.#entries.values()].map((entry) => entry.row).filter((row) => row.kind === kind);
  }

  /** Who gets the timers of a kind. Those without a handler wait. */
  on(kind: string, handler: TimerHandler): void {
    if (this.#handlers.has(kind)) throw new Error(`timers of kind ${kind} have a handler already`);
    this.#handlers.set(kind, handler);
    this.#arm();
  }

  /** Timers fire from now on; those that came due meanwhile fire at once, oldest first. */
  start(): void {
    this.#running = true;
    this.#arm();
  }

  stop(): void {
    this.#running = false;
    this.#disarm?.();
    this.#disarm = null;
    this.#nextLook = Number.POSITIVE_INFINITY;
  }

  counters(): Record<string, number> {
    return { ...this.#counters, set: this.#entries.size };
  }

  #load(): TimerRow[] {
    const rows = this.#deps.store.db.prepare('SELECT kind, key, due_at, basis, payload FROM timers').all();
    return (rows as { kind: string; key: string; due_at: number; basis: string; payload: string }[]).map(
      (r) => ({
        kind: r.kind,
        key: r.key,
        dueAt: r.due_at,
        basis: r.basis === 'calendar' ? 'calendar' : 'duration',
        payload: JSON.parse(r.payload),
      }),
    );
  }

  #entry(row: TimerRow): Entry {
    const { clock } = this.#deps;
    return { row, monoDue: clock.mono() + (row.dueAt - clock.now()), notBefore: 0, failures: 0 };
  }

  /** Changes memory along with the transaction. */
  #put(id: string, entry: Entry | null): void {
    const before = this.#entries.get(id) ?? null;
    this.#replace(id, entry);
    this.#deps.store.onUndo(() => {
      this.#replace(id, before);
    });
  }

  #replace(id: string, entry: Entry | null): void {
    if (entry === null) {
      this.#entries.delete(id);
      return;
    }
    this.#entries.set(id, entry);
    if (this.#running && this.#handlers.has(entry.row.kind)) this.#lookWithin(this.#remaining(entry));
  }

  /** Milliseconds until it is due; 0 or less: now. */
  #remaining(entry: Entry): number {
    const { clock } = this.#deps;
    const due = entry.row.basis === 'duration' ? entry.monoDue - clock.mono() : entry.row.dueAt - clock.now();
    return Math.max(due, entry.notBefore - clock.mono());
  }

  #arm(): void {
    if (!this.#running) return;
    for (const entry of this.#entries.values()) {
      if (this.#handlers.has(entry.row.kind)) this.#lookWithin(this.#remaining(entry));
    }
  }

  #lookWithin(ms: number): void {
    const { clock } = this.#deps;
    const wait = Math.min(Math.max(0, ms), LOOK_MS);
    if (clock.mono() + wait >= this.#nextLook) return;
    this.#disarm?.();
    this.#nextLook = clock.mono() + wait;
    this.#disarm = clock.after(wait, () => {
      this.#nextLook = Number.POSITIVE_INFINITY;
      this.#look();
    });
  }

  #look(): void {
    this.#noticeJump();
    const due = [...this.#entries.values()]
      .filter((entry) => this.#handlers.has(entry.row.kind) && this.#remaining(entry) <= 0)
      .sort((a, b) => a.row.dueAt - b.row.dueAt);
    for (const entry of due) this.#fire(entry);
    this.#arm();
  }

  #fire(entry: Entry): void {
    const { store, log, clock } = this.#deps;
    const { kind, key } = entry.row;
    const id = entryKey(kind, key);
    const handler = this.#handlers.get(kind);
    // An earlier one of this round may have cancelled or moved it.
    if (handler === undefined || this.#entries.get(id) !== entry) return;
    entry.notBefore = clock.mono() + RETRY_MS;
    try {
      store.write(() => {
        this.#sql.delete.run(kind, key);
        this.#put(id, null);
        if (entry.failures < MAX_TRIES) handler(entry.row);
      });
      if (entry.failures < MAX_TRIES) this.#counters.fired++;
      else this.#counters.given_up++;
    } catch (error) {
      if (error instanceof StoreError) return;
      entry.failures++;
      this.#counters.handler_failures++;
      log.error(
        { kind, key, failures: entry.failures, error: errorText(error) },
        entry.failures < MAX_TRIES ? 'a timer failed; it comes again in 1 s' : 'a timer is given up',
      );
    }
  }

  /** A clock that was set moves the calendar, not how long something lasts: durations keep their length. */
  #noticeJump(): void {
    const { clock, store, log } = this.#deps;
    const offset = clock.now() - clock.mono();
    const delta = offset - this.#offset;
    if (Math.abs(delta) < JUMP_MS) return;
    this.#offset = offset;
    this.#counters.clock_jumps++;
    log.warn({ deltaMs: Math.round(delta) }, 'the clock was set: durations go on, calendar times follow it');
    store.write(() => {
      for (const [id, entry] of this.#entries) {
        if (entry.row.basis !== 'duration') continue;
        const row = { ...entry.row, dueAt: Math.round(entry.row.dueAt + delta) };
        this.#sql.move.run(row.dueAt, row.kind, row.key);
        this.#put(id, { ...entry, row });
      }
    });
  }
}

function entryKey(kind: string, key: string): string {
  return `${kind}\u0000${key}`;
}

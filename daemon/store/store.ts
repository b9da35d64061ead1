/** The one SQLite database: opening it, and transactions that whole turns of the event loop share. */
import type Database from 'better-sqlite3';
import type { Clock } from '../../config/contracts/clock.js';
import { errorText } from '../../config/contracts/errors.js';
import type { Ids } from '../../config/contracts/ids.js';
import type { Log } from '../../config/contracts/log.js';
import { LastRowMark } from './last-row.js';
import {
  CLOSED_CLEANLY,
  CLOSED_SUSPECT,
  type MovedAside,
  type OpenedDatabase,
  openDatabase,
} from './open-database.js';
import { isSqliteError, StoreError, toStoreError } from './store-error.js';

/** Told around each commit, in the thread that commits; the event loop stands still in between. */
export type CommitPhase = 'begin' | 'end';

export interface StoreOptions {
  /** Path of the database file; its directory is made when it is missing. */
  file: string;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Called around each commit, so that the heartbeat thread knows why the event loop stands still. */
  onCommit?: (phase: CommitPhase) => void;
  /** Of the schema, where a test has others than the program. */
  migrations?: readonly string[];
}

/** Faults that tests and the simulator put into the next commits. */
export interface StoreFaults {
  /** Blocks the event loop this long in each commit, ms, as a worn SD card does. */
  commitDelayMs: number;
  /** Thrown instead of committing, as a full disk does; null: commits succeed. */
  commitError: Error | null;
}

/** A part that has something to do with every transaction. */
export interface Participant {
  /** Inside the transaction, right before the commit. May write and may call `onUndo`. */
  beforeCommit?(): void;
  committed?(): void;
  /** The commit failed; everything of the turn is undone. */
  failed?(error: StoreError): void;
}

/** What one turn of the event loop has written and not committed yet. */
interface Turn {
  undos: (() => void)[];
  after: (() => void)[];
  promise: { promise: Promise<void>; resolve: () => void; reject: (error: StoreError) => void } | null;
  /** Set when SQLite rolled the transaction back by itself: nothing of this turn can be kept. */
  dead: StoreError | null;
  immediate: NodeJS.Immediate;
}

const MAINTENANCE_MS = 60_000;
const TELL_FAILURE_MS = 60_000;
/** Free pages given back to the file system per maintenance, and how many may stay for reuse. */
const VACUUM_PAGES = 2_000;
const KEEP_FREE_PAGES = 2_000;

/**
 * `write` joins the transaction of the current event-loop turn, which is committed (and fsynced) once when the
 * turn ends. Memory that mirrors rows follows the transaction: whoever changes it inside a `write` registers the
 * way back with `onUndo`, which runs when that `write` throws or when the commit fails.
 */
export class Store {
  readonly db: Database.Database;
  /** Changes only when a database is begun anew; `seq` counts within it. */
  readonly epoch: string;
  /** Set when the previous database could not be used; this one is new, then. */
  readonly movedAside: MovedAside | null;
  /** Told of each row that was committed; null where its file cannot be had. */
  readonly lastRow: LastRowMark | null;
  readonly faults: StoreFaults = { commitDelayMs: 0, commitError: null };
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #onCommit: (phase: CommitPhase) => void;
  readonly #participants: Participant[] = [];
  readonly #statements: Record<'begin' | 'commit' | 'rollback' | 'savepoint' | 'release' | 'back', Run>;
  readonly #counters = {
    commits: 0,
    commit_failures: 0,
    rolled_back_writes: 0,
    after_commit_defects: 0,
    maintenance_failures: 0,
    moved_aside: 0,
  };
  readonly #stopMaintenance: () => void;
  #turn: Turn | null = null;
  #depth = 0;
  #corrupt = false;
  #closed = false;
  #failing: StoreError | null = null;
  #toldFailure: { code: StoreError['code']; mono: number } | null = null;
  #toldFailing = false;

  /**
   * Opens or makes the database. One that is corrupt, unreadable or of a newer version is moved aside, never
   * deleted, and a new one with a new epoch takes its place. Throws `StoreError` when no database can be had at
   * all: the disk is full, the directory read-only, or another process holds the file.
   */
  static open(options: StoreOptions): Store {
    return new Store(options, openDatabase(options));
  }

  private constructor(options: StoreOptions, opened: OpenedDatabase) {
    this.db = opened.db;
    this.epoch = opened.epoch;
    this.movedAside = opened.movedAside;
    if (opened.movedAside !== null) this.#counters.moved_aside = 1;
    this.#log = options.log;
    this.#clock = options.clock;
    this.lastRow = openLastRow(options, opened.epoch);
    this.#onCommit = options.onCommit ?? (() => undefined);
    this.#statements = {
      begin: this.db.prepare('BEGIN IMMEDIATE'),
      commit: this.db.prepare('COMMIT'),
      rollback: this.db.prepare('ROLLBACK'),
      savepoint: this.db.prepare('SAVEPOINT call'),
      release: this.db.prepare('RELEASE call'),
      back: this.db.prepare('ROLLBACK TO call'),
    };
    this.#stopMaintenance = options.clock.every(MAINTENANCE_MS, () => this.#giveBackDiskSpace());
  }

  /** True while something is written that is not committed yet. */
  get pending(): boolean {
    return this.#turn !== null;
  }

  /** Why the last commit failed; null when it succeeded. */
  get failing(): StoreError | null {
    return this.#failing;
  }

  /** Adds a part to every transaction; order of adding is order of calling. */
  participate(participant: Participant): void {
    this.#participants.push(participant);
  }

  /**
   * Runs `fn` inside the turn's transaction. What it throws undoes this call alone, and is thrown on; errors of
   * SQLite come as `StoreError`. `fn` must be synchronous.
   */
  write<T>(fn: () => T): T {
    const turn = this.#begin();
    const undoMark = turn.undos.length;
    const afterMark = turn.after.length;
    this.#statements.savepoint.run();
    this.#depth++;
    try {
      const result = fn();
      if (turn.dead !== null) throw turn.dead;
      this.#statements.release.run();
      return result;
    } catch (error) {
      const shownError = isSqliteError(error) ? this.#sqliteFailed(error) : error;
      this.#undoCall(turn, undoMark, afterMark, shownError);
      throw shownError;
    } finally {
      this.#depth--;
    }
  }

  /** Like `write`, but inside a running `write` simply a part of it. */
  join<T>(fn: () => T): T {
    return this.#depth > 0 ? fn() : this.write(fn);
  }

  /** Makes sure that a commit ends this turn, so that `beforeCommit` of the participants runs. */
  touch(): void {
    this.#begin();
  }

  /** The way back of a change in memory made in the running `write`. */
  onUndo(fn: () => void): void {
    if (this.#turn === null || this.#depth === 0) throw new Error('onUndo: only inside a write');
    this.#turn.undos.push(fn);
  }

  /** Runs `fn` after the commit that covers everything written so far; never when that is undone. */
  afterCommit(fn: () => void): void {
    this.#begin().after.push(fn);
  }

  /**
   * Resolves after the commit that covers everything written so far; rejects with `StoreError` when that commit
   * failed and everything of the turn was undone.
   */
  committed(): Promise<void> {
    const turn = this.#turn;
    if (turn === null) return Promise.resolve();
    if (turn.promise === null) {
      let resolve = () => {};
      let reject = (_error: StoreError) => {};
      const promise = new Promise<void>((res, rej) => {
        resolve = res;
        reject = rej;
      });
      turn.promise = { promise, resolve, reject };
    }
    return turn.promise.promise;
  }

  counters(): Record<string, number> {
    return { ...this.#counters };
  }

  /**
   * Commits what is open, folds the log into the file and closes. `suspect`: the file is read through at the next
   * start, for whoever could not work with it.
   */
  close({ suspect = false }: { suspect?: boolean } = {}): void {
    if (this.#closed) return;
    this.#stopMaintenance();
    // A commit may lead to further writes (what waited for it); a bounded number of rounds lets them in.
    for (let round = 0; this.#turn !== null && round < 100; round++) this.#endTurn(this.#turn);
    this.#closed = true;
    this.#noteEnd(this.#corrupt || suspect ? CLOSED_SUSPECT : CLOSED_CLEANLY);
    this.db.close();
    this.lastRow?.close();
  }

  /** Where it cannot be noted, the next start finds a file that was not closed, and checks it. */
  #noteEnd(how: string): void {
    try {
      this.db.prepare("UPDATE meta SET value = ? WHERE key = 'closed_cleanly'").run(how);
    } catch (error) {
      this.#log.warn(
        { error: errorText(error) },
        'the end could not be noted: the next start checks the database',
      );
    }
  }

  #begin(): Turn {
    if (this.#closed) throw new StoreError('CLOSED', 'the database is closed');
    if (this.#turn !== null) {
      if (this.#turn.dead !== null) throw this.#turn.dead;
      return this.#turn;
    }
    try {
      this.#statements.begin.run();
    } catch (error) {
      throw this.#sqliteFailed(error);
    }
    const turn: Turn = {
      undos: [],
      after: [],
      promise: null,
      dead: null,
      immediate: setImmediate(() => this.#endTurn(turn)),
    };
    this.#turn = turn;
    return turn;
  }

  #undoCall(turn: Turn, undoMark: number, afterMark: number, error: unknown): void {
    this.#counters.rolled_back_writes++;
    runBack(turn.undos, undoMark);
    turn.after.length = Math.min(turn.after.length, afterMark);
    if (turn.dead !== null) return;
    if (this.db.inTransaction) {
      this.#statements.back.run();
      this.#statements.release.run();
      return;
    }
    // SQLite gave up the whole transaction (full disk, I/O error). A new, doomed one catches what code that
    // swallowed this error still writes.
    turn.dead = error instanceof StoreError ? error : toStoreError(error);
    runBack(turn.undos, 0);
    turn.after.length = 0;
    this.#statements.begin.run();
  }

  #endTurn(turn: Turn): void {
    clearImmediate(turn.immediate);
    if (this.#turn !== turn) return;
    const error = turn.dead ?? this.#tryCommit();
    this.#turn = null;
    if (error === null) this.#turnCommitted(turn);
    else this.#turnFailed(turn, error);
  }

  #turnCommitted(turn: Turn): void {
    this.#counters.commits++;
    this.#failing = null;
    if (this.#toldFailing) this.#log.info({}, 'commits succeed again');
    this.#toldFailing = false;
    for (const participant of this.#participants) this.#guarded(() => participant.committed?.());
    for (const fn of turn.after) this.#guarded(fn);
    turn.promise?.resolve();
  }

  #tryCommit(): StoreError | null {
    this.#depth++;
    this.#onCommit('begin');
    try {
      for (const participant of this.#participants) participant.beforeCommit?.();
      if (this.faults.commitDelayMs > 0) blockFor(this.faults.commitDelayMs);
      if (this.faults.commitError !== null) throw this.faults.commitError;
      this.#statements.commit.run();
      return null;
    } catch (error) {
      return this.#sqliteFailed(error);
    } finally {
      this.#onCommit('end');
      this.#depth--;
    }
  }

  #turnFailed(turn: Turn, error: StoreError): void {
    this.#counters.commit_failures++;
    if (this.db.inTransaction) this.#statements.rollback.run();
    runBack(turn.undos, 0);
    this.#tellFailure(error);
    for (const participant of this.#participants) this.#guarded(() => participant.failed?.(error));
    turn.promise?.reject(error);
  }

  /** The first of a row of failures, and one a minute after that: a full disk must not fill with this. */
  #tellFailure(error: StoreError): void {
    const mono = this.#clock.mono();
    this.#failing = error;
    if (this.#toldFailure?.code === error.code && mono - this.#toldFailure.mono < TELL_FAILURE_MS) return;
    this.#toldFailure = { code: error.code, mono };
    this.#toldFailing = true;
    this.#log.error(
      { code: error.code, error: error.message },
      'a commit failed: everything of this turn is undone and those who wrote it are told',
    );
  }

  #sqliteFailed(error: unknown): StoreError {
    const storeError = toStoreError(error);
    if (storeError.code === 'CORRUPT' && !this.#corrupt) {
      this.#corrupt = true;
      this.#log.error(
        { error: storeError.message },
        'the database is damaged: it will be checked, and moved aside if need be, at the next start',
      );
    }
    return storeError;
  }

  #guarded(fn: () => void): void {
    try {
      fn();
    } catch (error) {
      this.#counters.after_commit_defects++;
      this.#log.error(
        { error: errorText(error) },
        'something that waited for a commit failed; the rest goes on',
      );
    }
  }

  #giveBackDiskSpace(): void {
    if (this.#turn !== null || this.#closed) return;
    this.#onCommit('begin');
    try {
      const free = Number(this.db.pragma('freelist_count', { simple: true }));
      if (free <= KEEP_FREE_PAGES) return;
      this.db.pragma(`incremental_vacuum(${VACUUM_PAGES})`);
      // The file itself shrinks when the log is folded into it; an idle robot would not come to that for days.
      this.db.pragma('wal_checkpoint(TRUNCATE)');
    } catch (error) {
      this.#counters.maintenance_failures++;
      this.#sqliteFailed(error);
    } finally {
      this.#onCommit('end');
    }
  }
}

function openLastRow({ file, log }: StoreOptions, epoch: string): LastRowMark | null {
  try {
    return new LastRowMark(file, epoch);
  } catch (error) {
    log.warn({ error: errorText(error) }, 'a database that loses its log would not be noticed');
    return null;
  }
}

interface Run {
  run(): unknown;
}

function runBack(undos: (() => void)[], mark: number): void {
  for (let i = undos.length - 1; i >= mark; i--) undos[i]?.();
  undos.length = Math.min(undos.length, mark);
}

/** Stands still without giving the event loop a turn. */
function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Opens the database file, checks it, moves an unusable one aside and brings the schema up to date. */
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import type { Clock } from '../../config/contracts/clock.js';
import { errorCode, errorText } from '../../config/contracts/errors.js';
import type { Ids } from '../../config/contracts/ids.js';
import type { Log } from '../../config/contracts/log.js';
import { readLastRow } from './last-row.js';
import { APPLICATION_ID, MIGRATIONS } from './schema.js';
import { StoreError, toStoreError } from './store-error.js';

/** What became of a database that could not be used. */
export interface MovedAside {
  /** Where it lies now; its `-wal` lies beside it. */
  path: string;
  reason: string;
}

export interface OpenedDatabase {
  db: Database.Database;
  epoch: string;
  movedAside: MovedAside | null;
}

interface OpenOptions {
  file: string;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Of the schema, where a test has others than the program. */
  migrations?: readonly string[];
}

/** The file cannot be used; it has to make room for a new one. */
class Unusable extends Error {
  /** Still open: closing folds the log into the file and deletes it, which must wait until both are aside. */
  db: Database.Database | null = null;
}

/** What `meta.closed_cleanly` says: in use, or not closed at all; closed; closed, and to be checked. */
const IN_USE = '0';
export const CLOSED_CLEANLY = '1';
export const CLOSED_SUSPECT = '2';

/** How long to wait for a dying predecessor to let go of the file, ms. */
const LOCK_WAIT_MS = 2_000;
const WAL_LIMIT_BYTES = 16 * 1024 * 1024;
const CHECKPOINT_PAGES = 4_000;

export function openDatabase(options: OpenOptions): OpenedDatabase {
  prepareDirectory(options.file);
  let movedAside: MovedAside | null = null;
  let db: Database.Database;
  try {
    db = openChecked(options);
  } catch (error) {
    if (!(error instanceof Unusable)) throw asStoreError(error, options.file);
    movedAside = moveAside(options, error.message);
    error.db?.close();
    db = openFresh(options);
  }
  return { db, epoch: epochOf(db, options.ids), movedAside };
}

function prepareDirectory(file: string): void {
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    // Made here and not by SQLite, so that nobody but the owner can ever read it.
    fs.closeSync(fs.openSync(file, 'a', 0o600));
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'EACCES' && code !== 'EISDIR' && code !== 'EPERM') throw asStoreError(error, file);
  }
}

function openFresh(options: OpenOptions): Database.Database {
  try {
    prepareDirectory(options.file);
    return openChecked(options);
  } catch (error) {
    throw asStoreError(error, options.file);
  }
}

function openChecked({ file, migrations = MIGRATIONS }: OpenOptions): Database.Database {
  let db: Database.Database | null = null;
  try {
    const logged = sizeOf(`${file}-wal`);
    // SQLite would take it for new and delete the log, with everything in it.
    if (logged > 0 && sizeOf(file) === 0) throw new Unusable('it is empty, and its log is not');
    db = new Database(file, { timeout: LOCK_WAIT_MS });
    configure(db, migrations);
    requireNothingLost(db, file);
    migrate(db, migrations);
    return db;
  } catch (error) {
    const reason = error instanceof Unusable ? error.message : unusableReason(error);
    if (reason === null) {
      db?.close();
      throw error;
    }
    const unusable = new Unusable(reason);
    unusable.db = db;
    throw unusable;
  }
}

function sizeOf(file: string): number {
  return fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function configure(db: Database.Database, migrations: readonly string[]): void {
  // One owner: a second daemon on the same state directory must not get in.
  db.pragma('locking_mode = EXCLUSIVE');
  const application = Number(db.pragma('application_id', { simple: true }));
  const version = Number(db.pragma('user_version', { simple: true }));
  if (application !== 0 && application !== APPLICATION_ID)
    throw new Unusable('it belongs to another program');
  if (version > migrations.length) {
    throw new Unusable(`it has schema version ${version}, and this program knows up to ${migrations.length}`);
  }
  // Only a new file takes this; it lets the file shrink again later.
  if (version === 0) db.pragma('auto_vacuum = INCREMENTAL');
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.pragma('temp_store = MEMORY');
  db.pragma('cache_size = -8000');
  // Folding the log into the file less often writes the same busy pages less often: flash wears, and fsync waits.
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`);
  if (version > 0) checkIntegrity(db);
}

/** After a clean end the file is as it was left; after a crash or a power cut it is read through once. */
function checkIntegrity(db: Database.Database): void {
  const closed = String(db.prepare("SELECT value FROM meta WHERE key = 'closed_cleanly'").pluck().get());
  if (closed === CLOSED_CLEANLY) return;
  const result = db.pragma('quick_check(1)', { simple: true });
  if (result !== 'ok') throw new Unusable(`its integrity check says: ${String(result)}`);
}

/** Without its log, or put back from a copy, it would give numbers twice and begin again what has ended. */
function requireNothingLost(db: Database.Database, file: string): void {
  const last = readLastRow(file);
  if (last === null || Number(db.pragma('user_version', { simple: true })) === 0) return;
  const epoch = db.prepare("SELECT value FROM meta WHERE key = 'store_epoch'").pluck().get();
  const next = Number(db.prepare('SELECT next_id FROM outbox_state').pluck().get());
  if (epoch === last.epoch && last.id >= next) {
    throw new Unusable(
      `what was stored last is missing (row ${next} of ${last.id}): its log is gone, or it is a copy from earlier`,
    );
  }
}

/** Each step and its number are one transaction: killed half-way, the next start begins that step again. */
function migrate(db: Database.Database, migrations: readonly string[]): void {
  const from = Number(db.pragma('user_version', { simple: true }));
  for (let version = from; version < migrations.length; version++) {
    db.transaction(() => {
      db.exec(migrations[version] ?? '');
      db.pragma(`user_version = ${version + 1}`);
      db.pragma(`application_id = ${APPLICATION_ID}`);
    }).immediate();
  }
  db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('closed_cleanly', ?)").run(IN_USE);
}

function unusableReason(error: unknown): string | null {
  const code = errorCode(error) ?? '';
  const message = errorText(error);
  if (code === 'SQLITE_NOTADB') return 'it is not a database';
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_IOERR_CORRUPTFS')
    return `it is damaged: ${message}`;
  if (code === 'SQLITE_IOERR_READ' || code === 'SQLITE_IOERR_SHORT_READ')
    return `it cannot be read: ${message}`;
  // A missing table or column in a file that calls itself current.
  if (code === 'SQLITE_ERROR') return `its schema is not what its version says: ${message}`;
  if (code.startsWith('SQLITE_CANTOPEN')) return `it cannot be opened: ${message}`;
  return null;
}

function moveAside(options: OpenOptions, reason: string): MovedAside {
  const target = freeName(options.file, options.clock.wall());
  try {
    fs.renameSync(options.file, target);
    for (const suffix of ['-wal', '-shm']) {
      if (fs.existsSync(options.file + suffix)) fs.renameSync(options.file + suffix, target + suffix);
    }
  } catch (error) {
    const message = errorText(error);
    throw new StoreError(
      'IO',
      `the database ${options.file} cannot be used (${reason}) and cannot be moved aside: ${message}`,
    );
  }
  options.log.error(
    { file: options.file, movedTo: target, reason },
    'the database cannot be used: it was moved aside and is kept; a new one begins, without the old tasks',
  );
  return { path: target, reason };
}

function freeName(file: string, wallMs: number): string {
  const stamp = new Date(wallMs).toISOString().replace(/[-:]|\.\d+/g, '');
  const base = `${file}.unusable-${stamp}`;
  let name = base;
  for (let n = 2; fs.existsSync(name); n++) name = `${base}-${n}`;
  return name;
}

function epochOf(db: Database.Database, ids: Ids): string {
  const known = db.prepare("SELECT value FROM meta WHERE key = 'store_epoch'").pluck().get();
  if (typeof known === 'string') return known;
  const epoch = ids.make('e');
  db.prepare("INSERT INTO meta (key, value) VALUES ('store_epoch', ?)").run(epoch);
  return epoch;
}

function asStoreError(error: unknown, file: string): StoreError {
  if (error instanceof StoreError) return error;
  const known = toStoreError(error);
  const hint = {
    FULL: 'the disk is full: free some space',
    LOCKED: 'another process holds it: is a second daemon running on this state directory?',
    READ_ONLY: 'the directory is read-only',
    IO: 'the disk reports errors',
    CORRUPT: 'a new database is damaged at once: the disk reports errors',
    CLOSED: 'it is closed',
    OTHER: 'check the path and its permissions',
  }[known.code];
  return new StoreError(known.code, `the database ${file} cannot be opened: ${known.message}; ${hint}`, {
    cause: error,
  });
}

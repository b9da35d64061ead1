import Database from 'better-sqlite3';
import { errorCode, errorText } from '../../config/contracts/errors.js';

export type StoreErrorCode =
  /** No space left on the device, or over a quota. */
  | 'FULL'
  /** Reading or writing failed below SQLite. */
  | 'IO'
  | 'CORRUPT'
  /** Another process holds the file. */
  | 'LOCKED'
  | 'READ_ONLY'
  | 'CLOSED'
  | 'OTHER';

/** A failure of the database as its users see it; `cause` is SQLite's own. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  constructor(
    readonly code: StoreErrorCode,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

export function isSqliteError(error: unknown): error is InstanceType<typeof Database.SqliteError> {
  return error instanceof Database.SqliteError;
}

export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const message = errorText(error);
  return new StoreError(storeErrorCode(errorCode(error) ?? ''), message, { cause: error });
}

/** Result codes: https://www.sqlite.org/rescode.html */
function storeErrorCode(sqlite: string): StoreErrorCode {
  if (sqlite === 'SQLITE_FULL' || sqlite === 'ENOSPC' || sqlite === 'EDQUOT') return 'FULL';
  if (
    sqlite.startsWith('SQLITE_CORRUPT') ||
    sqlite === 'SQLITE_NOTADB' ||
    sqlite === 'SQLITE_IOERR_CORRUPTFS'
  ) {
    return 'CORRUPT';
  }
  if (sqlite.startsWith('SQLITE_IOERR') || sqlite === 'EIO') return 'IO';
  if (sqlite.startsWith('SQLITE_BUSY') || sqlite.startsWith('SQLITE_LOCKED')) return 'LOCKED';
  if (sqlite.startsWith('SQLITE_READONLY') || sqlite === 'EROFS') return 'READ_ONLY';
  return 'OTHER';
}

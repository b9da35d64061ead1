/** Console sessions: a one-time code in the printed address becomes a cookie, once. */
import { createHash } from 'node:crypto';
import type { SessionFile } from './session-file.js';

const MAX_CODES = 16;
const MAX_SESSIONS = 32;

export interface SessionStoreOptions {
  now(): number;
  secret(bytes: number): string;
  codeTtlMs: number;
  sessionTtlMs: number;
  file: SessionFile;
}

/** Only digests are kept; looking one up in a map tells a guesser nothing about the secret behind it. */
export class SessionStore {
  readonly #codes = new Map<string, number>();
  readonly #sessions = new Map<string, number>();
  readonly #options: SessionStoreOptions;

  constructor(options: SessionStoreOptions) {
    this.#options = options;
  }

  /** Takes over the sessions of the daemon before this one; codes do not outlive it. */
  restore(): void {
    for (const [digest, expiresAtMs] of this.#options.file.load()) this.#sessions.set(digest, expiresAtMs);
  }

  newCode(): { code: string; expiresAtMs: number } {
    const code = this.#options.secret(24);
    const expiresAtMs = this.#options.now() + this.#options.codeTtlMs;
    this.#codes.set(digest(code), expiresAtMs);
    keepNewest(this.#codes, MAX_CODES);
    return { code, expiresAtMs };
  }

  /** The new session's secret, or null when the code is unknown, used or expired. */
  exchange(code: string): string | null {
    const key = digest(code);
    const expiresAtMs = this.#codes.get(key);
    this.#codes.delete(key);
    if (expiresAtMs === undefined || expiresAtMs <= this.#options.now()) return null;
    const session = this.#options.secret(32);
    this.#sessions.set(digest(session), this.#options.now() + this.#options.sessionTtlMs);
    keepNewest(this.#sessions, MAX_SESSIONS);
    this.#options.file.save([...this.#sessions]);
    return session;
  }

  valid(session: string): boolean {
    const key = digest(session);
    const expiresAtMs = this.#sessions.get(key);
    if (expiresAtMs === undefined) return false;
    if (expiresAtMs > this.#options.now()) return true;
    this.#sessions.delete(key);
    return false;
  }
}

function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('base64');
}

function keepNewest(entries: Map<string, number>, limit: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= limit) return;
    entries.delete(key);
  }
}

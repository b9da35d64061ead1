/**
 * What people decided and what was refused, as rows chained by hash: each carries the SHA-256 of the row before it, so
 * that one which was changed, removed or moved is found. The newest hash is kept apart from the rows, and so is the
 * hash that the oldest one kept builds on.
 */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { z } from 'zod';
import type { Clock } from '../../config/contracts/clock.js';
import { Settings } from '../store/small-tables.js';
import type { Store } from '../store/store.js';

export const AUDIT_KINDS = [
  'approval.requested',
  'approval.approved',
  'approval.denied',
  'approval.expired',
  'approval.voided',
  'approval.executed',
  'approval.undo_requested',
  'approval.undone',
  'settings.changed',
  'settings.reset',
  'estop.released',
  'policy.denied',
] as const;
export type AuditKind = (typeof AUDIT_KINDS)[number];

const entrySchema = z.object({
  n: z.int(),
  /** Robot time, epoch ms. */
  at: z.number(),
  kind: z.enum(AUDIT_KINDS),
  /** A channel and a credential, e.g. `LOCAL:unix-socket`; never a person's name. */
  by: z.string(),
  /** Ids, names of methods and settings, and values of settings; no parameters, no texts. */
  data: z.record(z.string(), z.unknown()),
});
export type AuditEntry = z.infer<typeof entrySchema>;

export interface AuditVerdict {
  ok: boolean;
  checked: number;
  /** The oldest row that is kept, and the newest; null: none. */
  first: number | null;
  last: number | null;
  /** Hash of the newest row: noted elsewhere, it proves later that nothing before it was rewritten. */
  head: string;
  /** The first thing that is wrong. */
  problem: { n: number; what: string } | null;
}

interface End {
  n: number;
  hash: string;
}

interface DbRow {
  n: number;
  entry: string;
  prev: string;
  hash: string;
}

const BEGINNING: End = { n: 0, hash: '0'.repeat(64) };
const endSchema = z.object({ n: z.int(), hash: z.string() });
/** Forgotten in pieces of this size. */
const TRIM = 256;

export class AuditLog {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #keep: number;
  readonly #ends: Settings;
  readonly #sql;

  constructor({ store, clock, keep = 10_000 }: { store: Store; clock: Clock; keep?: number }) {
    this.#store = store;
    this.#clock = clock;
    this.#keep = keep;
    this.#ends = new Settings(store);
    this.#sql = {
      insert: store.db.prepare('INSERT INTO audit (n, entry, prev, hash) VALUES (?, ?, ?, ?)'),
      newest: store.db.prepare<[number], DbRow>('SELECT * FROM audit ORDER BY n DESC LIMIT ?'),
      all: store.db.prepare<[], DbRow>('SELECT * FROM audit ORDER BY n'),
      upTo: store.db.prepare<[number], DbRow>('SELECT * FROM audit WHERE n <= ? ORDER BY n DESC LIMIT 1'),
      trim: store.db.prepare('DELETE FROM audit WHERE n <= ?'),
    };
  }

  /** Part of the caller's transaction. */
  append(kind: AuditKind, by: string, data: Record<string, unknown> = {}): void {
    this.#store.write(() => {
      const head = this.#head();
      const n = head.n + 1;
      const entry = canonicalize({ n, at: Math.round(this.#clock.now()), kind, by, data }) ?? '';
      const hash = hashOf(head.hash, entry);
      this.#sql.insert.run(n, entry, head.hash, hash);
      this.#ends.set('audit_head', { n, hash });
      this.#trim(n);
    });
  }

  /** Newest first. */
  list(limit: number): AuditEntry[] {
    return this.#sql.newest.all(limit).flatMap(({ entry }) => parsedEntry(entry) ?? []);
  }

  verify(): AuditVerdict {
    const anchor = this.#ends.get('audit_anchor', endSchema, BEGINNING);
    const head = this.#head();
    const rows = this.#sql.all.all();
    const problem = flaw(rows, anchor, head);
    return {
      ok: problem === null,
      checked: rows.length,
      first: rows[0]?.n ?? null,
      last: rows.at(-1)?.n ?? null,
      head: head.hash,
      problem,
    };
  }

  #head(): End {
    return this.#ends.get('audit_head', endSchema, BEGINNING);
  }

  #trim(n: number): void {
    const anchor = this.#ends.get('audit_anchor', endSchema, BEGINNING);
    if (n - anchor.n < this.#keep + TRIM) return;
    const last = this.#sql.upTo.get(n - this.#keep);
    if (last === undefined) return;
    this.#ends.set('audit_anchor', { n: last.n, hash: last.hash });
    this.#sql.trim.run(last.n);
  }
}

/** The first row that does not follow from the one before it, or what is missing at an end. */
function flaw(rows: readonly DbRow[], anchor: End, head: End): AuditVerdict['problem'] {
  let before = anchor;
  for (const row of rows) {
    const { n } = row;
    if (n !== before.n + 1) return { n: before.n + 1, what: 'this row is missing' };
    if (row.prev !== before.hash) return { n, what: 'this row does not follow from the one before it' };
    if (row.hash !== hashOf(row.prev, row.entry)) return { n, what: 'this row was changed' };
    if (parsedEntry(row.entry)?.n !== n) return { n, what: 'this row stands in the place of another' };
    before = { n, hash: row.hash };
  }
  if (before.n < head.n) return { n: before.n + 1, what: 'this row is missing' };
  if (before.n > head.n || before.hash !== head.hash) {
    return { n: before.n, what: 'the newest row is not the one that was written last' };
  }
  return null;
}

function hashOf(prev: string, entry: string): string {
  return createHash('sha256').update(`${prev}\n${entry}`).digest('hex');
}

function parsedEntry(text: string): AuditEntry | null {
  try {
    const parsed = entrySchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

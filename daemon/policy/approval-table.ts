/** Approvals as rows. What was asked never changes; what became of it does. */
import { z } from 'zod';
import type { Store } from '../store/store.js';

export const APPROVAL_STATUSES = ['pending', 'approved', 'executed', 'denied', 'expired', 'undone'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

const requestSchema = z.object({
  /** Who asks: `policy` for a task that a rule holds, `agent`, `filing`, …. */
  source: z.string(),
  risk: z.enum(['low', 'high']),
  /** What people are shown, and what `digest` is taken of. */
  shown: z.record(z.string(), z.unknown()),
  /** SHA-256 of the RFC 8785 form of `shown`, hex. */
  digest: z.string(),
  why: z.object({ ko: z.string(), en: z.string() }),
  undoable: z.boolean(),
});
export type ApprovalRequest = z.infer<typeof requestSchema>;

export interface ApprovalRow {
  n: number;
  id: string;
  /** Which part of the daemon carries it out: `task`. */
  kind: string;
  status: ApprovalStatus;
  /** What waits for it, e.g. a task id. */
  about: string;
  request: ApprovalRequest;
  /** Robot time, epoch ms. */
  requestedAt: number;
  expiresAt: number;
  decidedBy: string | null;
  decidedAt: number | null;
  undoId: string | null;
}

export type ApprovalChange = Partial<Pick<ApprovalRow, 'status' | 'decidedBy' | 'decidedAt' | 'undoId'>>;

interface DbRow {
  n: number;
  approval_id: string;
  kind: string;
  status: string;
  about: string;
  request: string;
  requested_at: number;
  expires_at: number;
  decided_by: string | null;
  decided_at: number | null;
  undo_id: string | null;
}

export class ApprovalTable {
  readonly #keep: number;
  readonly #sql;

  constructor({ db }: Store, keep: number) {
    this.#keep = keep;
    this.#sql = {
      insert: db.prepare(
        `INSERT INTO approvals (approval_id, kind, status, about, request, requested_at, expires_at)
         VALUES (?, ?, 'pending', ?, ?, ?, ?)`,
      ),
      update: db.prepare(
        'UPDATE approvals SET status = ?, decided_by = ?, decided_at = ?, undo_id = ? WHERE approval_id = ?',
      ),
      get: db.prepare<[string], DbRow>('SELECT * FROM approvals WHERE approval_id = ?'),
      about: db.prepare<[string], DbRow>('SELECT * FROM approvals WHERE about = ? ORDER BY n DESC LIMIT 1'),
      pending: db.prepare<[], number>("SELECT count(*) FROM approvals WHERE status = 'pending'").pluck(),
      newest: db.prepare<[number], DbRow>(
        "SELECT * FROM approvals ORDER BY status = 'pending' DESC, n DESC LIMIT ?",
      ),
      open: db.prepare<[number], DbRow>(
        "SELECT * FROM approvals WHERE status = 'pending' ORDER BY n DESC LIMIT ?",
      ),
      trim: db.prepare(
        `DELETE FROM approvals WHERE status NOT IN ('pending', 'approved')
         AND n <= (SELECT max(n) FROM approvals) - ?`,
      ),
    };
  }

  /** Inside a `write`, as is `update`. */
  insert(row: Pick<ApprovalRow, 'id' | 'kind' | 'about' | 'request' | 'requestedAt' | 'expiresAt'>): void {
    const { id, kind, about, request, requestedAt, expiresAt } = row;
    this.#sql.insert.run(id, kind, about, JSON.stringify(request), requestedAt, expiresAt);
    this.#sql.trim.run(this.#keep);
  }

  update(row: ApprovalRow, change: ApprovalChange): ApprovalRow {
    const next = { ...row, ...change };
    this.#sql.update.run(next.status, next.decidedBy, next.decidedAt, next.undoId, next.id);
    return next;
  }

  get(id: string): ApprovalRow | null {
    return fromDb(this.#sql.get.get(id));
  }

  /** The newest that something waited for. */
  about(what: string): ApprovalRow | null {
    return fromDb(this.#sql.about.get(what));
  }

  pendingCount(): number {
    return this.#sql.pending.get() ?? 0;
  }

  /** Waiting ones first, then the newest. */
  newest(limit: number, pendingOnly: boolean): ApprovalRow[] {
    const rows = pendingOnly ? this.#sql.open.all(limit) : this.#sql.newest.all(limit);
    return rows.flatMap((row) => fromDb(row) ?? []);
  }
}

function fromDb(row: DbRow | undefined): ApprovalRow | null {
  if (row === undefined) return null;
  return {
    n: row.n,
    id: row.approval_id,
    kind: row.kind,
    status: z.enum(APPROVAL_STATUSES).parse(row.status),
    about: row.about,
    request: requestSchema.parse(JSON.parse(row.request)),
    requestedAt: row.requested_at,
    expiresAt: row.expires_at,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at,
    undoId: row.undo_id,
  };
}

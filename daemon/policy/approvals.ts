/**
 * The desk where a person is asked. Whoever needs an approval (a held task, later an errand's step) is a *kind*: it says
 * what the card shows, and what happens when it is approved, refused or undone. The rest is the same for all.
 */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Clock } from '../../config/contracts/clock.js';
import { Refusal } from '../../config/contracts/errors.js';
import type { Ids } from '../../config/contracts/ids.js';
import type { Principal } from '../intake/types.js';
import type { OutboxWriter } from '../store/outbox-types.js';
import type { Store } from '../store/store.js';
import type { Timers } from '../store/timers.js';
import {
  type ApprovalChange,
  type ApprovalRequest,
  type ApprovalRow,
  ApprovalTable,
} from './approval-table.js';
import { type ApprovalView, type Card, viewApproval } from './approval-view.js';
import { approvalEvent } from './assistant-events.js';
import type { AuditKind, AuditLog } from './audit-log.js';
import { PEOPLE, type PolicyConfig } from './types.js';

/** Calls run inside the store's transaction. */
export interface ApprovalKind {
  card(approval: ApprovalRow, language: 'ko' | 'en'): Card;
  approved(approval: ApprovalRow): void;
  /** `message`: why, for whoever waits. */
  refused(approval: ApprovalRow, message: string): void;
  /** Begins to take back what was done; gives the id of what does so. Throws `Refusal`. */
  undo(approval: ApprovalRow, by: Principal): string;
}

export interface ApprovalsDeps {
  store: Store;
  timers: Timers;
  clock: Clock;
  ids: Ids;
  outbox: Pick<OutboxWriter, 'appendOrdered'>;
  audit: AuditLog;
  rules: PolicyConfig['approvals'];
  language(): 'ko' | 'en';
}

export type Verdict = 'approve' | 'deny' | 'undo';

type Noted = 'requested' | 'approved' | 'denied' | 'expired' | 'voided' | 'executed' | 'undone';

const TIMER = 'approval';

export class Approvals {
  readonly #d: ApprovalsDeps;
  readonly #table: ApprovalTable;
  readonly #kinds = new Map<string, ApprovalKind>();
  readonly #counters = {
    requested: 0,
    approved: 0,
    denied: 0,
    expired: 0,
    voided: 0,
    executed: 0,
    undone: 0,
  };

  constructor(deps: ApprovalsDeps) {
    this.#d = deps;
    this.#table = new ApprovalTable(deps.store, deps.rules.keep);
    deps.timers.on(TIMER, ({ key }) => this.#due(key));
  }

  addKind(name: string, kind: ApprovalKind): void {
    if (this.#kinds.has(name)) throw new Error(`there is an approval kind ${name} already`);
    this.#kinds.set(name, kind);
  }

  /** Asks. Throws `Refusal` TASK_MANAGER_BUSY when too many wait already. Inside a `write`, as are the next three. */
  request(kind: string, about: string, asked: Omit<ApprovalRequest, 'digest'>): ApprovalRow {
    const { rules, ids, clock, timers } = this.#d;
    if (this.#table.pendingCount() >= rules.max_pending) {
      throw new Refusal(
        'TASK_MANAGER_BUSY',
        `${rules.max_pending} approvals are waiting; decide on some first`,
      );
    }
    const id = ids.make('ap');
    const requestedAt = Math.round(clock.now());
    const expiresAt = requestedAt + rules.expires_after_ms;
    const request = { ...asked, digest: digestOf(asked.shown) };
    this.#table.insert({ id, kind, about, request, requestedAt, expiresAt });
    timers.set(TIMER, id, expiresAt, null);
    const row = this.#mustGet(id);
    this.#note('requested', row, asked.source);
    approvalEvent(this.#d, 'approval.enqueued', row);
    return row;
  }

  /** Nobody has to decide any more, or what would happen is not what was shown. */
  voided(row: ApprovalRow, why: string): void {
    if (row.status !== 'pending' && row.status !== 'approved') return;
    this.#close(row, { status: 'expired', decidedBy: `system:${why}` });
    this.#note('voided', row, `system:${why}`);
  }

  executed(row: ApprovalRow): void {
    if (row.status !== 'approved') return;
    const done = this.#table.update(row, { status: 'executed' });
    this.#note('executed', row, row.decidedBy ?? 'system');
    approvalEvent(this.#d, 'approval.executed', done);
  }

  /** What took it back is over. */
  undone(row: ApprovalRow, completed: boolean): void {
    if (!completed) {
      this.#table.update(row, { undoId: null });
      return;
    }
    this.#table.update(row, { status: 'undone' });
    this.#note('undone', row, row.decidedBy ?? 'system');
  }

  get(id: string): ApprovalRow | null {
    return this.#table.get(id);
  }

  about(what: string): ApprovalRow | null {
    return this.#table.about(what);
  }

  /**
   * A person's word. Throws `Refusal`: POLICY_DENIED for anybody else, NOT_FOUND, ILLEGAL_STATE when it is decided
   * already or cannot be undone.
   */
  decide(id: string, verdict: Verdict, by: Principal): ApprovalRow {
    if (!PEOPLE.has(by.source)) {
      throw new Refusal(
        'POLICY_DENIED',
        `source: found ${by.source}; approving, denying and undoing belong to a person in the home`,
      );
    }
    return this.#d.store.write(() => {
      const row = this.#mustGet(id);
      if (verdict === 'undo') return this.#undo(row, by);
      if (row.status === 'pending' && this.#d.clock.now() >= row.expiresAt) this.#expire(row);
      const { status } = this.#mustGet(id);
      if (status !== 'pending') {
        throw new Refusal('ILLEGAL_STATE', `approval ${id} is ${status}: it can no longer be decided`, 'id');
      }
      return verdict === 'approve' ? this.#approve(row, by) : this.#deny(row, by);
    });
  }

  list({ limit = 50, pendingOnly = false, language }: ListOptions = {}): ApprovalView[] {
    return this.#table.newest(limit, pendingOnly).map((row) => this.view(row, language));
  }

  view(row: ApprovalRow, language = this.#d.language()): ApprovalView {
    return viewApproval(row, this.#kind(row).card(row, language));
  }

  counters(): Record<string, number> {
    return { ...this.#counters, pending: this.#table.pendingCount() };
  }

  #approve(row: ApprovalRow, by: Principal): ApprovalRow {
    const approved = this.#close(row, { status: 'approved', decidedBy: nameOf(by) });
    this.#note('approved', row, nameOf(by));
    this.#kind(row).approved(approved);
    return this.#mustGet(row.id);
  }

  #deny(row: ApprovalRow, by: Principal): ApprovalRow {
    const denied = this.#close(row, { status: 'denied', decidedBy: nameOf(by) });
    this.#note('denied', row, nameOf(by));
    this.#kind(row).refused(denied, `approval ${row.id} was denied`);
    return denied;
  }

  #undo(row: ApprovalRow, by: Principal): ApprovalRow {
    if (row.status !== 'executed') {
      const what = `approval ${row.id} is ${row.status}: only what was carried out can be undone`;
      throw new Refusal('ILLEGAL_STATE', what, 'id');
    }
    if (!row.request.undoable) {
      const what = `approval ${row.id}: what it allowed cannot be undone, as its card said beforehand`;
      throw new Refusal('ILLEGAL_STATE', what, 'id');
    }
    if (row.undoId !== null) {
      throw new Refusal(
        'ILLEGAL_STATE',
        `approval ${row.id} is being undone already, by ${row.undoId}`,
        'id',
      );
    }
    const undoId = this.#kind(row).undo(row, by);
    this.#d.audit.append('approval.undo_requested', nameOf(by), { id: row.id, undo_id: undoId });
    // It may be over already: then its end has been noted, and stands.
    const now = this.#mustGet(row.id);
    return now.status === 'undone' ? now : this.#table.update(now, { undoId });
  }

  #due(id: string): void {
    const row = this.#table.get(id);
    if (row?.status === 'pending') this.#expire(row);
  }

  #expire(row: ApprovalRow): void {
    const expired = this.#close(row, { status: 'expired', decidedBy: 'system:expired' });
    this.#note('expired', row, 'system:expired');
    const minutes = Math.round((row.expiresAt - row.requestedAt) / 60_000);
    this.#kind(row).refused(expired, `nobody decided on approval ${row.id} within ${minutes} min`);
  }

  #close(row: ApprovalRow, change: ApprovalChange): ApprovalRow {
    this.#d.timers.cancel(TIMER, row.id);
    return this.#table.update(row, { decidedAt: Math.round(this.#d.clock.now()), ...change });
  }

  #note(what: Noted, row: ApprovalRow, by: string): void {
    this.#counters[what]++;
    const { method } = row.request.shown;
    const kind: AuditKind = `approval.${what}`;
    this.#d.audit.append(kind, by, {
      id: row.id,
      about: row.about,
      ...(typeof method === 'string' ? { method } : {}),
      digest: row.request.digest,
    });
  }

  #kind({ kind, id }: ApprovalRow): ApprovalKind {
    const found = this.#kinds.get(kind);
    if (found === undefined) throw new Error(`approval ${id} is of kind ${kind}, which nobody carries out`);
    return found;
  }

  #mustGet(id: string): ApprovalRow {
    const row = this.#table.get(id);
    if (row === null) throw new Refusal('NOT_FOUND', `there is no approval ${JSON.stringify(id)}`, 'id');
    return row;
  }
}

export interface ListOptions {
  limit?: number;
  pendingOnly?: boolean;
  /** Default: the language that is set. */
  language?: 'ko' | 'en';
}

/** What an approval is bound to. */
export function digestOf(shown: Record<string, unknown>): string {
  return createHash('sha256')
    .update(canonicalize(shown) ?? '')
    .digest('hex');
}

function nameOf({ source, name }: Principal): string {
  return `${source}:${name}`;
}

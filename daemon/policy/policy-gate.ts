/** Policy as the TaskManager meets it: rules and settings decide, and the desk asks a person where they say so. */
import type { MethodSpec } from '../../executors/method.js';
import type { Principal } from '../intake/types.js';
import type { Passage, TaskGate } from '../task-manager/gate.js';
import { failure } from '../task-manager/lifecycle.js';
import type { Outcome, TaskRequest, TaskRow } from '../task-manager/task.js';
import type { SubmitTask, TaskRecord } from '../task-manager/types.js';
import type { ApprovalRow } from './approval-table.js';
import { type Approvals, digestOf } from './approvals.js';
import {
  type Decision,
  decide,
  type PolicyRules,
  type PolicySettings,
  stopsRunning,
  taken,
} from './decide.js';
import type { DenialRecord } from './denials.js';
import { type ShownTask, taskCard } from './task-cards.js';
import { PEOPLE } from './types.js';

export interface PolicyGateDeps {
  rules: PolicyRules;
  settings(): PolicySettings;
  approvals: Approvals;
  denials: DenialRecord;
  /** Read once everything runs. */
  tasks(): {
    submit(request: SubmitTask): TaskRecord;
    letGo(taskId: string): void;
    turnAway(taskId: string, message: string): void;
  };
  /** What a capability card calls a method. */
  titleOf(method: string): { ko: string; en: string } | null;
}

const KIND = 'task';

export class PolicyGate implements TaskGate {
  readonly #d: PolicyGateDeps;

  constructor(deps: PolicyGateDeps) {
    this.#d = deps;
    deps.approvals.addKind(KIND, {
      card: (approval, language) => taskCard(approval, language, deps.titleOf),
      approved: ({ about }) => deps.tasks().letGo(about),
      refused: ({ about }, message) => deps.tasks().turnAway(about, message),
      undo: (approval, by) => this.#undo(approval, by),
    });
  }

  decide(request: TaskRequest, spec: MethodSpec): Decision {
    const decision = this.#decideNow(request, spec);
    if (decision.effect === 'deny')
      this.#d.denials.note(request.source, spec.name, decision.rule, decision.reason);
    // A person asked for just this, and the card had said what it would be.
    if (decision.effect === 'approve' && request.undoes != null && PEOPLE.has(request.source)) {
      return { effect: 'allow', rule: 'undo' };
    }
    return decision;
  }

  pass(row: TaskRow, spec: MethodSpec): Passage {
    const known = this.#d.approvals.about(row.taskId);
    if (known === null) return this.#ask(row, spec);
    const { id: approvalId, expiresAt, status } = known;
    if (status === 'pending') return { do: 'hold', approvalId, expiresAt, opened: false };
    const refused = this.#notAsShown(known, row, spec);
    return refused === null ? { do: 'go' } : { do: 'refuse', message: refused };
  }

  refusesStart(row: TaskRow, spec: MethodSpec): Outcome | null {
    const now = this.#decideNow(row.request, spec);
    if (now.effect === 'deny') return failure(now.reason, now.message);
    if (row.request.decision?.effect !== 'approve' || row.request.dryRun) return null;
    const approval = this.#d.approvals.about(row.taskId);
    const message =
      approval === null ? 'its approval is not known any more' : this.#notAsShown(approval, row, spec);
    return message === null ? null : failure('APPROVAL_DENIED', message);
  }

  stopsRunning(row: TaskRow, spec: MethodSpec): Outcome | null {
    const now = this.#decideNow(row.request, spec);
    return now.effect === 'deny' && stopsRunning(this.#d.rules, now)
      ? failure(now.reason, now.message)
      : null;
  }

  ended({ taskId, outcome, request }: TaskRow): void {
    const { approvals } = this.#d;
    const completed = outcome?.event === 'COMPLETED';
    const own = approvals.about(taskId);
    if (own?.status === 'pending') approvals.voided(own, 'cancelled');
    else if (own !== null && completed) approvals.executed(own);
    const undone = request.undoes == null ? null : approvals.get(request.undoes);
    if (undone !== null) approvals.undone(undone, completed);
  }

  approvalOf(taskId: string): string | null {
    return this.#d.approvals.about(taskId)?.id ?? null;
  }

  #decideNow({ source, origin = source }: TaskRequest, spec: MethodSpec): Decision {
    return decide(this.#d.rules, {
      source,
      origin,
      method: spec.name,
      risk: spec.risk,
      takes: taken(spec.resources),
      settings: this.#d.settings(),
    });
  }

  #ask(row: TaskRow, spec: MethodSpec): Passage {
    const { decision } = row.request;
    if (decision?.effect !== 'approve') return { do: 'go' };
    const shown = shownOf(row.request, spec);
    const asked = {
      source: 'policy',
      risk: decision.risk,
      shown,
      why: decision.why,
      undoable: shown.undo !== null,
    };
    const { id, expiresAt } = this.#d.approvals.request(KIND, row.taskId, asked);
    return { do: 'hold', approvalId: id, expiresAt, opened: true };
  }

  /** What was shown is what runs, or the approval is void. */
  #notAsShown(approval: ApprovalRow, row: TaskRow, spec: MethodSpec): string | null {
    const { id, status, request } = approval;
    if (status !== 'approved') return `approval ${id} is ${status}`;
    if (request.digest === digestOf(shownOf(row.request, spec))) return null;
    this.#d.approvals.voided(approval, 'digest');
    return `approval ${id} is void: what would run is not what was shown`;
  }

  #undo({ id, request }: ApprovalRow, by: Principal): string {
    const { undo } = request.shown as ShownTask;
    if (undo === null) throw new Error(`approval ${id} has nothing that undoes it`);
    const { taskId } = this.#d.tasks().submit({
      ...undo,
      task: {},
      source: by.source,
      undoes: id,
      legacy: false,
      correlationId: null,
    });
    return taskId;
  }
}

function shownOf(request: TaskRequest, { compensation }: MethodSpec): ShownTask {
  const { method, params, source, origin = source, workflowId, stepId, completionAreaId } = request;
  return {
    method,
    params,
    source,
    origin,
    workflow_id: workflowId,
    step_id: stepId,
    completion_area_id: completionAreaId,
    undo: compensation,
  };
}

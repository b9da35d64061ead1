/** Workflows as rows: the live ones also in memory, which follows the store's transactions. */
import type { Log } from '../../../config/contracts/log.js';
import type { Store } from '../../store/store.js';
import type { WorkflowState } from '../types.js';
import { newStep, type StepStatus, type Workflow, type WorkflowRequest, type WorkflowRow } from './types.js';

interface DbRow {
  n: number;
  workflow_id: string;
  state: string;
  revision: number;
  request: string;
  ending: string | null;
  created_at: number;
  ended_at: number | null;
}

export type WorkflowChange = Partial<Pick<WorkflowRow, 'ending' | 'endedAt'>>;

const TRIM_EVERY = 32;

export class WorkflowTable {
  readonly #store: Store;
  readonly #log: Log;
  readonly #keepEnded: number;
  readonly #sql;
  readonly #live = new Map<string, Workflow>();
  #nextN: number;
  #endedSinceTrim = 0;

  constructor(store: Store, log: Log, keepEnded: number) {
    this.#store = store;
    this.#log = log;
    this.#keepEnded = keepEnded;
    const { db } = store;
    this.#sql = {
      insert: db.prepare<[number, string, string, number, string, number]>(
        'INSERT INTO workflows (n, workflow_id, state, revision, request, created_at) VALUES (?, ?, ?, ?, ?, ?)',
      ),
      update: db.prepare<[string, string | null, number | null, number]>(
        'UPDATE workflows SET state = ?, ending = ?, ended_at = ? WHERE n = ?',
      ),
      amend: db.prepare<[number, string, number]>(
        'UPDATE workflows SET revision = ?, request = ? WHERE n = ?',
      ),
      dropStep: db.prepare<[number, string]>(
        'DELETE FROM workflow_steps WHERE workflow_n = ? AND step_id = ?',
      ),
      saveStep: db.prepare<[number, string, string]>(
        'INSERT OR REPLACE INTO workflow_steps (workflow_n, step_id, json) VALUES (?, ?, ?)',
      ),
      steps: db.prepare<[number], string>('SELECT json FROM workflow_steps WHERE workflow_n = ?').pluck(),
      get: db.prepare<[string], DbRow>('SELECT * FROM workflows WHERE workflow_id = ?'),
      live: db.prepare<[], DbRow>('SELECT * FROM workflows WHERE ended_at IS NULL ORDER BY n'),
      newest: db.prepare<[number], DbRow>('SELECT * FROM workflows ORDER BY n DESC LIMIT ?'),
      trim: db.prepare<[number, number]>(
        `DELETE FROM workflows WHERE n IN
         (SELECT n FROM workflows WHERE n < ? AND ended_at IS NOT NULL ORDER BY n LIMIT ?)`,
      ),
    };
    const last = db.prepare<[], number>('SELECT max(n) FROM workflows').pluck().get();
    this.#nextN = (last ?? 0) + 1;
    for (const row of this.#sql.live.all()) this.#live.set(row.workflow_id, this.#fromDb(row));
  }

  live(): Workflow[] {
    return [...this.#live.values()];
  }

  getLive(workflowId: string): Workflow | null {
    return this.#live.get(workflowId) ?? null;
  }

  get(workflowId: string): Workflow | null {
    const live = this.#live.get(workflowId);
    if (live !== undefined) return live;
    const row = this.#sql.get.get(workflowId);
    return row === undefined ? null : this.#fromDb(row);
  }

  newest(limit: number): Workflow[] {
    return this.#sql.newest.all(limit).map((row) => this.#live.get(row.workflow_id) ?? this.#fromDb(row));
  }

  /** Runs inside a `write`, as do the following. */
  insert(workflowId: string, request: WorkflowRequest, nowMs: number): Workflow {
    const row: WorkflowRow = {
      n: this.#nextN++,
      workflowId,
      state: 'RUNNING',
      revision: 1,
      request,
      ending: null,
      createdAt: nowMs,
      endedAt: null,
    };
    const steps = new Map(request.plans.map((plan) => [plan.stepId, newStep(plan.stepId)]));
    this.#sql.insert.run(row.n, workflowId, row.state, row.revision, JSON.stringify(request), nowMs);
    for (const step of steps.values()) this.#sql.saveStep.run(row.n, step.stepId, JSON.stringify(step));
    const workflow: Workflow = { row, steps };
    this.#put(workflowId, workflow);
    return workflow;
  }

  /** The one place where a workflow's state changes. */
  setState(workflowId: string, state: WorkflowState, change: WorkflowChange = {}): Workflow {
    const before = this.#mustBeLive(workflowId);
    const row: WorkflowRow = { ...before.row, ...change, state };
    this.#sql.update.run(state, row.ending === null ? null : JSON.stringify(row.ending), row.endedAt, row.n);
    const workflow = { row, steps: before.steps };
    this.#put(workflowId, row.endedAt === null ? workflow : null);
    this.#log.info({ workflowId, from: before.row.state, to: state }, 'workflow changed state');
    if (row.endedAt !== null) this.#trimSometimes();
    return workflow;
  }

  /** The one place where a step changes. */
  patchStep(workflowId: string, stepId: string, change: Partial<StepStatus>): StepStatus {
    const { row, steps } = this.#mustBeLive(workflowId);
    const before = steps.get(stepId);
    if (before === undefined) throw new Error(`workflow ${workflowId} has no step ${stepId}`);
    const step: StepStatus = { ...before, ...change };
    this.#sql.saveStep.run(row.n, stepId, JSON.stringify(step));
    this.#put(workflowId, { row, steps: new Map(steps).set(stepId, step) });
    if (step.state !== before.state) {
      this.#log.debug({ workflowId, stepId, from: before.state, to: step.state }, 'step changed state');
    }
    return step;
  }

  /** Another document: one revision more. `steps` are all of it, in its order. */
  amend(workflowId: string, request: WorkflowRequest, steps: ReadonlyMap<string, StepStatus>): Workflow {
    const before = this.#mustBeLive(workflowId);
    const row: WorkflowRow = { ...before.row, request, revision: before.row.revision + 1 };
    this.#sql.amend.run(row.revision, JSON.stringify(request), row.n);
    for (const stepId of before.steps.keys()) if (!steps.has(stepId)) this.#sql.dropStep.run(row.n, stepId);
    for (const [stepId, step] of steps) {
      if (step !== before.steps.get(stepId)) this.#sql.saveStep.run(row.n, stepId, JSON.stringify(step));
    }
    const workflow: Workflow = { row, steps };
    this.#put(workflowId, workflow);
    this.#log.info({ workflowId, revision: row.revision }, 'workflow was amended');
    return workflow;
  }

  #mustBeLive(workflowId: string): Workflow {
    const workflow = this.#live.get(workflowId);
    if (workflow === undefined) throw new Error(`workflow ${workflowId} is not live`);
    return workflow;
  }

  #put(workflowId: string, workflow: Workflow | null): void {
    const before = this.#live.get(workflowId) ?? null;
    this.#replace(workflowId, workflow);
    this.#store.onUndo(() => this.#replace(workflowId, before));
  }

  #replace(workflowId: string, workflow: Workflow | null): void {
    if (workflow === null) this.#live.delete(workflowId);
    else this.#live.set(workflowId, workflow);
  }

  #trimSometimes(): void {
    if (++this.#endedSinceTrim < TRIM_EVERY) return;
    this.#endedSinceTrim = 0;
    this.#sql.trim.run(this.#nextN - this.#keepEnded, 2 * TRIM_EVERY);
  }

  #fromDb(row: DbRow): Workflow {
    const request: WorkflowRequest = JSON.parse(row.request);
    const stored = new Map<string, StepStatus>();
    for (const json of this.#sql.steps.all(row.n)) {
      const step: StepStatus = JSON.parse(json);
      stored.set(step.stepId, step);
    }
    const inOrder = request.plans.map((plan) => stored.get(plan.stepId) ?? newStep(plan.stepId));
    return {
      row: {
        n: row.n,
        workflowId: row.workflow_id,
        state: row.state as WorkflowState,
        revision: row.revision,
        request,
        ending: row.ending === null ? null : JSON.parse(row.ending),
        createdAt: row.created_at,
        endedAt: row.ended_at,
      },
      steps: new Map(inOrder.map((step) => [step.stepId, step])),
    };
  }
}

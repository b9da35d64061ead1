/** PROGRESS of workflows: how far each has come, what runs and what is waited for. At most two a second each. */
import type { Clock } from '../../../config/contracts/clock.js';
import type { Store } from '../../store/store.js';
import { tolerateStore } from '../defects.js';
import type { TaskEvents } from '../task-events.js';
import type { WorkflowState } from '../types.js';
import { isOver } from './decide.js';
import { workflowSubject } from './records.js';
import type { Workflow } from './types.js';
import type { WorkflowTable } from './workflow-table.js';

const INTERVAL_MS = 500;
/** `domain_stage`. */
const PROGRESS_STAGE = 'workflow.progress';

interface ProgressDeps {
  store: Store;
  clock: Clock;
  events: TaskEvents;
  table: WorkflowTable;
}

/** On the wire, as `progress`. */
export interface WorkflowProgressData {
  state: WorkflowState;
  steps_done: number;
  steps_total: number;
  running: string[];
  waiting: { step_id: string; hold: string | null; waiting_for: string | null }[];
  /** Steps whose compensation is due or under way. */
  taking_back: string[];
}

export class WorkflowProgress {
  readonly #d: ProgressDeps;
  /** Workflows of which something is still to be told, with the way to call that off. */
  readonly #armed = new Map<string, () => void>();

  constructor(deps: ProgressDeps) {
    this.#d = deps;
  }

  /** Something changed: it is told a little later, together with what follows at once. */
  changed(workflowId: string): void {
    if (this.#armed.has(workflowId)) return;
    const calledOff = this.#d.clock.after(INTERVAL_MS, () => {
      this.#armed.delete(workflowId);
      this.#tell(workflowId);
    });
    this.#armed.set(workflowId, calledOff);
  }

  stop(): void {
    for (const callOff of this.#armed.values()) callOff();
    this.#armed.clear();
  }

  /** Of a workflow that ended meanwhile its terminal event has said it all. */
  #tell(workflowId: string): void {
    const workflow = this.#d.table.getLive(workflowId);
    if (workflow === null) return;
    tolerateStore(() =>
      this.#d.store.write(() =>
        this.#d.events.progress(workflowSubject(workflow), PROGRESS_STAGE, { ...progressOf(workflow) }),
      ),
    );
  }
}

export function progressOf({ row, steps }: Workflow): WorkflowProgressData {
  const all = [...steps.values()];
  return {
    state: row.state,
    steps_done: all.filter(isOver).length,
    steps_total: all.length,
    running: all.filter((s) => s.state === 'RUNNING').map((s) => s.stepId),
    waiting: all
      .filter((s) => s.state === 'WAITING')
      .map((s) => ({ step_id: s.stepId, hold: s.hold, waiting_for: s.waitingFor })),
    taking_back: all
      .filter((s) => s.compensation === 'due' || s.compensation === 'running')
      .map((s) => s.stepId),
  };
}

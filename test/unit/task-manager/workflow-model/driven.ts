/** The real engine on a real database, doing what the reference does, and looked at after everything that happens. */
import { expect } from 'vitest';
import { z } from 'zod';
import { isRefusal, TaskFailure } from '../../../../config/contracts/errors.js';
import { type WorkflowStep, workflowStepSchema } from '../../../../config/contracts/wire/workflow.js';
import {
  type Completion,
  defineMethod,
  type MethodSpec,
  StoppedWithProof,
} from '../../../../executors/method.js';
import { isTerminal, openTaskWorld, type TaskWorld } from '../task-world.js';
import { AMENDMENT_WAIT_MS, type Plan, Reference, type Step } from './reference.js';

type How = 'ok' | 'fail' | 'prove';

interface Live {
  taskId: string;
  boot: number;
  finish(how: How): void;
}

const ID = 'wf-1';
const IN_WORDS: Record<Step['state'], string> = {
  pending: 'PENDING',
  delay: 'WAITING',
  gate: 'WAITING',
  backoff: 'WAITING',
  queued: 'WAITING',
  amend: 'WAITING',
  running: 'RUNNING',
  completed: 'COMPLETED',
  skipped: 'SKIPPED',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
};

export class Driven {
  readonly model: Reference;
  #world: TaskWorld;
  #boot = 0;
  #revision = 1;
  readonly #context = { flag: true, gate: true };
  readonly #runs = new Set<Live>();
  /** Workflow ends that were told while something ran. */
  readonly #early: string[] = [];

  private constructor(plans: Plan[], budget: number, onCancel: 'COMPENSATE' | 'NONE') {
    this.#world = this.#listen(
      openTaskWorld({
        methods: this.#methods(),
        context: () => this.#context,
        taskLimits: { amendmentWaitMs: AMENDMENT_WAIT_MS },
      }),
    );
    const more = { replan_budget: { cloud_replans: budget }, on_cancel: onCancel };
    this.#world.submitWorkflow(plans.map(documentOf), more);
    this.model = new Reference(plans, budget, onCancel);
  }

  static async begin(plans: Plan[], budget: number, onCancel: 'COMPENSATE' | 'NONE'): Promise<Driven> {
    const driven = new Driven(plans, budget, onCancel);
    await driven.agree('submitted');
    return driven;
  }

  async outcome(pick: number, how: How): Promise<void> {
    const id = this.#picked(pick);
    if (id === null) return;
    const really = this.#allowed(id, how);
    this.#runOf(id).finish(really);
    this.model.outcome(id, really);
    await this.agree(`${id} ${really}`);
  }

  /** The power goes; what `pick` did last, if anything, was not stored any more. */
  async cut(pick: number | null): Promise<void> {
    await this.#world.store.committed();
    const lost = pick === null ? null : this.#picked(pick);
    if (lost !== null) this.#runOf(lost).finish(this.#allowed(lost, 'ok'));
    this.#boot += 1;
    for (const run of this.#runs) if (run.boot < this.#boot) this.#runs.delete(run);
    this.#world = this.#listen(await this.#world.powerCut({ methods: this.#methods() }));
    this.model.restart();
    await this.agree('power cut');
  }

  async pass(ms: number): Promise<void> {
    const target = this.model.now + ms;
    for (;;) {
      const due = this.model.nextDue();
      const next = due === null || due > target ? target : due;
      const passed = next - this.model.now;
      this.model.at(next);
      await this.#world.clock.advanceAsync(passed);
      await this.agree(`time ${next}`);
      if (next === target) return;
    }
  }

  async set(name: 'flag' | 'gate', value: boolean): Promise<void> {
    this.#context[name] = value;
    this.model[name] = value;
    this.#world.tasks.contextChanged();
    this.model.look();
    await this.agree(`${name} ${value}`);
  }

  async control(what: 'pause' | 'resume' | 'cancel'): Promise<void> {
    const { model } = this;
    const { tasks } = this.#world;
    const rests = model.ending !== null || model.ended !== null;
    const legal = !rests && (what === 'cancel' || model.paused === (what === 'resume'));
    const act = {
      pause: () => tasks.pauseWorkflow(ID),
      resume: () => tasks.resumeWorkflow(ID),
      cancel: () => tasks.cancelWorkflow(ID, 'USER'),
    }[what];
    if (legal) {
      act();
      model[what]();
    } else expect(refusedFor(act)).toBe('ILLEGAL_STATE');
    await this.agree(what);
  }

  async amend(change: { add?: Plan; replace?: Plan; remove?: string }): Promise<void> {
    const { model } = this;
    const { add, replace, remove } = change;
    const act = (base: number) =>
      this.#world.tasks.amendWorkflow(
        ID,
        {
          baseRevision: base,
          add: add === undefined ? [] : [documentOf(add)],
          replace: replace === undefined ? [] : [documentOf(replace)],
          remove: remove === undefined ? [] : [remove],
        },
        'CLOUD',
      );
    const changed = model.steps.find((s) => s.plan.id === (replace?.id ?? remove));
    const allowed = changed === undefined || model.mayChange(changed);
    if (model.ending !== null || model.ended !== null) {
      expect(refusedFor(() => act(this.#revision))).toBe('ILLEGAL_STATE');
    } else if (model.budget === 0) {
      expect(refusedFor(() => act(this.#revision))).toBe('REPLAN_BUDGET_EXHAUSTED');
    } else if (!allowed) {
      expect(refusedFor(() => act(this.#revision))).toBe('INVALID_PARAMS');
    } else {
      expect(refusedFor(() => act(this.#revision + 1))).toBe('ILLEGAL_STATE');
      this.#revision = act(this.#revision).revision;
      model.amend(change);
    }
    await this.agree('amend');
  }

  /** Lets everything go well from here on, and looks at the whole story. */
  async finish(): Promise<void> {
    await this.set('flag', true);
    await this.set('gate', true);
    if (this.model.paused && this.model.ending === null && this.model.ended === null) {
      await this.control('resume');
    }
    for (let turn = 0; this.model.ended === null; turn++) {
      if (turn > 200) throw new Error('it never ends');
      if (this.model.running().length > 0) await this.outcome(0, 'prove');
      else await this.pass((this.model.nextDue() ?? this.model.now) - this.model.now);
    }
    await this.pass(2 * AMENDMENT_WAIT_MS);
    this.#checkStory();
  }

  /** What is seen from outside is what the reference says. */
  async agree(after: string): Promise<void> {
    await this.#world.quiet();
    const { model } = this;
    const workflow = this.#world.tasks.getWorkflow(ID);
    const state = model.ended ?? (model.ending !== null ? 'CANCELLING' : model.paused ? 'PAUSED' : 'RUNNING');
    expect(
      {
        state: workflow?.state,
        revision: workflow?.revision,
        running: [...this.#runs].map((run) => this.#nameOf(run.taskId)).sort(),
        steps: Object.fromEntries((workflow?.steps ?? []).map((s) => [s.stepId, s.state])),
        started: this.#started(),
      },
      `after ${after}`,
    ).toEqual({
      state,
      revision: this.#revision,
      running: model.running(),
      steps: Object.fromEntries(model.steps.map((s) => [s.plan.id, IN_WORDS[s.state]])),
      started: model.started,
    });
  }

  #checkStory(): void {
    const events = this.#world.events();
    const keys = events.map((e) => e.idempotency_key);
    expect(new Set(keys).size, 'no key comes twice').toBe(keys.length);
    const ends = events.filter(isTerminal);
    for (const id of new Set(events.flatMap((e) => e.task_id ?? []))) {
      expect(ends.filter((e) => e.task_id === id).length, `ends of ${id}`).toBe(1);
    }
    expect(ends.filter((e) => e.step_id === null).map((e) => e.event)).toEqual([this.model.ended]);
    expect(events.at(-1)).toMatchObject({ step_id: null, event: this.model.ended });
    expect(this.#early, 'ended while something ran').toEqual([]);
    const done = events.filter((e) => e.event === 'WORKFLOW_STEP_COMPLETED');
    expect(new Set(done.map((e) => `${e.step_id} ${e.attempt}`)).size).toBe(done.length);
    const undone = events.filter((e) => e.event === 'STARTED' && e.method === 'undo').map((e) => e.step_id);
    expect(undone, 'taken back, newest first').toEqual(this.model.undone);
    expect(this.#world.timers.list('workflow')).toEqual([]);
    expect(this.#world.tasks.listTasks({ active: true })).toEqual([]);
  }

  #started(): (string | null)[] {
    return this.#world
      .events()
      .filter((e) => e.event === 'WORKFLOW_STEP_STARTED')
      .map((e) => e.step_id);
  }

  #picked(pick: number): string | null {
    const running = this.model.running();
    return running[pick % Math.max(1, running.length)] ?? null;
  }

  /** Only what was asked to stop proves a stop; everything else goes well instead. */
  #allowed(id: string, how: How): How {
    const stopping = this.model.steps.some((s) => s.plan.id === id && s.stopping);
    return how === 'prove' && !stopping ? 'ok' : how;
  }

  #runOf(id: string): Live {
    const run = [...this.#runs].find((one) => this.#nameOf(one.taskId) === id);
    if (run === undefined) throw new Error(`${id} does not run`);
    return run;
  }

  #nameOf(taskId: string): string {
    const task = this.#world.tasks.getTask(taskId);
    return task?.method === 'undo' ? `undo:${task.stepId}` : String(task?.stepId);
  }

  #listen(world: TaskWorld): TaskWorld {
    const boot = this.#boot;
    world.tasks.onEvent((event) => {
      if (boot !== this.#boot || event.step_id !== null || !isTerminal(event)) return;
      if (this.#runs.size > 0) this.#early.push(`${event.event} with ${this.#runs.size}`);
    });
    return world;
  }

  #methods(): MethodSpec[] {
    return [
      this.#method('work', {}),
      this.#method('once', { idempotent: false }),
      this.#method('fan', { compensation: { method: 'undo', params: {} } }),
      this.#method('roam', { resources: [{ resource: 'motion', mode: 'exclusive' }] }),
      this.#method('drive', { resources: [{ resource: 'motion', mode: 'exclusive' }] }),
      this.#method('undo', { idempotent: false, cancel: null }),
    ];
  }

  #method(name: string, more: Partial<MethodSpec<Record<string, unknown>>>): MethodSpec {
    const boot = this.#boot;
    const proof = () => ({ completion_target: `${name}.done`, observed_at_ms: this.#world.clock.now() });
    return defineMethod<Record<string, unknown>>({
      name,
      executor: 'test',
      summary: name,
      params: z.record(z.string(), z.unknown()),
      output: z.null(),
      resources: [],
      completionTarget: `${name}.done`,
      preconditionText: '',
      cancel: { method: `stop ${name}`, proof: 'stopped' },
      compensation: null,
      timeoutMs: 3_600_000,
      stopGraceMs: 3_600_000,
      risk: 'low',
      idempotent: true,
      run: ({ taskId }) =>
        new Promise<Completion>((resolve, reject) => {
          const run: Live = {
            taskId,
            boot,
            finish: (how) => {
              this.#runs.delete(run);
              if (how === 'ok') resolve({ evidence: proof(), output: null, stage: `${name}.done` });
              else if (how === 'fail') reject(new TaskFailure('OBSTRUCTED', 'a chair'));
              else reject(new StoppedWithProof({ stopped: true, observed_at_ms: this.#world.clock.now() }));
            },
          };
          if (boot === this.#boot) this.#runs.add(run);
        }),
      ...more,
    });
  }
}

function refusedFor(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (isRefusal(error)) return error.reason;
    throw error;
  }
  return 'not refused';
}

function documentOf(plan: Plan): WorkflowStep {
  return workflowStepSchema.parse({
    step_id: plan.id,
    method: plan.method,
    depends_on: plan.after,
    wait_policy: plan.wait,
    failure_policy: plan.policy,
    retry: { max: plan.retries, backoff_ms: plan.backoff },
    ...(plan.delay === null ? {} : { after_step: { step_id: plan.delay.after, delay_ms: plan.delay.ms } }),
    ...(plan.gate === null ? {} : { wait_until: { condition: 'context.gate', timeout_ms: plan.gate } }),
    ...(plan.condition === null ? {} : { condition: 'context.flag', on_condition_false: plan.condition }),
    ...(plan.undo ? { compensation: { method: 'undo' } } : {}),
  });
}

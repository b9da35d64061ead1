/**
 * What a workflow should do, said as simply as it can be: one object per step, no store, no tasks, no events. Written from
 * the contract and docs/task-manager.md, not from the engine; the engine is held against it.
 */
export type Method = 'work' | 'roam' | 'once' | 'fan' | 'drive';

export interface Plan {
  id: string;
  method: Method;
  after: string[];
  wait: 'COMPLETION' | 'ACCEPTED' | 'NONE';
  delay: { after: string; ms: number } | null;
  /** Time-out of a `wait_until` on `context.gate`, ms. */
  gate: number | null;
  /** A condition on `context.flag`. */
  condition: 'FAIL' | 'SKIP' | null;
  policy: 'ABORT' | 'CONTINUE' | 'RETRY' | 'COMPENSATE' | 'REPLAN';
  retries: number;
  backoff: number;
  /** The document declares a compensation; `fan` has one of its own. */
  undo: boolean;
}

type State =
  | 'pending'
  | 'delay'
  | 'gate'
  | 'backoff'
  | 'queued'
  | 'running'
  | 'amend'
  | 'completed'
  | 'skipped'
  | 'failed'
  | 'cancelled';

export interface Step {
  plan: Plan;
  state: State;
  tries: number;
  due: number | null;
  left: number | null;
  served: boolean;
  createdAt: number;
  n: number;
  endedAt: number | null;
  /** Continued after a restart, and not yet in its run again. */
  again: boolean;
  stopping: boolean;
  reason: string | null;
  tolerated: boolean;
  order: number;
  undo: 'due' | 'running' | null;
}

export interface Ending {
  as: 'COMPLETED' | 'FAILED' | 'CANCELLED';
  undo: 'none' | 'declared' | 'all';
}

export const AMENDMENT_WAIT_MS = 20_000;
const FINAL_REASONS = ['RESTARTED', 'CANCELLED_BY_USER'];
const OVER: readonly State[] = ['completed', 'skipped', 'failed', 'cancelled'];

const fresh = (plan: Plan): Step => ({
  plan,
  state: 'pending',
  tries: 0,
  due: null,
  left: null,
  served: false,
  createdAt: 0,
  n: 0,
  endedAt: null,
  again: false,
  stopping: false,
  reason: null,
  tolerated: false,
  order: 0,
  undo: null,
});

export class Tie extends Error {
  override readonly name = 'Tie';
}

export class Reference {
  steps: Step[];
  now = 0;
  flag = true;
  gate = true;
  paused = false;
  ending: Ending | null = null;
  ended: Ending['as'] | null = null;
  /** Attempts that began, in order, and compensations. */
  readonly started: string[] = [];
  readonly undone: string[] = [];
  #tasks = 0;
  #overs = 0;
  #suspended = false;
  #budget: number;
  readonly #onCancel: 'COMPENSATE' | 'NONE';

  constructor(plans: Plan[], budget: number, onCancel: 'COMPENSATE' | 'NONE') {
    this.steps = plans.map(fresh);
    this.#budget = budget;
    this.#onCancel = onCancel;
    this.settle();
  }

  get budget(): number {
    return this.#budget;
  }

  /** Steps whose run is under way, and compensations as `undo:<step>`. */
  running(): string[] {
    const runs = this.steps.filter((s) => s.state === 'running').map((s) => s.plan.id);
    const undo = this.steps.filter((s) => s.undo === 'running').map((s) => `undo:${s.plan.id}`);
    return [...runs, ...undo].sort();
  }

  nextDue(): number | null {
    const dues = this.steps.flatMap((s) => s.due ?? []);
    return dues.length === 0 ? null : Math.min(...dues);
  }

  mayChange(step: Step): boolean {
    if (step.state === 'amend') return true;
    return ['pending', 'delay', 'gate', 'queued'].includes(step.state) && step.tries === 0;
  }

  // --- what happens to it ---

  outcome(id: string, how: 'ok' | 'fail' | 'prove'): void {
    const undo = this.steps.find((s) => `undo:${s.plan.id}` === id);
    if (undo !== undefined) {
      undo.undo = null;
      this.settle();
      return;
    }
    const step = this.#step(id);
    if (how === 'ok') this.#over(step, 'completed', null);
    else if (how === 'fail') this.#fail(step, 'OBSTRUCTED');
    else this.#over(step, 'cancelled', 'CANCELLED_BY_USER');
    this.settle();
  }

  /** Throws `Tie` when two things are due at once: which is first is nobody's promise. */
  at(now: number): void {
    this.now = now;
    if (this.steps.filter((s) => s.due !== null && s.due <= now).length > 1) throw new Tie();
    for (const step of this.steps) {
      if (step.due === null || step.due > now) continue;
      step.due = null;
      if (step.state === 'gate') this.#fail(step, 'TIMEOUT');
      else if (step.state === 'amend') this.#over(step, 'failed', step.reason);
      else this.#release(step);
      this.settle();
    }
  }

  look(): void {
    if (!this.gate) return;
    for (const step of this.steps.filter((s) => s.state === 'gate')) {
      if (step.state !== 'gate') continue;
      this.#release(step);
      this.settle();
    }
  }

  pause(): void {
    this.paused = true;
    for (const step of this.steps) {
      this.#holdGate(step);
      if (step.state !== 'amend') continue;
      step.left = this.#left(step);
      step.due = null;
    }
  }

  resume(): void {
    this.paused = false;
    for (const step of this.steps) {
      if (step.state !== 'amend' || step.left === null) continue;
      step.due = this.now + step.left;
      step.left = null;
    }
    this.settle();
  }

  cancel(): void {
    this.#begin({ as: 'CANCELLED', undo: this.#onCancel === 'NONE' ? 'none' : 'all' });
    this.settle();
  }

  amend(change: { add?: Plan; replace?: Plan; remove?: string }): void {
    this.#budget -= 1;
    const { add, replace, remove } = change;
    this.steps = this.steps
      .filter((s) => s.plan.id !== remove)
      .map((s) => (s.plan.id === replace?.id ? fresh(replace) : s));
    if (add !== undefined) this.steps.push(fresh(add));
    this.settle();
  }

  restart(): void {
    this.#suspended = true;
    const live = this.steps.filter((s) => s.state === 'running').sort((a, b) => a.n - b.n);
    for (const step of live) {
      if (step.state !== 'running') continue;
      if (step.stopping || step.plan.method === 'once') this.#fail(step, 'RESTARTED');
      else step.again = true;
      this.settle();
    }
    for (const step of this.steps) if (step.undo === 'running') step.undo = null;
    this.settle();
    this.#suspended = false;
    for (const step of this.steps) step.again = false;
    this.settle();
  }

  // --- what follows ---

  settle(): void {
    while (this.ended === null && (this.#move() || this.#startOne())) {}
  }

  #move(): boolean {
    return this.ending === null ? this.#moveOn() : this.#wind(this.ending);
  }

  #moveOn(): boolean {
    const bad = this.steps.find((s) => (s.state === 'failed' || s.state === 'cancelled') && !s.tolerated);
    if (bad !== undefined) {
      return this.#begin({ as: 'FAILED', undo: bad.plan.policy === 'COMPENSATE' ? 'all' : 'declared' });
    }
    if (this.steps.every((s) => OVER.includes(s.state)))
      return this.#begin({ as: 'COMPLETED', undo: 'none' });
    const waiting = this.steps.find((s) => s.state === 'amend');
    if (waiting !== undefined) return this.#budget === 0 && this.#over(waiting, 'failed', waiting.reason);
    if (this.paused) return false;
    const next = this.steps.find((s) => s.state === 'pending' && this.#isFree(s));
    return next !== undefined && this.#proceed(next);
  }

  #isFree({ plan }: Step): boolean {
    return [...plan.after, ...(plan.delay === null ? [] : [plan.delay.after])].every((id) => {
      const before = this.#step(id);
      if (OVER.includes(before.state)) return true;
      if (before.plan.wait === 'ACCEPTED') return before.state === 'running';
      return before.plan.wait === 'NONE' && (before.state === 'running' || before.state === 'queued');
    });
  }

  #proceed(step: Step): true {
    const { plan } = step;
    if (plan.delay !== null && !step.served) {
      const left = (this.#step(plan.delay.after).endedAt ?? this.now) + plan.delay.ms - this.now;
      if (left > 0) return this.#wait(step, 'delay', left);
    }
    if (plan.gate !== null && !this.gate) {
      const left = step.left ?? plan.gate;
      step.left = null;
      return this.#wait(step, 'gate', left);
    }
    if (plan.condition !== null && !this.flag) return this.#conditionFalse(step);
    step.state = 'queued';
    step.createdAt = this.now;
    step.n = ++this.#tasks;
    this.#startOne();
    return true;
  }

  #conditionFalse(step: Step): true {
    if (step.plan.condition === 'SKIP') return this.#over(step, 'skipped', null);
    return this.#fail(step, 'STATE_CONDITION_FAILED');
  }

  #wait(step: Step, state: State, ms: number): true {
    step.state = state;
    step.due = this.now + ms;
    return true;
  }

  /** One at a time in the line of a method; whoever came first goes first. `roam` and `drive` share one: both move. */
  #startOne(): boolean {
    const held = this.paused || this.steps.some((s) => s.state === 'amend');
    if (this.#suspended || this.ending !== null || held) return false;
    const line = ({ plan }: Step) => (plan.method === 'roam' ? 'drive' : plan.method);
    const taken = new Set(this.steps.filter((s) => s.state === 'running').map(line));
    const next = this.steps
      .filter((s) => s.state === 'queued' && !taken.has(line(s)))
      .sort((a, b) => a.createdAt - b.createdAt || a.n - b.n)[0];
    if (next === undefined) return false;
    if (next.plan.condition !== null && next.createdAt < this.now && !this.flag) {
      return this.#conditionFalse(next);
    }
    next.state = 'running';
    this.started.push(next.plan.id);
    return true;
  }

  #fail(step: Step, reason: string): true {
    const { plan } = step;
    const final = this.ending !== null || FINAL_REASONS.includes(reason);
    if (!final && step.tries < plan.retries) {
      Object.assign(step, { tries: step.tries + 1, served: true, left: null, due: null });
      if (plan.backoff > 0) return this.#wait(step, 'backoff', plan.backoff);
      step.state = 'pending';
      return true;
    }
    if (final || plan.policy !== 'REPLAN' || this.#budget === 0) return this.#over(step, 'failed', reason);
    Object.assign(step, {
      state: 'amend',
      reason,
      endedAt: this.now,
      due: this.paused ? null : this.now + AMENDMENT_WAIT_MS,
      left: this.paused ? AMENDMENT_WAIT_MS : null,
    });
    for (const other of this.steps) this.#holdGate(other);
    return true;
  }

  #over(step: Step, state: State, reason: string | null): true {
    const tolerated =
      this.ending === null &&
      step.plan.policy === 'CONTINUE' &&
      (state === 'failed' || state === 'cancelled');
    Object.assign(step, { state, reason, endedAt: this.now, due: null, tolerated, order: ++this.#overs });
    if (this.ending !== null && this.#isTakenBack(step, this.ending)) step.undo = 'due';
    return true;
  }

  #begin(ending: Ending): true {
    this.ending = ending;
    for (const step of this.steps) if (this.#isTakenBack(step, ending)) step.undo = 'due';
    return true;
  }

  #isTakenBack({ plan, state, reason }: Step, { undo }: Ending): boolean {
    if (undo === 'none' || !(plan.undo || plan.method === 'fan')) return false;
    if (state === 'failed' && reason === 'RESTARTED') return true;
    return state === 'completed' && (undo === 'all' || plan.undo);
  }

  #wind(ending: Ending): boolean {
    for (const step of this.steps) {
      if (OVER.includes(step.state)) continue;
      if (step.state === 'amend') return this.#over(step, 'failed', step.reason);
      if (step.state === 'queued' || (step.state === 'running' && step.again)) {
        return this.#over(step, 'cancelled', 'CANCELLED');
      }
      if (step.state !== 'running') {
        Object.assign(step, { state: 'cancelled', due: null });
        return true;
      }
      if (!step.stopping) {
        step.stopping = true;
        return true;
      }
    }
    if (this.steps.some((s) => s.state === 'running' || s.undo === 'running')) return false;
    const next = this.steps.filter((s) => s.undo === 'due').sort((a, b) => b.order - a.order)[0];
    if (next !== undefined) {
      if (this.#suspended) return false;
      next.undo = 'running';
      this.undone.push(next.plan.id);
      return true;
    }
    const unproven = this.steps.some((s) => s.stopping && s.state === 'failed' && s.reason === 'RESTARTED');
    this.ended = ending.as === 'CANCELLED' && unproven ? 'FAILED' : ending.as;
    return true;
  }

  #holdGate(step: Step): void {
    if (step.state !== 'gate') return;
    step.left = this.#left(step);
    Object.assign(step, { state: 'pending', due: null });
  }

  #left(step: Step): number {
    return Math.max(1, (step.due ?? this.now) - this.now);
  }

  #release(step: Step): void {
    Object.assign(step, { state: 'pending', served: true, due: null });
  }

  #step(id: string): Step {
    const step = this.steps.find((s) => s.plan.id === id);
    if (step === undefined) throw new Error(`the reference has no step ${id}`);
    return step;
  }
}

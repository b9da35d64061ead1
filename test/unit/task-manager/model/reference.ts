/**
 * A plain reference of what the queue and the life of tasks promise: lists and loops, no timers, no database. It says
 * exactly how every task ends. Which of those that may start does start is the robot's choice: the reference checks
 * that the choice is one of the allowed ones, and follows it.
 */

export interface Shape {
  resources: readonly string[];
  pausable: boolean;
  idempotent: boolean;
  /** Goes on only where it was; nothing moves in this model, so it always does. */
  stationary: boolean;
}

export const SHAPES: Readonly<Record<string, Shape>> = {
  drive: { resources: ['motion'], pausable: true, idempotent: true, stationary: false },
  move: { resources: ['motion'], pausable: false, idempotent: true, stationary: false },
  rotate: { resources: ['motion'], pausable: false, idempotent: false, stationary: false },
  dwell: { resources: ['fan'], pausable: true, idempotent: true, stationary: true },
  say: { resources: ['speaker'], pausable: false, idempotent: false, stationary: false },
  lead: { resources: ['motion', 'speaker'], pausable: false, idempotent: false, stationary: false },
};

export type Ending = 'COMPLETED' | 'FAILED' | 'CANCELLED';
export type State = 'PENDING' | 'STARTED' | 'PAUSED' | 'CANCELLING' | Ending;

export interface Cause {
  as: 'FAILED' | 'CANCELLED' | 'PAUSED';
  reason: string;
}

export interface Asked {
  method: string;
  priority: number;
  mode: 'QUEUED' | 'IMMEDIATE' | 'PARALLEL';
  preempt: 'NONE' | 'PREEMPT_LOWER' | 'PREEMPT_SAME_QUEUE';
  key: string | undefined;
}

export interface Task extends Asked {
  id: string;
  n: number;
  line: string;
  state: State;
  begun: boolean;
  attempt: number;
  /** Why it is being stopped or paused, while its run is not over. */
  cause: Cause | null;
  causeAt: number;
  /** While it is paused or about to be: null when it goes on as soon as it stands. */
  until: 'resumed' | { ended: string } | null;
  proven: boolean;
  /** Of the run that is under way, and the time that earlier ones used up, ms. */
  beganAt: number;
  usedMs: number;
  /** How many tasks there were when it last started. */
  since: number;
  ended: string | null;
}

export const TIMEOUT_MS = 5_000;
export const GRACE_MS = 2_000;
const MAX_ATTEMPTS = 5;

export class Reference {
  readonly tasks: Task[] = [];
  now = 0;

  get(id: string): Task {
    const task = this.tasks.find((one) => one.id === id);
    if (task === undefined) throw new Error(`the reference knows no task ${id}`);
    return task;
  }

  running(): Task[] {
    return this.tasks.filter((t) => t.state === 'STARTED' || t.state === 'CANCELLING');
  }

  /** The first of each line, and everybody without one; best first. */
  candidates(): Task[] {
    const waiting = this.tasks.filter((t) => t.state === 'PENDING').sort(before);
    const lines = new Set<string>();
    return waiting.filter((t) => {
      if (t.mode !== 'QUEUED') return true;
      if (lines.has(t.line)) return false;
      lines.add(t.line);
      return true;
    });
  }

  blockers(task: Pick<Task, 'id' | 'method' | 'mode' | 'line'>): Task[] {
    return this.running().filter((other) => other.id !== task.id && conflict(task, other));
  }

  plan(task: Asked & Pick<Task, 'id' | 'line'>): 'start' | 'preempt' | 'wait' {
    const blockers = this.blockers(task);
    if (blockers.length === 0) return 'start';
    return blockers.every((other) => mayPreempt(task, other)) ? 'preempt' : 'wait';
  }

  /** Null when it is refused: IMMEDIATE, and it could not start now. */
  submit(asked: Asked, id: string | null): Task | null {
    const line = asked.key ?? SHAPES[asked.method]?.resources[0] ?? '';
    if (asked.mode === 'IMMEDIATE' && this.plan({ ...asked, id: 'new', line }) === 'wait') return null;
    const task: Task = {
      ...asked,
      id: id ?? '?',
      n: this.tasks.length,
      line,
      state: 'PENDING',
      begun: false,
      attempt: 1,
      cause: null,
      causeAt: 0,
      until: null,
      proven: false,
      beganAt: 0,
      usedMs: 0,
      since: 0,
      ended: null,
    };
    this.tasks.push(task);
    return task;
  }

  start(task: Task): void {
    const since = this.tasks.length;
    const started = { state: 'STARTED', begun: true, cause: null, until: null, beganAt: this.now, since };
    Object.assign(task, started);
  }

  /** How its run came back. */
  runEnded(task: Task, how: 'complete' | 'fail' | 'prove' | 'unproven'): void {
    const { cause } = task;
    if (how === 'complete') this.end(task, 'COMPLETED', null);
    else if (how === 'fail') this.end(task, 'FAILED', 'OBSTRUCTED');
    else if (how === 'unproven') this.end(task, 'FAILED', 'HARDWARE_FAULT');
    else if (cause === null) this.end(task, 'CANCELLED', 'CANCELLED_BY_SYSTEM');
    else if (cause.as === 'PAUSED') this.#paused(task, true);
    else this.end(task, cause.as, cause.reason);
  }

  /** Whether it is taken. */
  cancel(task: Task): boolean {
    if (isOver(task)) return false;
    this.#stop(task, { as: 'CANCELLED', reason: 'CANCELLED_BY_USER' });
    return true;
  }

  pause(task: Task): boolean {
    if (isOver(task) || task.state === 'CANCELLING') return false;
    const pausing = task.cause?.as === 'PAUSED';
    if (task.state === 'PAUSED' || pausing) {
      if (task.until === 'resumed') return false;
      task.until = 'resumed';
      if (task.state === 'PAUSED') this.#release(task);
      return true;
    }
    if (task.state === 'PENDING') {
      Object.assign(task, { state: 'PAUSED', until: 'resumed' });
      this.#release(task);
      return true;
    }
    if (SHAPES[task.method]?.pausable !== true) return false;
    this.pausing(task, 'resumed');
    return true;
  }

  resume(task: Task): boolean {
    if (task.state === 'PAUSED') {
      this.#goOn(task);
      return true;
    }
    if (task.state !== 'STARTED' || task.cause?.as !== 'PAUSED' || task.until === null) return false;
    task.until = null;
    return true;
  }

  emergencyStop(): void {
    for (const task of this.tasks) {
      if (SHAPES[task.method]?.resources.includes('motion') !== true) continue;
      const underWay = task.state === 'STARTED' || (task.state === 'PAUSED' && task.begun);
      if (underWay) this.#stop(task, { as: 'FAILED', reason: 'EMERGENCY_STOP' });
    }
  }

  pausing(task: Task, until: Task['until']): void {
    Object.assign(task, { cause: { as: 'PAUSED', reason: '' }, causeAt: this.now, until });
  }

  /** A second has passed. */
  tick(ms: number): void {
    this.now += ms;
    for (const task of this.running()) {
      if (task.cause === null && this.now - task.beganAt >= TIMEOUT_MS - task.usedMs) {
        this.#stop(task, { as: 'FAILED', reason: 'TIMEOUT' });
      } else if (task.cause !== null && this.now - task.causeAt >= GRACE_MS) this.runEnded(task, 'unproven');
    }
  }

  restart(): void {
    for (const task of this.running()) {
      const shape = SHAPES[task.method];
      const { cause } = task;
      if (task.state === 'CANCELLING') {
        this.end(task, 'FAILED', cause?.as === 'FAILED' ? cause.reason : 'RESTARTED');
      } else if (shape?.idempotent !== true) this.end(task, 'FAILED', 'RESTARTED');
      else if (cause?.as === 'PAUSED' && task.until !== null) this.#paused(task, false);
      else if (task.attempt >= MAX_ATTEMPTS) this.end(task, 'FAILED', 'RESTARTED');
      else {
        // The next attempt begins anew.
        Object.assign(task, { state: 'PENDING', cause: null, until: null, usedMs: 0, begun: false });
        task.attempt++;
      }
    }
  }

  end(task: Task, as: Ending, reason: string | null): void {
    Object.assign(task, {
      state: as,
      cause: null,
      until: null,
      ended: reason === null ? as : `${as} ${reason}`,
    });
    this.#release(task);
  }

  #stop(task: Task, cause: Cause): void {
    if (task.state === 'CANCELLING') return;
    if (task.state === 'STARTED') {
      if (task.cause === null) task.causeAt = this.now;
      Object.assign(task, { state: 'CANCELLING', cause, until: null });
    } else if (!task.begun || task.proven) this.end(task, cause.as as Ending, cause.reason);
    else this.end(task, 'FAILED', 'RESTARTED');
  }

  /** `task` does not hold the place any more that it took from others: they go on. */
  #release(task: Task): void {
    for (const other of this.tasks) {
      if (other.state === 'PAUSED' && isAfter(other.until, task.id)) this.#goOn(other);
    }
  }

  #paused(task: Task, proven: boolean): void {
    if (proven) task.usedMs += task.causeAt - task.beganAt;
    Object.assign(task, { state: 'PAUSED', cause: null, proven });
    const { until } = task;
    if (until === 'resumed') this.#release(task);
    else if (until === null || !this.#isHolding(until.ended)) this.#goOn(task);
  }

  #isHolding(id: string): boolean {
    const task = this.get(id);
    return !isOver(task) && !(task.state === 'PAUSED' && task.until === 'resumed');
  }

  #goOn(task: Task): void {
    Object.assign(task, { state: 'PENDING', until: null });
  }
}

function isAfter(until: Task['until'], id: string): boolean {
  return until !== null && until !== 'resumed' && until.ended === id;
}

export function isOver(task: Task): boolean {
  return task.state === 'COMPLETED' || task.state === 'FAILED' || task.state === 'CANCELLED';
}

function before(a: Task, b: Task): number {
  const ahead = (t: Task) => (t.mode === 'IMMEDIATE' || t.begun || t.attempt > 1 ? 1 : 0);
  return ahead(b) - ahead(a) || b.priority - a.priority || a.n - b.n;
}

type Party = Pick<Task, 'method' | 'mode' | 'line'>;

export function shares(a: Party, b: Party): boolean {
  const resources = SHAPES[b.method]?.resources ?? [];
  return SHAPES[a.method]?.resources.some((resource) => resources.includes(resource)) === true;
}

function drives(task: Party): boolean {
  return SHAPES[task.method]?.resources.includes('motion') === true;
}

export function conflict(a: Party, b: Party): boolean {
  const stands = (t: Party) => SHAPES[t.method]?.stationary === true;
  if (shares(a, b)) return true;
  if ((stands(a) && drives(b)) || (stands(b) && drives(a))) return true;
  return a.mode === 'QUEUED' && b.mode === 'QUEUED' && a.line === b.line;
}

export function mayPreempt(task: Asked & { line: string }, other: Task): boolean {
  if (!shares(task, other) && SHAPES[other.method]?.stationary === true && drives(task)) return true;
  if (task.preempt === 'PREEMPT_LOWER') return other.priority < task.priority;
  if (task.preempt === 'PREEMPT_SAME_QUEUE')
    return other.line === task.line && other.priority <= task.priority;
  return false;
}

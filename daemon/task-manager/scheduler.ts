/** Whose turn it is. Decides with `planStart`; what follows from a decision is the host's. */
import type { Resource } from '../../executors/method.js';
import type { Store } from '../store/store.js';
import { type Contender, planStart, type StartPlan } from './conflicts.js';
import { claimsResource } from './task.js';
import { before, Line, type Waiting } from './waiting-room.js';

/** Called inside the running `write`. */
export interface SchedulerHost {
  /** It has its turn and its resources are free; it may end at once. */
  start(item: Waiting): void;
  /** It cannot start yet; told again when the reason changes. */
  waits(item: Waiting, why: string): void;
  /** Ends it when nobody's stop could make it start; true when it did. Asked before anybody has to give way. */
  refuse(item: Waiting): boolean;
  /** `victim` has to give way; may be asked again while it stops. */
  preempt(victim: Contender, by: Waiting): void;
}

interface SchedulerOptions {
  store: Store;
  host: SchedulerHost;
  now(): number;
  /** A candidate that waited so long for leases keeps others, that come behind it, from taking them, ms. */
  reserveAfterMs: number;
}

/** What a waiting candidate was told, and since when it waits for leases. */
interface Blocked {
  why: string;
  since: number;
  preempting: boolean;
}

/**
 * Candidates are the first of each line, and every task without a line (PARALLEL, IMMEDIATE). A candidate that
 * needs leases which others hold is `blocked` and looked at again, best first, whenever leases come free. All of it
 * follows the store's transactions.
 */
export class Scheduler {
  readonly #o: SchedulerOptions;
  readonly #waiting = new Map<string, Waiting>();
  readonly #lines = new Map<string, Line>();
  readonly #blocked = new Line();
  readonly #told = new WeakMap<Waiting, Blocked>();
  /** Running tasks that hold resources, and the running task of each line. */
  readonly #holders = new Map<string, Contender>();
  readonly #atWork = new Map<string, Contender>();
  #toConsider: Waiting[] = [];
  #leasesFreed = false;
  #pumping = false;
  #suspended = false;

  constructor(options: SchedulerOptions) {
    this.#o = options;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  lineLength(queueKey: string): number {
    return this.#lines.get(queueKey)?.length ?? 0;
  }

  isWaiting(taskId: string): boolean {
    return this.#waiting.has(taskId);
  }

  lines(): { queueKey: string; length: number }[] {
    return [...this.#lines].map(([queueKey, line]) => ({ queueKey, length: line.length }));
  }

  /** Those whose turn it would be next, one per line, and everybody without a line. */
  candidates(): Waiting[] {
    const candidates: Waiting[] = [];
    for (const line of this.#lines.values()) {
      const first = line.first();
      if (first !== null) candidates.push(first);
    }
    for (const item of this.#waiting.values()) if (item.executionMode !== 'QUEUED') candidates.push(item);
    return candidates;
  }

  /** Those that wait and want this resource, best first; with what they were told, once they were. */
  waitingFor(resource: Resource): { item: Waiting; why: string | null }[] {
    const wanting = [...this.#waiting.values()].filter(({ claims }) => claimsResource(claims, resource));
    return wanting.sort(before).map((item) => ({ item, why: this.#told.get(item)?.why ?? null }));
  }

  /** What would happen if `item` came now. */
  plan(item: Contender): StartPlan {
    return planStart(item, this.#inTheWay(item));
  }

  add(item: Waiting): void {
    this.#both(
      () => this.#waiting.set(item.taskId, item),
      () => this.#waiting.delete(item.taskId),
    );
    if (item.executionMode !== 'QUEUED') {
      this.#toConsider.push(item);
      return;
    }
    const line = this.#line(item.queueKey);
    const first = line.first();
    this.#enter(line, item);
    if (line.first() !== item) return;
    if (first !== null && this.#blocked.has(first)) this.#leave(this.#blocked, first);
    this.#toConsider.push(item);
  }

  /** Takes a task out that shall not start any more; false when it was not waiting. */
  remove(taskId: string): boolean {
    const item = this.#waiting.get(taskId);
    if (item === undefined) return false;
    // What was kept for it is free for those behind it.
    if (item.claims.length > 0 && this.#blocked.has(item)) this.#leasesFreed = true;
    this.#takeOut(item);
    this.#considerFirst(item.queueKey);
    return true;
  }

  /** A started task is over and its leases are given back. */
  ended(task: Contender): void {
    if (this.#holders.has(task.taskId)) {
      this.#both(
        () => this.#holders.delete(task.taskId),
        () => this.#holders.set(task.taskId, task),
      );
      this.#leasesFreed = true;
    }
    if (this.#atWork.get(task.queueKey)?.taskId === task.taskId) {
      this.#both(
        () => this.#atWork.delete(task.queueKey),
        () => this.#atWork.set(task.queueKey, task),
      );
      this.#considerFirst(task.queueKey);
    }
  }

  /** Starts whatever can start. Starting may end tasks, which lets others start, and so on. */
  pump(): void {
    if (this.#pumping || this.#suspended) return;
    this.#pumping = true;
    try {
      while (this.#leasesFreed || this.#toConsider.length > 0) {
        const candidates = this.#toConsider.sort(before);
        this.#toConsider = [];
        if (this.#leasesFreed) this.#sweep(candidates);
        else for (const item of candidates) this.#consider(item, this.#reservedBefore(item));
      }
    } finally {
      this.#pumping = false;
      this.#toConsider = [];
      this.#leasesFreed = false;
    }
  }

  /** Nothing starts until `pumpAll` while everything waiting is put in line. */
  suspend(): void {
    this.#suspended = true;
  }

  /** Looks at every candidate again: after a failed commit, and when everything is in line after a start. */
  pumpAll(): void {
    this.#suspended = false;
    for (const queueKey of this.#lines.keys()) this.#considerFirst(queueKey);
    for (const item of this.#waiting.values())
      if (item.executionMode !== 'QUEUED') this.#toConsider.push(item);
    this.#leasesFreed = true;
    this.pump();
  }

  /** Everything that waits for leases, together with `more`, best first. */
  #sweep(more: readonly Waiting[]): void {
    this.#leasesFreed = false;
    for (const item of more) {
      if (this.#isCandidate(item) && !this.#blocked.has(item)) this.#enter(this.#blocked, item);
    }
    const reserved = new Set<Resource>();
    for (const item of this.#blocked.snapshot()) {
      if (item.claims.some((claim) => reserved.has(claim.resource))) continue;
      if (!this.#consider(item, NOTHING_RESERVED)) this.#reserve(item, reserved);
    }
  }

  /** True when it left the waiting room. */
  #consider(item: Waiting, reserved: ReadonlySet<Resource>): boolean {
    if (!this.#isCandidate(item)) return true;
    const kept = item.claims.find((claim) => reserved.has(claim.resource));
    const plan: StartPlan =
      kept === undefined
        ? this.plan(item)
        : { do: 'wait', why: `${kept.resource} is kept for a task that waited longer` };
    if (plan.do === 'start') {
      this.#takeOut(item);
      this.#goToWork(item);
      this.#o.host.start(item);
      return true;
    }
    // Nobody gives way to what would only be refused when its turn came.
    if (plan.do === 'preempt' && this.#o.host.refuse(item)) return true;
    this.#block(item, plan);
    return false;
  }

  #block(item: Waiting, plan: Exclude<StartPlan, { do: 'start' }>): void {
    // The first of a busy line comes up again when the line is free, unless it may take the place of who is at work
    // there; everyone else waits for leases.
    const lineBusy = item.executionMode === 'QUEUED' && this.#atWork.has(item.queueKey);
    if (lineBusy && item.preemptPolicy === 'NONE') {
      if (this.#blocked.has(item)) this.#leave(this.#blocked, item);
    } else if (!this.#blocked.has(item)) this.#enter(this.#blocked, item);
    const why =
      plan.do === 'wait'
        ? plan.why
        : `the stop of ${plan.victims.map((v) => `${v.method} ${v.taskId}`).join(', ')}`;
    const told = this.#told.get(item);
    this.#told.set(item, { why, since: told?.since ?? this.#o.now(), preempting: plan.do === 'preempt' });
    if (told?.why !== why) this.#o.host.waits(item, why);
    if (plan.do === 'preempt') for (const victim of plan.victims) this.#o.host.preempt(victim, item);
  }

  #isCandidate(item: Waiting): boolean {
    if (this.#waiting.get(item.taskId) !== item) return false;
    return item.executionMode !== 'QUEUED' || this.#lines.get(item.queueKey)?.first() === item;
  }

  #reservedBefore(item: Waiting): ReadonlySet<Resource> {
    if (item.claims.length === 0 || this.#blocked.length === 0) return NOTHING_RESERVED;
    const reserved = new Set<Resource>();
    for (const other of this.#blocked) {
      if (before(other, item) >= 0) break;
      this.#reserve(other, reserved);
    }
    return reserved;
  }

  #reserve(item: Waiting, reserved: Set<Resource>): void {
    const told = this.#told.get(item);
    if (told === undefined) return;
    if (!told.preempting && this.#o.now() - told.since < this.#o.reserveAfterMs) return;
    for (const claim of item.claims) reserved.add(claim.resource);
  }

  /** The running tasks that can be in the way: holders of leases, and whoever is at work in the same line. */
  #inTheWay(item: Contender): Contender[] {
    const inTheWay = item.claims.length > 0 ? [...this.#holders.values()] : [];
    const atWork = item.executionMode === 'QUEUED' ? this.#atWork.get(item.queueKey) : undefined;
    if (atWork !== undefined && !inTheWay.includes(atWork)) inTheWay.push(atWork);
    return inTheWay;
  }

  #goToWork(item: Waiting): void {
    if (item.claims.length > 0) {
      this.#both(
        () => this.#holders.set(item.taskId, item),
        () => this.#holders.delete(item.taskId),
      );
    }
    if (item.executionMode === 'QUEUED') {
      this.#both(
        () => this.#atWork.set(item.queueKey, item),
        () => this.#atWork.delete(item.queueKey),
      );
    }
  }

  #takeOut(item: Waiting): void {
    this.#both(
      () => this.#waiting.delete(item.taskId),
      () => this.#waiting.set(item.taskId, item),
    );
    if (this.#blocked.has(item)) this.#leave(this.#blocked, item);
    const line = item.executionMode === 'QUEUED' ? this.#lines.get(item.queueKey) : undefined;
    if (line !== undefined) this.#leave(line, item);
    if (line?.length === 0) {
      this.#both(
        () => this.#lines.delete(item.queueKey),
        () => this.#lines.set(item.queueKey, line),
      );
    }
  }

  #considerFirst(queueKey: string): void {
    const first = this.#lines.get(queueKey)?.first();
    if (first !== null && first !== undefined) this.#toConsider.push(first);
  }

  #line(queueKey: string): Line {
    const known = this.#lines.get(queueKey);
    if (known !== undefined) return known;
    const line = new Line();
    this.#both(
      () => this.#lines.set(queueKey, line),
      () => this.#lines.delete(queueKey),
    );
    return line;
  }

  #enter(line: Line, item: Waiting): void {
    this.#both(
      () => line.add(item),
      () => line.remove(item),
    );
  }

  #leave(line: Line, item: Waiting): void {
    this.#both(
      () => line.remove(item),
      () => line.add(item),
    );
  }

  #both(change: () => void, back: () => void): void {
    change();
    this.#o.store.onUndo(back);
  }
}

const NOTHING_RESERVED: ReadonlySet<Resource> = new Set();

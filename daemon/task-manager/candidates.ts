/** Tasks that are not over, with what their methods made of their params; follows the store's transactions. */
import type { MethodSpec } from '../../executors/method.js';
import type { Store } from '../store/store.js';
import type { Admitted } from './admission.js';
import type { Contender } from './conflicts.js';
import { PEOPLE } from './stop-sources.js';
import { hasBegun, type TaskRequest, type TaskRow } from './task.js';
import { rankOf, type Waiting } from './waiting-room.js';

export interface Candidate extends Waiting {
  spec: MethodSpec;
  params: unknown;
}

/** What a person wants comes before what a machine wants, unless that is more urgent by more than this. */
const A_PERSON = 10;
/** Puts a task before everyone who has only priority and age. */
const TURN_AT_ONCE = 1_000_000;

/** `gained`: points of priority for having been kept waiting by others that took its place. */
export function contender(taskId: string, request: TaskRequest, spec: MethodSpec, gained = 0): Contender {
  return {
    taskId,
    method: spec.name,
    claims: spec.resources,
    priority: request.priority + gained + (PEOPLE.has(request.source) ? A_PERSON : 0),
    queueKey: request.queueKey,
    executionMode: request.executionMode,
    preemptPolicy: request.preemptPolicy,
    cancellable: request.cancellable,
  };
}

export class Candidates {
  readonly #store: Store;
  readonly #ageingMsPerPoint: number;
  readonly #byId = new Map<string, Candidate>();

  constructor(store: Store, ageingMsPerPoint: number) {
    this.#store = store;
    this.#ageingMsPerPoint = ageingMsPerPoint;
  }

  get(taskId: string): Candidate | null {
    return this.#byId.get(taskId) ?? null;
  }

  /** IMMEDIATE tasks, and those that began before, do not stand in line behind others. */
  add(row: TaskRow, { spec, params }: Admitted): Candidate {
    const { request } = row;
    const ranBefore = row.attempt > 1 || hasBegun(row);
    const ahead = request.executionMode === 'IMMEDIATE' || ranBefore ? TURN_AT_ONCE : 0;
    const gained = Math.floor((row.pause?.keptMs ?? 0) / this.#ageingMsPerPoint);
    const self = contender(row.taskId, request, spec, gained);
    const candidate: Candidate = {
      ...self,
      n: row.n,
      rank: rankOf(self.priority + ahead, row.createdAt, this.#ageingMsPerPoint),
      spec,
      params,
    };
    this.#put(row.taskId, candidate);
    return candidate;
  }

  remove(taskId: string): void {
    this.#put(taskId, null);
  }

  #put(taskId: string, candidate: Candidate | null): void {
    const before = this.get(taskId);
    this.#replace(taskId, candidate);
    this.#store.onUndo(() => this.#replace(taskId, before));
  }

  #replace(taskId: string, candidate: Candidate | null): void {
    if (candidate === null) this.#byId.delete(taskId);
    else this.#byId.set(taskId, candidate);
  }
}

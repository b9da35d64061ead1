import { Worker } from 'node:worker_threads';
import type { PlanResult } from '../../../config/contracts/amr.js';
import type { CancelTimer, Clock } from '../../../config/contracts/clock.js';
import { entryPath } from '../../../config/contracts/entry.js';
import { errorText, Refusal } from '../../../config/contracts/errors.js';
import type { Pose } from '../../../config/contracts/geometry.js';
import { type Log, SILENT_LOG } from '../../../config/contracts/log.js';
import type { PlanningMap } from '../costmap/planning-map.js';
import type { Planner } from '../types.js';
import { DEFAULT_PLANNER, type PlannerParams } from './engine.js';
import { NO_MAP } from './inline-planner.js';
import type { FromPlannerWorker, ToPlannerWorker } from './worker-protocol.js';

/** The part of a worker thread the client needs; tests put a misbehaving one in its place. */
export interface PlannerWorker {
  postMessage(message: ToPlannerWorker): void;
  on(event: 'message', listener: (message: FromPlannerWorker) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'exit', listener: (code: number) => void): unknown;
  terminate(): Promise<unknown>;
  unref(): void;
}

export interface PlannerClientOptions {
  clock: Clock;
  params?: PlannerParams;
  /** A plan that takes longer ends the worker, ms. */
  timeoutMs?: number;
  /** Plans waiting at once; more are refused. */
  maxPending?: number;
  log?: Log;
  startWorker?: () => PlannerWorker;
}

interface Waiting {
  mapId: string;
  request: Omit<Extract<ToPlannerWorker, { t: 'plan' }>, 't' | 'n'>;
  /** Workers it was given to. */
  attempts: number;
  resolve: (result: PlanResult) => void;
  reject: (reason: Refusal) => void;
  cancelTimer: CancelTimer;
}

const MAX_ATTEMPTS = 2;

/**
 * Plans in a worker thread, so that the control loop never waits for a search. A worker that crashes is replaced
 * and its plans are tried once more; one that takes too long is ended. A plan that then has no answer is rejected
 * with a `Refusal` (`CAPABILITY_UNAVAILABLE`, `TIMEOUT`, `RESOURCE_BUSY`): a planner that failed says nothing about
 * whether the goal can be reached.
 */
export class PlannerClient implements Planner {
  readonly #clock: Clock;
  readonly #params: PlannerParams;
  readonly #timeoutMs: number;
  readonly #maxPending: number;
  readonly #log: Log;
  readonly #startWorker: () => PlannerWorker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #counters = { planner_plans: 0, planner_timeouts: 0, planner_crashes: 0, planner_refused: 0 };
  #worker: PlannerWorker | null = null;
  #map: PlanningMap | null = null;
  #next = 0;
  #closed = false;

  constructor(options: PlannerClientOptions) {
    this.#clock = options.clock;
    this.#params = options.params ?? DEFAULT_PLANNER;
    this.#timeoutMs = options.timeoutMs ?? 5000;
    this.#maxPending = options.maxPending ?? 8;
    this.#log = options.log ?? SILENT_LOG;
    this.#startWorker = options.startWorker ?? (() => new Worker(entryPath(import.meta.url, './worker.js')));
  }

  get pending(): number {
    return this.#waiting.size;
  }

  counters(): Record<string, number> {
    return { ...this.#counters };
  }

  setMap(map: PlanningMap | null): void {
    this.#map = map;
    if (map === null) {
      // A search takes its time; what it finds is on no map any more.
      for (const { resolve, cancelTimer } of this.#waiting.values()) {
        cancelTimer();
        resolve(NO_MAP);
      }
      this.#waiting.clear();
      void this.#dropWorker();
      return;
    }
    this.#worker?.postMessage({ t: 'map', map: transferable(map), params: this.#params });
  }

  plan(
    from: Pose,
    goal: Pose,
    live: Int32Array,
    people: Int32Array = new Int32Array(0),
  ): Promise<PlanResult> {
    const map = this.#map;
    if (map === null) return Promise.resolve(NO_MAP);
    if (this.#closed)
      return Promise.reject(new Refusal('CAPABILITY_UNAVAILABLE', 'the planner is shut down'));
    if (this.#waiting.size >= this.#maxPending) {
      this.#counters.planner_refused++;
      const message = `${this.#waiting.size} plans are waiting for the planner already`;
      return Promise.reject(new Refusal('RESOURCE_BUSY', message));
    }
    this.#counters.planner_plans++;
    return new Promise((resolve, reject) => {
      const n = this.#next++;
      const cancelTimer = this.#clock.after(this.#timeoutMs, () => this.#timedOut(n));
      const request = { from, goal, live, people };
      this.#waiting.set(n, { mapId: map.mapId, request, attempts: 0, resolve, reject, cancelTimer });
      this.#send(n);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#rejectAll(new Refusal('CAPABILITY_UNAVAILABLE', 'the planner is shut down'));
    await this.#dropWorker();
  }

  #send(n: number): void {
    const waiting = this.#waiting.get(n);
    if (waiting === undefined || this.#map === null) return;
    waiting.attempts++;
    try {
      this.#worker ??= this.#launch(this.#map);
      this.#worker.postMessage({ t: 'plan', n, ...waiting.request });
    } catch (error) {
      this.#crashed(this.#worker, errorText(error));
    }
  }

  #launch(map: PlanningMap): PlannerWorker {
    const worker = this.#startWorker();
    worker.on('message', (message) => this.#answered(message));
    worker.on('error', (error) => this.#crashed(worker, error.message));
    worker.on('exit', (code) => this.#crashed(worker, `it ended with code ${code}`));
    // An idle planner does not keep the process alive.
    worker.unref();
    worker.postMessage({ t: 'map', map: transferable(map), params: this.#params });
    return worker;
  }

  #answered(message: FromPlannerWorker): void {
    const waiting = this.#waiting.get(message.n);
    if (waiting === undefined) return;
    this.#waiting.delete(message.n);
    waiting.cancelTimer();
    if (waiting.mapId === this.#map?.mapId) waiting.resolve(message.result);
    else waiting.resolve({ ok: false, reason: 'no_map', message: 'the map was replaced meanwhile' });
  }

  #timedOut(n: number): void {
    if (!this.#waiting.has(n)) return;
    this.#counters.planner_timeouts++;
    this.#log.warn({ timeoutMs: this.#timeoutMs }, 'A plan took too long; the planner thread is replaced');
    this.#rejectAll(new Refusal('TIMEOUT', `planning took longer than ${this.#timeoutMs} ms`));
    void this.#dropWorker();
  }

  #crashed(worker: PlannerWorker | null, reason: string): void {
    if (worker !== this.#worker) return;
    this.#counters.planner_crashes++;
    this.#log.error({ reason }, 'The planner thread ended; another one takes over its plans');
    void this.#dropWorker();
    for (const [n, waiting] of [...this.#waiting]) {
      if (waiting.attempts < MAX_ATTEMPTS) this.#send(n);
      else this.#settle(n, new Refusal('CAPABILITY_UNAVAILABLE', `the planner thread ended: ${reason}`));
    }
  }

  #rejectAll(reason: Refusal): void {
    for (const n of [...this.#waiting.keys()]) this.#settle(n, reason);
  }

  #settle(n: number, reason: Refusal): void {
    const waiting = this.#waiting.get(n);
    this.#waiting.delete(n);
    waiting?.cancelTimer();
    waiting?.reject(reason);
  }

  async #dropWorker(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }
}

/** The plain fields; a costmap carries more than a thread needs. */
function transferable(map: PlanningMap): PlanningMap {
  return { mapId: map.mapId, geometry: map.geometry, inflation: map.inflation, cost: map.cost };
}

/** The daemon's side of its beat thread: starts it, keeps it running, and reports the main loop's progress. */
import { Worker } from 'node:worker_threads';
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import { entryPath } from '../../config/contracts/entry.js';
import { errorText } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import { HEARTBEAT_EVERY_MS } from '../../config/contracts/rt-protocol.js';
import type { BeatWorkerData } from './beat-worker.js';
import { type CommitWatch, Liveness } from './liveness.js';

/** A thread that died is started again after this long, ms. */
const RESTART_MS = 100;

export interface BeatSenderOptions {
  /** The machine's clock: the beat means real time. */
  clock: Clock;
  socketPath: string;
  log: Log;
}

export class BeatSender {
  readonly #options: BeatSenderOptions;
  readonly #liveness = new Liveness();
  #worker: Worker | null = null;
  #cancelProgress: CancelTimer = () => {};
  #cancelRestart: CancelTimer = () => {};
  #restarts = 0;

  constructor(options: BeatSenderOptions) {
    this.#options = options;
  }

  start(): void {
    this.#cancelProgress = this.#options.clock.every(HEARTBEAT_EVERY_MS, () =>
      this.#worker?.postMessage(null),
    );
    this.#run();
  }

  async stop(): Promise<void> {
    this.#cancelProgress();
    this.#cancelRestart();
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  /** To be told by the store when a commit begins and ends. */
  get commits(): CommitWatch {
    return this.#liveness;
  }

  counters(): Record<string, number> {
    return { beats_answered: this.#liveness.answers, beat_thread_restarts: this.#restarts };
  }

  #run(): void {
    const workerData: BeatWorkerData = {
      socketPath: this.#options.socketPath,
      shared: this.#liveness.shared,
    };
    const worker = new Worker(entryPath(import.meta.url, './beat-worker.js'), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    });
    this.#worker = worker;
    worker.on('error', (error) =>
      this.#options.log.error({ error: errorText(error) }, 'the beat thread failed'),
    );
    worker.on('exit', () => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      this.#restarts += 1;
      this.#cancelRestart = this.#options.clock.after(RESTART_MS, () => this.#run());
    });
    worker.unref();
  }
}

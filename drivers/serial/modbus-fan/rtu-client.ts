/**
 * Sends Modbus RTU requests one at a time over a line that others hold open, and matches the answers. Time-outs
 * run on the robot's clock. Why this is not a library: docs/decisions/modbus-client.md.
 */
import type { CancelTimer, Clock } from '../../../config/contracts/clock.js';
import { type RtuAnswer, takeAnswer } from './rtu.js';

export type RtuFault = 'timeout' | 'crc' | 'mismatch' | 'exception' | 'not_connected' | 'queue_full';

export class RtuError extends Error {
  override readonly name = 'RtuError';
  constructor(
    readonly fault: RtuFault,
    message: string,
  ) {
    super(message);
  }
}

export interface RtuClientOptions {
  clock: Clock;
  /** False when the bytes cannot go out. */
  send: (bytes: Uint8Array) => boolean;
  /** Called for each fault, also for those that a retry mends. */
  onFault: (fault: RtuFault) => void;
  /** From the request to the whole answer, ms. */
  timeoutMs: number;
  /** Tries after the first. */
  retries: number;
  /** Sets the pause between frames. */
  baudRate: number;
}

interface Job {
  request: Uint8Array;
  what: string;
  triesLeft: number;
  resolve: (registers: number[]) => void;
  reject: (error: RtuError) => void;
}

const QUEUE_LIMIT = 16;
/**
 * After a fault the line is left alone for this long: RTU answers carry no number, so one that comes late would
 * pass for the answer to the next request.
 */
const RECOVERY_MS = 50;

const EXCEPTIONS: Readonly<Record<number, string>> = {
  1: 'function not supported',
  2: 'no such register',
  3: 'value not allowed',
  4: 'device failure',
  5: 'accepted, still working',
  6: 'busy',
};
/** Exceptions that may be gone with the next try. */
const PASSING = new Set([5, 6]);

export class RtuClient {
  readonly #options: RtuClientOptions;
  /** Silence that ends a frame: 3.5 characters of 11 bits, and never less than 1.75 ms. */
  readonly #pauseMs: number;
  readonly #queue: Job[] = [];
  #received: Uint8Array = new Uint8Array(0);
  #active: Job | null = null;
  #cancelTimer: CancelTimer = () => {};
  #paused = false;

  constructor(options: RtuClientOptions) {
    this.#options = options;
    this.#pauseMs = Math.max(1.75, (3.5 * 11 * 1000) / options.baudRate);
  }

  /** Resolves with the registers read; rejects with an `RtuError`. `what` names the request in messages. */
  request(request: Uint8Array, what: string): Promise<number[]> {
    return new Promise((resolve, reject) => {
      if (this.#queue.length >= QUEUE_LIMIT) {
        this.#options.onFault('queue_full');
        reject(new RtuError('queue_full', `${what}: ${QUEUE_LIMIT} requests are waiting already`));
        return;
      }
      this.#queue.push({ request, what, triesLeft: this.#options.retries, resolve, reject });
      this.#next();
    });
  }

  /** Bytes from the line. */
  receive(bytes: Uint8Array): void {
    const job = this.#active;
    // Nobody asked: the rest of a damaged answer, or one that came too late.
    if (job === null) return;
    this.#received = Uint8Array.from([...this.#received, ...bytes]);
    const answer = takeAnswer(job.request, this.#received);
    if (answer.state !== 'incomplete') this.#answered(job, answer);
  }

  /** The line is gone: everything that waits is rejected. */
  closed(): void {
    this.#cancelTimer();
    this.#paused = false;
    const jobs = this.#active === null ? this.#queue.splice(0) : [this.#active, ...this.#queue.splice(0)];
    this.#active = null;
    for (const job of jobs) job.reject(new RtuError('not_connected', `${job.what}: not connected`));
  }

  #next(): void {
    if (this.#active !== null || this.#paused) return;
    const job = this.#queue.shift();
    if (job === undefined) return;
    this.#active = job;
    this.#received = new Uint8Array(0);
    // The timer runs first: in memory the answer comes before `send` returns.
    const { clock, timeoutMs } = this.#options;
    this.#cancelTimer = clock.after(timeoutMs, () =>
      this.#failed(job, 'timeout', `no answer in ${timeoutMs} ms`),
    );
    if (this.#options.send(job.request)) return;
    this.#cancelTimer();
    this.#active = null;
    job.reject(new RtuError('not_connected', `${job.what}: not connected`));
    this.#next();
  }

  #answered(job: Job, answer: Exclude<RtuAnswer, { state: 'incomplete' }>): void {
    if (answer.state === 'bad') {
      this.#failed(job, answer.why, answer.why === 'crc' ? 'damaged answer' : 'an answer to something else');
      return;
    }
    if (answer.state === 'exception') {
      const text = EXCEPTIONS[answer.code] ?? 'unknown exception';
      if (!PASSING.has(answer.code)) job.triesLeft = 0;
      this.#failed(job, 'exception', `refused: ${text} (exception ${answer.code})`);
      return;
    }
    this.#cancelTimer();
    this.#active = null;
    this.#pause(this.#pauseMs);
    job.resolve(answer.registers);
  }

  #failed(job: Job, fault: RtuFault, message: string): void {
    this.#cancelTimer();
    this.#active = null;
    this.#options.onFault(fault);
    if (job.triesLeft > 0) {
      job.triesLeft -= 1;
      this.#queue.unshift(job);
    } else {
      job.reject(new RtuError(fault, `${job.what}: ${message}`));
    }
    this.#pause(RECOVERY_MS);
  }

  #pause(ms: number): void {
    this.#paused = true;
    this.#cancelTimer = this.#options.clock.after(ms, () => {
      this.#paused = false;
      this.#next();
    });
  }
}

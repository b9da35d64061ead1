/**
 * Whether the daemon's main loop is alive, in memory that a thread beside it can read. Only the beat thread
 * turns it into heartbeats (`beat-worker.ts`).
 */

/** Indices into the shared numbers. */
const PROGRESS = 0;
const COMMIT = 1;
const ANSWERED = 2;
const SIZE = 3;

/** Without progress for longer than this the thread falls silent, ms. */
const PROGRESS_LIMIT_MS = 200;
/** A commit excuses missing progress for this long and no longer, ms. */
const COMMIT_EXCUSE_MS = 2000;

/** Around a commit of the store: it holds up the main loop without anything being wrong. */
export interface CommitWatch {
  began(): void;
  ended(): void;
}

/** Written by the main loop, read by the thread; the other way round for `answered`. */
export class Liveness implements CommitWatch {
  readonly shared: SharedArrayBuffer;
  readonly #numbers: Int32Array;

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(SIZE * Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#numbers = new Int32Array(shared);
  }

  /** The main loop has come round. */
  progressed(): void {
    Atomics.add(this.#numbers, PROGRESS, 1);
  }

  began(): void {
    const count = Atomics.load(this.#numbers, COMMIT);
    if (count % 2 === 0) Atomics.add(this.#numbers, COMMIT, 1);
  }

  ended(): void {
    const count = Atomics.load(this.#numbers, COMMIT);
    if (count % 2 !== 0) Atomics.add(this.#numbers, COMMIT, 1);
  }

  /** Beats that the motion process has answered since the thread started. */
  answered(): void {
    Atomics.add(this.#numbers, ANSWERED, 1);
  }

  get answers(): number {
    return Atomics.load(this.#numbers, ANSWERED);
  }

  get progress(): number {
    return Atomics.load(this.#numbers, PROGRESS);
  }

  /** Odd while a commit is in progress; another number for each. */
  get commit(): number {
    return Atomics.load(this.#numbers, COMMIT);
  }
}

/** Decides, beat by beat, whether the main loop counts as alive. Pure but for what it remembers. */
export class LivenessJudge {
  #progress: number | null = null;
  #progressMono = 0;
  #commit = 0;
  #commitMono = 0;

  /** `mono`: ms. Called at each beat with what stands in the shared memory. */
  alive(mono: number, progress: number, commit: number): boolean {
    if (progress !== this.#progress) {
      this.#progress = progress;
      this.#progressMono = mono;
    }
    if (commit !== this.#commit) {
      this.#commit = commit;
      this.#commitMono = mono;
    }
    if (mono - this.#progressMono <= PROGRESS_LIMIT_MS) return true;
    return commit % 2 !== 0 && mono - this.#commitMono <= COMMIT_EXCUSE_MS;
  }
}

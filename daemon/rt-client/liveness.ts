/**
 * What the daemon's main loop and its beat thread (`beat-worker.ts`) tell each other through memory, beside the
 * message by which the main loop says that it has come round.
 */

/** Indices into the shared numbers. */
const COMMIT = 0;
const ANSWERED = 1;
const SIZE = 2;

/** A commit excuses a main loop that does not come round for this long and no longer, ms. */
const COMMIT_EXCUSE_MS = 2000;
/** Being kept from the processor by others excuses it until so long after it last came round, ms. */
const STARVED_EXCUSE_MS = 200;
/** A thread that got less than this share of the time in which it wanted to run was kept from it. */
const STARVED_SHARE = 0.2;

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

  /** Odd while a commit is in progress; another number for each. */
  get commit(): number {
    return Atomics.load(this.#numbers, COMMIT);
  }
}

/** Decides whether a main loop that does not come round is excused. Pure but for what it remembers. */
export class CommitExcuse {
  #commit = 0;
  #commitMono = 0;

  /** `mono`: ms. Called every now and then with what stands in the shared memory. */
  holds(mono: number, commit: number): boolean {
    if (commit !== this.#commit) {
      this.#commit = commit;
      this.#commitMono = mono;
    }
    return commit % 2 !== 0 && mono - this.#commitMono <= COMMIT_EXCUSE_MS;
  }
}

/** The main thread as the scheduler sees it. */
export interface ThreadSeen {
  /** It runs, or would if there were a processor for it. */
  runnable: boolean;
  /** Time on a processor since it began, ms. */
  ranMs: number;
}

/**
 * Tells a main loop that hangs (it runs and does not come round, or waits for something) from one that is late because
 * the machine has no processor for it. Pure but for what it remembers.
 */
export class StarvationExcuse {
  #before: (ThreadSeen & { mono: number }) | null = null;

  /** The main loop has come round. */
  reset(): void {
    this.#before = null;
  }

  /** Called every now and then while it does not. `late`: ms since it last did; `seen`: null where nobody can tell. */
  holds(mono: number, late: number, seen: ThreadSeen | null): boolean {
    const before = this.#before;
    this.#before = seen === null ? null : { ...seen, mono };
    if (before === null || seen === null || late > STARVED_EXCUSE_MS) return false;
    const share = (seen.ranMs - before.ranMs) / (mono - before.mono);
    return before.runnable && seen.runnable && share < STARVED_SHARE;
  }
}

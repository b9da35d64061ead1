/**
 * Stops and pauses whose proof is still awaited. What would set the same thing in motion again waits until they are
 * over: otherwise a stop that worked could not be told from one that did not.
 */
export class PendingStops {
  readonly #pending = new Set<Promise<unknown>>();

  get any(): boolean {
    return this.#pending.size > 0;
  }

  /** Hands `proof` back; it is pending until it settles. */
  track<T>(proof: Promise<T>): Promise<T> {
    const over = proof.then(
      () => undefined,
      () => undefined,
    );
    this.#pending.add(over);
    void over.then(() => this.#pending.delete(over));
    return proof;
  }

  /** Resolves when none is pending, proven or given up; rejects with the signal's reason. */
  async over(signal: AbortSignal): Promise<void> {
    while (this.any) {
      signal.throwIfAborted();
      await settledOrAborted([...this.#pending], signal);
    }
    signal.throwIfAborted();
  }
}

function settledOrAborted(promises: readonly Promise<unknown>[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end, { once: true });
    void Promise.all(promises).then(end);
  });
}

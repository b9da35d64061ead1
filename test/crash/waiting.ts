/** Waiting in real time, with a limit to every wait. */

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Wakes those who wait for something to become true, whenever something may have changed. */
export class Bell {
  readonly #waiting = new Set<() => void>();

  ring(): void {
    for (const look of [...this.#waiting]) look();
  }

  /** True once `done` is; false when it is not within `ms`. */
  until(done: () => boolean, ms: number): Promise<boolean> {
    if (done()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const finish = (answer: boolean) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(answer);
      };
      const look = () => {
        if (done()) finish(true);
      };
      const timer = setTimeout(() => finish(done()), ms);
      this.#waiting.add(look);
    });
  }
}

/** Tasks that wait for their turn, best first: one line per `queueKey`, and the candidates that wait for leases. */
import type { Contender } from './conflicts.js';

export interface Waiting extends Contender {
  n: number;
  /** Smaller goes first. */
  rank: number;
}

/**
 * Priority first, then age; and because a point of priority is worth so much waiting, nobody starves. The order of
 * two waiting tasks never changes with time, so a sorted line stays sorted.
 */
export function rankOf(priority: number, createdAt: number, ageingMsPerPoint: number): number {
  return createdAt / ageingMsPerPoint - priority;
}

export function before(a: Waiting, b: Waiting): number {
  return a.rank - b.rank || a.n - b.n;
}

/** A line kept in order by binary insertion. */
export class Line {
  readonly #items: Waiting[] = [];

  get length(): number {
    return this.#items.length;
  }

  first(): Waiting | null {
    return this.#items[0] ?? null;
  }

  add(item: Waiting): void {
    this.#items.splice(this.#place(item), 0, item);
  }

  has(item: Waiting): boolean {
    return this.#items[this.#place(item)] === item;
  }

  /** True when it was in. */
  remove(item: Waiting): boolean {
    const at = this.#place(item);
    if (this.#items[at] !== item) return false;
    this.#items.splice(at, 1);
    return true;
  }

  [Symbol.iterator](): IterableIterator<Waiting> {
    return this.#items[Symbol.iterator]();
  }

  snapshot(): Waiting[] {
    return [...this.#items];
  }

  /** The first index whose item does not go before `item`. */
  #place(item: Waiting): number {
    let low = 0;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#items[middle];
      if (other !== undefined && before(other, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

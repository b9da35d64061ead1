/** The internal bus of domain events. Listeners are called in order of subscription, inside `emit`. */
import type { DomainEvent } from '../../config/contracts/wire/events.js';

export type DomainListener = (event: DomainEvent) => void;

export class DomainBus {
  readonly #listeners = new Set<DomainListener>();
  readonly #onError: (error: unknown, event: DomainEvent) => void;
  #depth = 0;

  /** `onError`: a listener threw; the others are still called. */
  constructor(onError: (error: unknown, event: DomainEvent) => void) {
    this.#onError = onError;
  }

  on(listener: DomainListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(event: DomainEvent): void {
    if (this.#depth >= MAX_DEPTH) {
      this.#onError(new Error(`events raise each other more than ${MAX_DEPTH} deep`), event);
      return;
    }
    this.#depth++;
    try {
      for (const listener of [...this.#listeners]) {
        try {
          listener(event);
        } catch (error) {
          this.#onError(error, event);
        }
      }
    } finally {
      this.#depth--;
    }
  }
}

/** Events that raise events that raise events: a loop, not a design. */
const MAX_DEPTH = 8;

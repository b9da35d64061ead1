import type { Clock } from '../../config/contracts/clock.js';
import type { SessionFacts } from './types.js';

type Listener = (facts: SessionFacts) => void;

/** Keeps the facts of a connection apart, each with the time it last changed. */
export class FactKeeper {
  readonly #clock: Clock;
  readonly #listeners = new Set<Listener>();
  #facts: SessionFacts = {
    transport_connected: false,
    subscription_ready: false,
    transport_transition_at: null,
    subscription_transition_at: null,
    last_transition_at: null,
    last_publish_ack_at: null,
    last_publish_error: null,
  };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  current(): SessionFacts {
    return { ...this.#facts };
  }

  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  set(change: Partial<Pick<SessionFacts, 'transport_connected' | 'subscription_ready'>>): void {
    const now = this.#clock.now();
    const next: SessionFacts = { ...this.#facts, ...change };
    const transport = next.transport_connected !== this.#facts.transport_connected;
    const subscription = next.subscription_ready !== this.#facts.subscription_ready;
    if (!transport && !subscription) return;
    if (transport) next.transport_transition_at = now;
    if (subscription) next.subscription_transition_at = now;
    next.last_transition_at = now;
    this.#facts = next;
    for (const listener of this.#listeners) listener(this.current());
  }

  acknowledged(): void {
    this.#facts.last_publish_ack_at = this.#clock.now();
  }

  error(text: string): void {
    this.#facts.last_publish_error = text.slice(0, 200);
  }
}

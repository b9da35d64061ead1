/**
 * XState machines used as pure functions: `(state, event) → [next, effects]`. A machine lists its effects as
 * `{type: 'effect', params: …}` actions; nothing is ever executed by XState itself, and no actor is started.
 */
import { type AnyStateMachine, initialTransition, type StateValue, transition } from 'xstate';
import type { PersistedSnapshot } from './types.js';

export interface MachineState<Context> {
  readonly value: StateValue;
  readonly context: Context;
}

export interface PureMachine<Context, Event, Effect> {
  initial(): MachineState<Context>;
  next(state: MachineState<Context>, event: Event): { state: MachineState<Context>; effects: Effect[] };
}

interface EffectAction<Effect> {
  type: string;
  params: Effect;
}

/** Wraps a machine whose only own action is `effect`. */
export function pureMachine<Context, Event extends { type: string }, Effect>(
  machine: AnyStateMachine,
): PureMachine<Context, Event, Effect> {
  return {
    initial() {
      const [snapshot] = initialTransition(machine);
      return { value: snapshot.value, context: snapshot.context };
    },
    next(state, event) {
      const from = machine.resolveState({ value: state.value, context: state.context });
      const [snapshot, actions] = transition(machine, from, event);
      const effects = (actions as unknown as EffectAction<Effect>[])
        .filter((action) => action.type === 'effect')
        .map((action) => action.params);
      return { state: { value: snapshot.value, context: snapshot.context }, effects };
    },
  };
}

/** `{recovering: 'backingUp'}` → `recovering.backingUp`. */
export function stateName(value: StateValue): string {
  if (typeof value === 'string') return value;
  const [name, inner] = Object.entries(value)[0] ?? [];
  if (name === undefined) return '';
  return inner === undefined ? name : `${name}.${stateName(inner)}`;
}

/** Holds one machine's state: feeds it events one at a time and carries its effects out in order. */
export class MachineHost<Context, Event extends { type: string }, Effect> {
  readonly #machine: PureMachine<Context, Event, Effect>;
  readonly #perform: (effect: Effect) => void;
  readonly #save: (snapshot: Omit<PersistedSnapshot, 'savedAt'>) => void;
  readonly #durable: (context: Context) => unknown;
  readonly #queue: Event[] = [];
  #state: MachineState<Context>;
  #saved = '';
  #running = false;

  /**
   * `durable`: the part of the context worth a write; a transition that changes neither it nor the state value is
   * not saved.
   */
  constructor(
    machine: PureMachine<Context, Event, Effect>,
    options: {
      perform: (effect: Effect) => void;
      save: (snapshot: Omit<PersistedSnapshot, 'savedAt'>) => void;
      durable: (context: Context) => unknown;
    },
  ) {
    this.#machine = machine;
    this.#perform = options.perform;
    this.#save = options.save;
    this.#durable = options.durable;
    this.#state = machine.initial();
  }

  get context(): Context {
    return this.#state.context;
  }
  get stage(): string {
    return stateName(this.#state.value);
  }

  /** Events sent from within an effect wait until the present one is done. */
  send(event: Event): void {
    this.#queue.push(event);
    if (this.#running) return;
    this.#running = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) this.#step(next);
    } finally {
      this.#running = false;
      this.#queue.length = 0;
    }
  }

  #step(event: Event): void {
    const { state, effects } = this.#machine.next(this.#state, event);
    this.#state = state;
    const print = JSON.stringify([state.value, this.#durable(state.context)]);
    if (print !== this.#saved) {
      this.#saved = print;
      this.#save({ value: state.value, context: state.context });
    }
    for (const effect of effects) this.#perform(effect);
  }
}

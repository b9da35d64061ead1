/**
 * XState machines used as pure functions: `(state, event) → [next, effects]`. A machine lists its effects as
 * `{type: 'effect', params: …}` actions; nothing is ever executed by XState itself, and no actor is started.
 */
import { type AnyStateMachine, initialTransition, type StateValue, transition } from 'xstate';

export interface MachineState<Context> {
  readonly value: StateValue;
  readonly context: Context;
}

export interface PureMachine<Context, Event, Effect> {
  initial(): MachineState<Context>;
  next(state: MachineState<Context>, event: Event): { state: MachineState<Context>; effects: Effect[] };
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
      const effects = actions.flatMap((action: { type: string; params?: unknown }) =>
        action.type === 'effect' ? [action.params as Effect] : [],
      );
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

/** Building blocks that every machine's transitions are made of. */
import { assign, type EventObject, type MachineContext } from 'xstate';

/** Effects that every runner knows. */
export type CommonEffect =
  | { kind: 'timer'; name: string; ms: number }
  | { kind: 'cancelTimer'; name: string }
  | { kind: 'stage'; stage: string; data: Record<string, unknown> };

export interface MachineArgs<Context, Event> {
  context: Context;
  event: Event;
}

export function machineTools<Context extends MachineContext, Event extends EventObject, Own>() {
  type Args = MachineArgs<Context, Event>;
  const effect = (make: (args: Args) => CommonEffect | Own) => ({ type: 'effect' as const, params: make });
  return {
    effect,
    timer: (name: string, ms: (args: Args) => number) =>
      effect((args) => ({ kind: 'timer', name, ms: ms(args) })),
    cancelTimer: (name: string) => effect(() => ({ kind: 'cancelTimer', name })),
    /** Changes the context. */
    patch: (change: (args: Args) => Partial<Context>) =>
      assign<Context, Event, undefined, Event, never>(change),
  };
}

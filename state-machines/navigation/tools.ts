/** The building blocks of the navigation machine's transitions. */
import { setup } from 'xstate';
import type { TaskReason } from '../../config/contracts/reason-codes.js';
import { machineTools } from '../tools.js';
import { failed } from './judge.js';
import type { Ending, NavigationContext, NavigationEffect, NavigationEvent, Problem } from './types.js';
import type { Args } from './updates.js';
import * as update from './updates.js';

export const navigationSetup = setup({
  types: { context: {} as NavigationContext, events: {} as NavigationEvent },
  actions: { effect: (_args, _effect: NavigationEffect) => {} },
});

export function navigationTools() {
  const tools = machineTools<NavigationContext, NavigationEvent, NavigationEffect>();
  const { effect, patch } = tools;
  const end = (ending: (args: Args) => Ending) => patch((args) => ({ ending: ending(args) }));
  const setProblem = (problem: (args: Args) => Problem) => patch((args) => ({ problem: problem(args) }));
  return {
    ...tools,
    end,
    setProblem,
    endFailed: (reason: TaskReason, message: string) =>
      end(({ event }) => failed(reason, message, update.factsAt(event))),
    stage: (name: string, data: (args: Args) => Record<string, unknown> = () => ({})) =>
      effect((args) => ({
        kind: 'stage',
        stage: name,
        data: { ...update.whither(args.context), ...data(args) },
      })),
    halt: (reason: string) => effect(() => ({ kind: 'halt', reason })),
    /** What a refused request leads to: a part that may come back is waited for. */
    rejected: () =>
      [
        {
          guard: ({ event }: Args) => event.type === 'REJECTED' && event.reason === 'HARDWARE_FAULT',
          target: '#navigation.recovering.awaitingSensors',
          actions: setProblem(update.problemFrom),
        },
        { target: '#navigation.stopping', actions: end(update.rejection) },
      ] as const,
  };
}

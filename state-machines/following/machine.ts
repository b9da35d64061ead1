/**
 * The following machine: `seeking → following ⇄ near ⇄ looking ⇄ barred`, by what the motion process says that it
 * does. It tells when the session has really begun, and ends it when the battery is needed for the way home.
 */
import { setup } from 'xstate';
import { batteryLow } from '../navigation/judge.js';
import { type PureMachine, pureMachine } from '../pure.js';
import type { FollowingContext, FollowingEffect, FollowingEvent } from './types.js';

export type FollowingMachine = PureMachine<FollowingContext, FollowingEvent, FollowingEffect>;

/** Notes of the motion process that put the machine into a state. */
const NOTES: Record<string, readonly string[]> = {
  seeking: ['seeking_person'],
  following: ['following'],
  near: ['person_near'],
  looking: ['looking', 'waiting_for_person'],
  barred: ['waiting_for_obstacle', 'waiting_for_scan'],
};

export function createFollowingMachine(batteryReserve: () => number): FollowingMachine {
  const machine = setup({
    types: { context: {} as FollowingContext, events: {} as FollowingEvent },
    actions: { effect: (_args, _effect: FollowingEffect) => {} },
  });
  const effect = (params: FollowingEffect) => ({ type: 'effect', params }) as const;
  const began = machine.assign({
    startedAt: ({ context, event }) => context.startedAt ?? event.at,
  });
  const says = (state: string) => ({
    guard: ({ event }: { event: FollowingEvent }) =>
      event.type === 'NOTE' && event.note !== null && (NOTES[state] ?? []).includes(event.note),
    target: `.${state}`,
  });
  const isFirst = (state: string) => ({
    ...says(state),
    guard: (args: { context: FollowingContext; event: FollowingEvent }) =>
      args.context.startedAt === null && says(state).guard(args),
    actions: [began, effect({ kind: 'started' })],
  });
  const stage = (name: string) => ({ entry: effect({ kind: 'stage', stage: `follow.${name}` }) });
  return pureMachine(
    machine.createMachine({
      id: 'following',
      initial: 'seeking',
      context: { startedAt: null, batteryLow: false },
      on: {
        NOTE: [
          isFirst('following'),
          isFirst('near'),
          says('seeking'),
          says('following'),
          says('near'),
          says('looking'),
          says('barred'),
        ],
        FACTS: {
          guard: ({ context, event }) => !context.batteryLow && batteryLow(event.facts, batteryReserve()),
          actions: [machine.assign({ batteryLow: true }), effect({ kind: 'low_battery' })],
        },
      },
      states: {
        seeking: stage('seeking'),
        following: stage('following'),
        near: stage('near'),
        looking: stage('looking'),
        barred: stage('barred'),
      },
    }),
  );
}

/**
 * The mapping machine: `idle → starting → ready`, from there `exploring` (`leaving → choosing ⇄ driving → returning`)
 * and back to `ready`, and through `saving` or `discarding` to `idle`. A person may drive while it is `ready`. Whatever
 * ends an exploration (a stop, an e-stop, a lost place), the map stays until it is saved or given up; only a motion
 * process that died takes it along.
 */
import { setup } from 'xstate';
import { type PureMachine, pureMachine } from '../pure.js';
import type { MachineSettings } from '../settings.js';
import { machineTools } from '../tools.js';
import type { MappingContext, MappingEffect, MappingEvent, MappingOutcome } from './types.js';
import type { Args } from './updates.js';
import * as update from './updates.js';

export type MappingMachine = PureMachine<MappingContext, MappingEvent, MappingEffect>;

export function createMappingMachine({ mapping: limits }: Pick<MachineSettings, 'mapping'>): MappingMachine {
  const { effect, timer, cancelTimer, patch } = machineTools<MappingContext, MappingEvent, MappingEffect>();
  const stage = (name: string) =>
    effect(({ context }) => ({
      kind: 'stage',
      stage: name,
      data: { visited: context.visited, unreachable: context.unreachable, frontiers: context.left },
    }));
  const finish = (outcome: (args: Args) => MappingOutcome) =>
    effect((args) => ({ kind: 'finish', outcome: outcome(args) }));
  const fail = finish((args) => update.failure(update.problemOf(args), args.event.at));
  const forget = patch(() => update.IDLE_MAPPING);
  const gone = { guard: ({ event }: Args) => event.type === 'MAPPING' && event.mapping === null };

  const machine = setup({
    types: { context: {} as MappingContext, events: {} as MappingEvent },
    actions: { effect: (_args, _effect: MappingEffect) => {} },
  }).createMachine({
    id: 'mapping',
    initial: 'idle',
    context: update.IDLE_MAPPING,
    on: { CLOCK_SET: { actions: patch(update.shiftTimes) } },
    states: {
      idle: {
        entry: [cancelTimer('session'), forget],
        on: {
          BEGIN: {
            target: 'starting',
            actions: patch(({ event }) => (event.type === 'BEGIN' ? { mode: event.mode } : {})),
          },
        },
      },

      starting: {
        entry: [
          stage('map.starting'),
          effect(() => ({ kind: 'begin' })),
          timer('start', () => limits.startMs),
        ],
        exit: cancelTimer('start'),
        on: {
          MAPPING: {
            // Scans have gone into it: it can be driven by.
            guard: ({ event }) => event.mapping !== null && event.mapping.scans > 0,
            target: 'ready',
            actions: [
              patch(({ event }) => ({ begunAt: event.at })),
              patch(update.seenBody),
              timer('session', () => limits.sessionMs),
              stage('map.mapping_started'),
              finish(({ event }) => ({ kind: 'begun', observedAtMs: event.at })),
            ],
          },
          REFUSED: { target: 'idle', actions: fail },
          STOP: { target: 'discarding' },
          TIMER: { target: 'discarding', actions: fail },
        },
      },

      /** A map grows with every scan; nothing of this machine drives. */
      ready: {
        on: {
          MAPPING: [{ ...gone, target: 'idle' }, { actions: patch(update.seenBody) }],
          EXPLORE: {
            target: 'exploring',
            actions: [
              patch(() => ({
                mode: 'explore',
                avoid: [],
                target: null,
                visited: 0,
                unreachable: 0,
                left: 0,
                overdue: false,
              })),
              timer('explore', () => limits.exploreMs),
            ],
          },
          SAVE: { target: 'saving' },
          DISCARD: { target: 'discarding' },
          TIMER: { guard: ({ event }) => event.name === 'session', target: 'shelving' },
        },
      },

      exploring: {
        initial: 'looking',
        exit: cancelTimer('explore'),
        on: {
          STOP: { target: 'halting' },
          MAPPING: [
            {
              ...gone,
              target: 'halting',
              actions: patch((args) => ({ ending: update.failure(update.problemOf(args), args.event.at) })),
            },
            { actions: patch(update.seenBody) },
          ],
          REFUSED: {
            target: 'halting',
            actions: patch((args) => ({ ending: update.failure(update.problemOf(args), args.event.at) })),
          },
          TIMER: {
            guard: ({ event }) => event.name === 'explore' || event.name === 'session',
            actions: patch(() => ({ overdue: true })),
          },
        },
        states: {
          /** Where it stands, before anything moves. */
          looking: {
            on: {
              MAPPING: [
                {
                  ...gone,
                  target: '#mapping.halting',
                  actions: patch((args) => ({
                    ending: update.failure(update.problemOf(args), args.event.at),
                  })),
                },
                {
                  guard: ({ event }) => event.pose !== null && event.docked === true,
                  target: 'leaving',
                  actions: [
                    patch(({ event }) => ({ start: event.type === 'MAPPING' ? event.pose : null })),
                    patch(update.seenBody),
                  ],
                },
                {
                  guard: ({ event }) => event.pose !== null && event.docked === false,
                  target: 'choosing',
                  actions: [
                    patch(({ event }) => ({ start: event.type === 'MAPPING' ? event.pose : null })),
                    patch(update.seenBody),
                  ],
                },
              ],
            },
          },

          leaving: {
            entry: [stage('map.leaving_station'), effect(() => ({ kind: 'leave' }))],
            on: {
              LEG_ENDED: [
                { guard: ({ event }) => event.problem === null, target: 'choosing' },
                {
                  target: '#mapping.halting',
                  actions: patch((args) => ({
                    ending: update.failure(update.problemOf(args), args.event.at),
                  })),
                },
              ],
            },
          },

          choosing: {
            entry: effect(({ context }) => ({ kind: 'ask', current: null, avoid: context.avoid })),
            exit: cancelTimer('look'),
            on: {
              TIMER: {
                guard: ({ event }) => event.name === 'look',
                actions: effect(({ context }) => ({ kind: 'ask', current: null, avoid: context.avoid })),
              },
              FRONTIER: [
                { guard: update.isTooEarly, actions: timer('look', () => limits.lookMs) },
                {
                  guard: ({ context, event }) => event.result.next === null || context.overdue,
                  target: 'returning',
                  actions: patch(({ event }) =>
                    event.type === 'FRONTIER' ? { left: event.result.count } : {},
                  ),
                },
                {
                  target: 'driving',
                  actions: patch(({ event }) =>
                    event.type === 'FRONTIER'
                      ? { left: event.result.count, target: event.result.next?.pose ?? null }
                      : {},
                  ),
                },
              ],
            },
          },

          driving: {
            entry: [
              stage('map.exploring'),
              effect(({ context }) => ({ kind: 'travel', to: context.target ?? { x: 0, y: 0, theta: 0 } })),
              timer('look', () => limits.lookMs),
            ],
            exit: cancelTimer('look'),
            on: {
              TIMER: [
                {
                  guard: ({ event }) => event.name === 'look',
                  actions: [
                    effect(({ context: { target, avoid } }) => ({
                      kind: 'ask',
                      current: target === null ? null : { x: target.x, y: target.y },
                      avoid,
                    })),
                    timer('look', () => limits.lookMs),
                  ],
                },
                { actions: patch(() => ({ overdue: true })) },
              ],
              FRONTIER: {
                guard: ({ event }) => event.result.currentStands === false,
                target: 'breakingOff',
              },
              LEG_ENDED: [
                {
                  // Home as long as the battery lasts; that it was not finished is told there.
                  guard: ({ event }) => event.problem?.reason === 'LOW_BATTERY',
                  target: 'returning',
                  actions: patch((args) => ({
                    ending: update.failure(update.problemOf(args), args.event.at),
                  })),
                },
                {
                  guard: ({ event }) => update.isHopeless(event.problem),
                  target: '#mapping.halting',
                  actions: patch((args) => ({
                    ending: update.failure(update.problemOf(args), args.event.at),
                  })),
                },
                { target: 'choosing', actions: patch(update.legEnded) },
              ],
            },
          },

          /** What it drove to has been seen from afar: the way ends here. */
          breakingOff: {
            entry: effect(() => ({ kind: 'endLeg' })),
            on: { LEG_ENDED: { target: 'choosing', actions: patch(update.seenFromAfar) } },
          },

          returning: {
            entry: [
              stage('map.returning'),
              effect(({ context }) =>
                context.station === null
                  ? { kind: 'travel', to: context.start ?? { x: 0, y: 0, theta: 0 } }
                  : { kind: 'dock', station: context.station },
              ),
            ],
            on: {
              LEG_ENDED: {
                target: '#mapping.ready',
                actions: [
                  stage('map.explored'),
                  finish(update.explored),
                  patch(() => ({ ending: null, target: null })),
                ],
              },
            },
          },
        },
      },

      /** The wheels are proven to stand still before anybody is told that it ended. */
      halting: {
        entry: [effect(() => ({ kind: 'endLeg' })), effect(() => ({ kind: 'proveStop' }))],
        on: {
          STOP_PROVEN: {
            target: 'ready',
            actions: [
              finish(({ context, event }) => {
                if (context.ending !== null) return context.ending;
                const { observedAtMs, stoppedForMs } =
                  event.type === 'STOP_PROVEN' ? event : { observedAtMs: event.at, stoppedForMs: 0 };
                return { kind: 'stopped', observedAtMs, stoppedForMs };
              }),
              patch(() => ({ ending: null, target: null })),
            ],
          },
          REFUSED: {
            target: 'ready',
            actions: [fail, patch(() => ({ ending: null, target: null }))],
          },
        },
      },

      saving: {
        entry: [stage('map.saving'), effect(() => ({ kind: 'save' }))],
        on: { DONE: { target: 'idle' }, REFUSED: { target: 'ready' }, MAPPING: {} },
      },

      discarding: {
        entry: [stage('map.discarding'), effect(() => ({ kind: 'discard' }))],
        on: { DONE: { target: 'idle' }, REFUSED: { target: 'idle' }, MAPPING: {} },
      },

      shelving: {
        entry: [stage('map.saving'), effect(() => ({ kind: 'shelve' }))],
        on: { DONE: { target: 'idle' }, REFUSED: { target: 'idle' }, MAPPING: {} },
      },
    },
  });
  return pureMachine(machine);
}

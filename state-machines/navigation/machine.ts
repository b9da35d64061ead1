/**
 * The navigation machine: `idle → planning → driving → (avoiding | recovering | paused) → arriving → idle`, and
 * `stopping`, through which every journey ends that does not arrive: its end is told only once the wheels are
 * seen standing still. `deciding` is passed through at once; it takes the next rung of the recovery ladder.
 */
import { assign } from 'xstate';
import { isStill, seenAfter } from '../body.js';
import { type PureMachine, pureMachine } from '../pure.js';
import type { MachineSettings } from '../settings.js';
import { batteryLow, failed, ladderEnding } from './judge.js';
import { recovering } from './recovering.js';
import { navigationSetup, navigationTools } from './tools.js';
import type { Ending, NavigationContext, NavigationEffect, NavigationEvent } from './types.js';
import type { Args } from './updates.js';
import * as update from './updates.js';

export type NavigationMachine = PureMachine<NavigationContext, NavigationEvent, NavigationEffect>;

/** What the follower says in its note while something stands in its way. */
const OBSTACLE_NOTES: readonly (string | null)[] = ['avoiding', 'waiting_for_obstacle'];

const isUnreachable = (ending: Ending) => ending.kind === 'failed' && ending.reason === 'TARGET_UNREACHABLE';

const inTheWay = ({ event }: Args) => event.type === 'RUNNING' && OBSTACLE_NOTES.includes(event.note);

export function createNavigationMachine(settings: MachineSettings): NavigationMachine {
  const limits = settings.navigation;
  const { effect, stage, timer, cancelTimer, halt, end, endFailed, setProblem, rejected } = navigationTools();

  const machine = navigationSetup.createMachine({
    id: 'navigation',
    initial: 'idle',
    context: update.IDLE_NAVIGATION,
    on: {
      STOP: { target: '.stopping', actions: end(() => ({ kind: 'stopped' })) },
      STOPPED: { target: '.stopping', actions: end(() => ({ kind: 'stopped' })) },
      PAUSE: { target: '.paused' },
      LINK_LOST: { target: '.recovering.awaitingSensors', actions: setProblem(update.problemFrom) },
      CLOCK_SET: { actions: assign(update.shiftTimes) },
      SAFETY: {
        actions: assign(({ event }) => ({ lastCause: { condition: event.condition, at: event.at } })),
      },
      FACTS: [
        {
          guard: ({ event }) => event.facts.estop,
          target: '.stopping',
          actions: endFailed('EMERGENCY_STOP', 'the emergency stop is latched'),
        },
        {
          guard: ({ context, event }) =>
            context.journey?.ignoreBattery === false && batteryLow(event.facts, settings.batteryReserve()),
          target: '.stopping',
          actions: end(update.lowBattery),
        },
      ],
    },
    states: {
      idle: {
        on: {
          STOP: {},
          STOPPED: {},
          PAUSE: {},
          LINK_LOST: {},
          SAFETY: {},
          FACTS: {},
          GO: [
            { guard: ({ event }) => event.held, target: 'paused', actions: assign(update.begin) },
            { target: 'planning', actions: assign(update.begin) },
          ],
        },
      },

      planning: {
        entry: [
          assign(({ context }) => ({ round: context.round + 1 })),
          stage('navigation.planning'),
          effect(({ context }) => ({
            kind: 'plan',
            round: context.round,
            goal: update.goalOf(context).pose,
          })),
          timer('plan', () => limits.planMs),
        ],
        exit: cancelTimer('plan'),
        on: {
          PLANNED: [
            { guard: ({ context, event }) => event.round !== context.round },
            {
              guard: ({ event }) => event.result.ok,
              target: 'driving',
              actions: [effect(update.followEffect), assign({ driven: true })],
            },
            {
              guard: ({ event }) => !event.result.ok && event.result.reason === 'no_pose',
              target: 'recovering.localizing',
              actions: setProblem(update.problemFrom),
            },
            {
              guard: ({ event }) => !event.result.ok && event.result.reason === 'no_map',
              target: 'stopping',
              actions: endFailed('CAPABILITY_UNAVAILABLE', 'the motion process has no map loaded'),
            },
            {
              guard: ({ event }) => !event.result.ok && event.result.reason === 'off_map',
              target: 'stopping',
              actions: end(({ event }) => failed('TARGET_UNREACHABLE', update.messageOf(event), event.at)),
            },
            { target: 'deciding', actions: setProblem(update.problemFrom) },
          ],
          REJECTED: rejected(),
          TIMER: {
            target: 'stopping',
            actions: endFailed('HARDWARE_FAULT', `the planner did not answer within ${limits.planMs} ms`),
          },
        },
      },

      driving: {
        entry: stage('navigation.driving'),
        initial: 'clear',
        states: {
          clear: {
            on: {
              RUNNING: [
                {
                  guard: inTheWay,
                  target: 'around',
                  actions: assign((args) => update.noteProgress(args, settings)),
                },
                {
                  actions: [
                    assign((args) => update.noteProgress(args, settings)),
                    stage('navigation.driving', update.remaining),
                  ],
                },
              ],
            },
          },
          around: {
            entry: stage('navigation.avoiding'),
            on: {
              RUNNING: [
                {
                  guard: inTheWay,
                  actions: [
                    assign((args) => update.noteProgress(args, settings)),
                    stage('navigation.avoiding', update.remaining),
                  ],
                },
                { target: 'clear', actions: assign((args) => update.noteProgress(args, settings)) },
              ],
            },
          },
        },
        on: {
          SUCCEEDED: { target: 'arriving' },
          REJECTED: rejected(),
          FAILED: [
            {
              guard: ({ event }) => event.failure === 'blocked',
              target: 'deciding',
              actions: setProblem(update.problemFrom),
            },
            {
              guard: ({ event }) => event.failure === 'stuck' || event.failure === 'timeout',
              target: 'deciding',
              actions: [setProblem(update.problemFrom), assign((args) => update.skipWaiting(args, settings))],
            },
            {
              guard: ({ event }) => event.failure === 'safety_stop',
              target: 'recovering.judging',
              actions: setProblem(update.problemFrom),
            },
            {
              guard: ({ event }) => event.failure === 'localization_lost',
              target: 'recovering.localizing',
              actions: setProblem(update.problemFrom),
            },
            {
              guard: ({ event }) => event.failure === 'sensors_stale' || event.failure === 'hardware',
              target: 'recovering.awaitingSensors',
              actions: setProblem(update.problemFrom),
            },
            {
              target: 'stopping',
              actions: end(({ event }) => failed('HARDWARE_FAULT', update.messageOf(event), event.at)),
            },
          ],
        },
      },

      deciding: {
        always: [
          {
            guard: ({ context }) => update.rungIs(context, 'wait', settings),
            target: 'avoiding',
            actions: assign((args) => update.takeRung(args, settings)),
          },
          {
            guard: ({ context }) => update.rungIs(context, 'replan', settings),
            target: 'planning',
            actions: assign((args) => update.takeRung(args, settings)),
          },
          {
            guard: ({ context }) => update.rungIs(context, 'backUp', settings),
            target: 'recovering.backingUp',
            actions: assign((args) => update.takeRung(args, settings)),
          },
          {
            guard: ({ context }) => update.rungIs(context, 'rotate', settings),
            target: 'recovering.rotating',
            actions: assign((args) => update.takeRung(args, settings)),
          },
          {
            guard: ({ context, event }) => isUnreachable(ladderEnding(context, event.at)),
            target: 'stopping',
            actions: end(({ context, event }) => ladderEnding(context, event.at)),
          },
          {
            target: 'stopping',
            actions: [
              effect(({ context, event }) => ({
                kind: 'obstructed',
                problem: context.problem ?? update.problemFrom({ context, event }),
              })),
              end(({ context, event }) => ladderEnding(context, event.at)),
            ],
          },
        ],
      },

      avoiding: {
        entry: [
          stage('navigation.avoiding', ({ context }) => ({ waiting_for: context.problem?.message ?? null })),
          timer('wait', ({ context }) => update.takenRung(context, 'wait')?.ms ?? 0),
        ],
        exit: cancelTimer('wait'),
        on: { TIMER: { target: 'planning' } },
      },

      recovering: recovering(settings),

      paused: {
        entry: [assign({ held: true }), halt('paused'), stage('navigation.paused')],
        on: {
          PAUSE: {},
          LINK_LOST: {},
          STOPPED: {},
          RESUME: { target: 'planning', actions: assign({ held: false, driven: false }) },
        },
      },

      arriving: {
        entry: [
          assign(({ event }) => ({ lookFrom: event.at })),
          stage('navigation.arriving'),
          timer('arrive', () => limits.arriveMs),
        ],
        exit: cancelTimer('arrive'),
        on: {
          STOPPED: {},
          FACTS: [
            {
              guard: ({ context, event }) =>
                update.hasArrived({ context, event }, settings) && update.isLast(context),
              target: 'idle',
              actions: [
                stage('navigation.arrived'),
                effect(({ context }) => ({ kind: 'arrived', areaId: update.goalOf(context).areaId })),
                effect(({ context, event }) => ({
                  kind: 'finish',
                  outcome: update.arrivalOutcome({ context, event }, settings),
                })),
                assign(update.arrive),
              ],
            },
            {
              guard: ({ context, event }) => update.hasArrived({ context, event }, settings),
              target: 'planning',
              actions: [
                effect(({ context }) => ({ kind: 'arrived', areaId: update.goalOf(context).areaId })),
                assign(update.nextGoal),
                stage('navigation.waypoint'),
              ],
            },
            {
              guard: ({ context, event }) =>
                event.facts.localized === false && event.at - context.lookFrom > limits.lookAfterMs,
              target: 'recovering.localizing',
              actions: setProblem(update.problemFrom),
            },
            {
              guard: ({ context, event }) => update.isOffGoal({ context, event }, settings),
              target: 'deciding',
              actions: setProblem(update.problemFrom),
            },
          ],
          TIMER: {
            target: 'stopping',
            actions: endFailed(
              'HARDWARE_FAULT',
              `the arrival was not confirmed within ${limits.arriveMs} ms`,
            ),
          },
        },
      },

      stopping: {
        entry: [
          assign(({ event }) => ({ lookFrom: event.at })),
          halt('journey ended'),
          stage('navigation.stopping'),
          timer('stop', () => settings.stopProofMs),
        ],
        exit: cancelTimer('stop'),
        on: {
          STOP: {},
          STOPPED: {},
          PAUSE: {},
          LINK_LOST: {},
          FACTS: [
            {
              guard: ({ context, event }) =>
                isStill(event.facts, settings.stillMs) && seenAfter(event.facts, context.lookFrom),
              target: 'idle',
              actions: [
                effect(({ context, event }) => ({
                  kind: 'finish',
                  outcome: update.stopOutcome({ context, event }),
                })),
                assign(update.forget),
              ],
            },
            {},
          ],
          TIMER: {
            target: 'idle',
            actions: [
              effect(({ context }) => ({ kind: 'stopUnproven', because: update.whyItEnds(context) })),
              assign(update.forget),
            ],
          },
        },
      },
    },
  });
  return pureMachine(machine);
}

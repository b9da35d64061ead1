/** How the navigation machine gets out of what it cannot simply drive around. */
import { assign } from 'xstate';
import { seenAfter } from '../body.js';
import type { MachineSettings } from '../settings.js';
import { failed, missingSensors, sensorsReady } from './judge.js';
import { navigationSetup, navigationTools } from './tools.js';
import * as update from './updates.js';

/** Turns of the recovery need not be exact, rad. */
const TURN_TOLERANCE = 0.3;

export function recovering(settings: MachineSettings) {
  const limits = settings.navigation;
  const { effect, stage, timer, cancelTimer, halt, end, endFailed, setProblem, rejected } = navigationTools();
  return navigationSetup.createStateConfig({
    initial: 'judging',
    states: {
      /** The safety layer stopped the robot; the next fresh state says why. */
      judging: {
        entry: [
          assign(({ event }) => ({ lookFrom: event.at })),
          stage('navigation.recovering'),
          timer('judge', () => limits.arriveMs),
        ],
        exit: cancelTimer('judge'),
        on: {
          FACTS: [
            {
              guard: ({ context, event }) => !event.facts.fresh || (event.facts.at ?? 0) < context.lookFrom,
            },
            {
              guard: ({ context, event }) => update.causeIs({ context, event }, 'estop'),
              target: '#navigation.stopping',
              actions: endFailed('EMERGENCY_STOP', 'the emergency stop is latched'),
            },
            {
              guard: ({ context, event }) => update.causeIs({ context, event }, 'drive'),
              target: '#navigation.stopping',
              actions: end(update.driveFault),
            },
            {
              guard: ({ context, event }) => update.causeIs({ context, event }, 'battery'),
              target: '#navigation.stopping',
              actions: end(update.lowBattery),
            },
            {
              guard: ({ context, event }) => update.causeIs({ context, event }, 'sensors'),
              target: 'awaitingSensors',
            },
            {
              guard: ({ context, event }) => update.causeIs({ context, event }, 'localization'),
              target: 'localizing',
            },
            {
              guard: ({ context, event }) => update.causeIs({ context, event }, 'contact'),
              target: '#navigation.deciding',
              actions: [
                setProblem(update.contactProblem),
                assign((args) => update.skipWaiting(args, settings)),
              ],
            },
            { target: '#navigation.deciding' },
          ],
          TIMER: { target: 'awaitingSensors' },
        },
      },
      backingUp: {
        entry: [
          stage('navigation.recovering', () => ({ recovery: 'back_up' })),
          effect(({ context }) => ({
            kind: 'start',
            fence: context.journey?.fence ?? 0,
            action: {
              kind: 'backUp',
              distance: update.takenRung(context, 'backUp')?.distance ?? 0,
              speed: settings.slowSpeed,
            },
          })),
        ],
        on: {
          SUCCEEDED: { target: '#navigation.planning' },
          FAILED: { target: '#navigation.planning' },
          REJECTED: rejected(),
        },
      },
      rotating: {
        entry: [
          stage('navigation.recovering', () => ({ recovery: 'rotate' })),
          effect(({ context }) => ({
            kind: 'start',
            fence: context.journey?.fence ?? 0,
            action: {
              kind: 'spin',
              angle: update.takenRung(context, 'rotate')?.angle ?? 0,
              tolerance: TURN_TOLERANCE,
            },
          })),
        ],
        on: {
          SUCCEEDED: { target: '#navigation.planning' },
          FAILED: { target: '#navigation.planning' },
          REJECTED: rejected(),
        },
      },
      awaitingSensors: {
        entry: [
          assign(({ context, event }) => ({ ...update.oneMoreRecovery(context), lookFrom: event.at })),
          halt('waiting for sensors'),
          stage('navigation.recovering', () => ({ recovery: 'await_sensors' })),
          timer('sensors', () => limits.sensorsMs),
        ],
        exit: cancelTimer('sensors'),
        on: {
          LINK_LOST: {},
          STOPPED: {},
          FACTS: [
            {
              guard: ({ context, event }) =>
                sensorsReady(event.facts) &&
                seenAfter(event.facts, context.lookFrom) &&
                !event.facts.estop &&
                context.recoveries <= limits.maxRecoveries,
              target: '#navigation.planning',
            },
            {
              // Where every part reports, what ended the drive still says best what is wrong.
              guard: ({ event }) => !event.facts.estop && !sensorsReady(event.facts),
              actions: assign(({ context, event }) => ({
                problem: {
                  ...(context.problem ?? update.problemFrom({ context, event })),
                  message: missingSensors(event.facts),
                },
              })),
            },
          ],
          TIMER: {
            target: '#navigation.stopping',
            actions: end(({ context, event }) =>
              failed('HARDWARE_FAULT', context.problem?.message ?? 'a sensor does not report', event.at),
            ),
          },
        },
      },
      localizing: {
        entry: [
          assign(({ context, event }) => ({ ...update.oneMoreRecovery(context), lookFrom: event.at })),
          stage('navigation.localizing'),
          timer('localize', () => limits.localizeMs),
          timer('look', () => limits.lookAfterMs),
        ],
        exit: [cancelTimer('localize'), cancelTimer('look')],
        on: {
          FACTS: [
            {
              guard: ({ context, event }) =>
                event.facts.localized === true &&
                event.facts.pose !== null &&
                !event.facts.estop &&
                seenAfter(event.facts, context.lookFrom) &&
                context.recoveries <= limits.maxRecoveries,
              target: '#navigation.planning',
            },
          ],
          TIMER: [
            {
              guard: ({ event }) => event.name === 'look',
              actions: effect(({ context }) => ({
                kind: 'start',
                fence: context.journey?.fence ?? 0,
                action: { kind: 'spin', angle: 2 * Math.PI, tolerance: TURN_TOLERANCE },
              })),
            },
            {
              target: '#navigation.stopping',
              actions: [
                effect(() => ({ kind: 'localizationLost' })),
                end(({ event }) =>
                  failed(
                    'LOCALIZATION_LOST',
                    'the lidar no longer agrees with the map at any place nearby',
                    event.at,
                  ),
                ),
              ],
            },
          ],
        },
      },
    },
  });
}

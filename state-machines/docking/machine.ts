/**
 * The docking machine. Docking: `looking → staging → aligning → confirming`, and after a failed approach
 * `backingOff → staging` from another place, until the attempts are used up; then it waits in front of the station.
 * Undocking: `looking → undocking | clearing → leaving`, with a wait when something stands behind the robot. Both end
 * through `stopping` when they fail or are stopped: the end is told once the wheels are seen standing still.
 */
import { setup } from 'xstate';
import { isStill, seenAfter } from '../body.js';
import { sensorsReady } from '../navigation/judge.js';
import { type PureMachine, pureMachine } from '../pure.js';
import type { MachineSettings } from '../settings.js';
import { machineTools } from '../tools.js';
import type { DockingContext, DockingEffect, DockingEnding, DockingEvent } from './types.js';
import type { Args } from './updates.js';
import * as update from './updates.js';

export type DockingMachine = PureMachine<DockingContext, DockingEvent, DockingEffect>;

export function createDockingMachine(settings: MachineSettings): DockingMachine {
  const limits = settings.docking;
  const { effect, timer, cancelTimer, patch } = machineTools<DockingContext, DockingEvent, DockingEffect>();
  const stage = (name: string) =>
    effect(({ context }) => ({ kind: 'stage', stage: name, data: { attempt: context.attempts } }));
  const halt = (reason: string) => effect(() => ({ kind: 'halt', reason }));
  const end = (ending: (args: Args) => DockingEnding) => patch((args) => ({ ending: ending(args) }));
  const setProblem = patch((args) => ({ problem: update.problemFrom(args) }));
  const begin = patch(({ event }) => ({ lookFrom: event.at }));
  const nextAttempt = patch(({ context }) => ({ attempts: context.attempts + 1 }));
  const endWithProblem = end((args) => update.failedEnding(update.problemFrom(args)));
  const isDock = ({ context }: Args) => context.job?.kind === 'dock';
  const facts = ({ event }: Args) => (event.type === 'FACTS' ? event.facts : null);
  const failedPart = ({ event }: Args) =>
    event.type === 'FAILED' && (event.failure === 'hardware' || event.failure === 'sensors_stale');

  const finish = effect((args) => ({ kind: 'finish', outcome: update.success(args) }));
  const forget = patch(() => update.IDLE_DOCKING);

  const machine = setup({
    types: { context: {} as DockingContext, events: {} as DockingEvent },
    actions: { effect: (_args, _effect: DockingEffect) => {} },
  }).createMachine({
    id: 'docking',
    initial: 'idle',
    context: update.IDLE_DOCKING,
    on: {
      STOP: { target: '.stopping', actions: end(() => ({ kind: 'stopped' })) },
      STOPPED: { target: '.stopping', actions: end(() => ({ kind: 'stopped' })) },
      PAUSE: { target: '.paused' },
      LINK_LOST: { target: '.awaitingSensors', actions: setProblem },
      CLOCK_SET: { actions: patch(update.shiftTimes) },
      REJECTED: [
        {
          guard: ({ event }) => event.reason === 'HARDWARE_FAULT',
          target: '.awaitingSensors',
          actions: setProblem,
        },
        { target: '.stopping', actions: endWithProblem },
      ],
      FACTS: {
        guard: ({ event }) => event.facts.estop,
        target: '.stopping',
        actions: end(({ event }) => ({
          kind: 'failed',
          reason: 'EMERGENCY_STOP',
          message: 'the emergency stop is latched',
          where: null,
          at: event.at,
        })),
      },
    },
    states: {
      idle: {
        on: {
          STOP: {},
          STOPPED: {},
          PAUSE: {},
          LINK_LOST: {},
          REJECTED: {},
          FACTS: {},
          GO: {
            target: 'looking',
            actions: patch(({ event }) => (event.type === 'GO' ? { job: event.job } : {})),
          },
        },
      },

      /** Each attempt begins with a look at the body: it may stand on its contacts already, or no longer. */
      looking: {
        entry: [begin, nextAttempt, timer('look', () => settings.navigation.arriveMs)],
        exit: cancelTimer('look'),
        on: {
          FACTS: [
            {
              guard: (args) =>
                facts(args)?.estop !== true && !seenAfter(args.event.facts, args.context.lookFrom),
            },
            { guard: (args) => isDock(args) && facts(args)?.docked === true, target: 'confirming' },
            { guard: (args) => isDock(args) && facts(args)?.docked === false, target: 'staging' },
            { guard: (args) => !isDock(args) && facts(args)?.docked === true, target: 'undocking' },
            {
              guard: (args) =>
                !isDock(args) &&
                facts(args)?.docked === false &&
                !update.isClear(args.event.facts, args.context, settings),
              target: 'clearing',
            },
            { guard: (args) => !isDock(args) && facts(args)?.docked === false, target: 'leaving' },
          ],
          TIMER: { target: 'awaitingSensors', actions: setProblem },
        },
      },

      staging: {
        entry: [
          stage('docking.staging'),
          effect(({ context }) => ({ kind: 'travel', to: update.stagingPose(context, settings) })),
        ],
        exit: effect(() => ({ kind: 'endTravel' })),
        on: {
          // The journey has its own machine, which stops, pauses and judges for itself.
          PAUSE: {},
          LINK_LOST: {},
          REJECTED: {},
          STOPPED: {},
          TRAVELLED: [
            { guard: ({ event }) => event.problem === null, target: 'aligning' },
            {
              guard: ({ context, event }) =>
                !update.isHopeless(event.problem) && update.attemptsLeft(context, settings),
              target: 'looking',
              actions: setProblem,
            },
            { target: 'stopping', actions: endWithProblem },
          ],
        },
      },

      aligning: {
        entry: [
          stage('docking.aligning'),
          effect(({ context }) => ({
            kind: 'start',
            fence: update.jobOf(context).fence,
            action: { kind: 'dock', station: update.jobOf(context).station },
          })),
        ],
        on: {
          SUCCEEDED: { target: 'confirming' },
          FAILED: [
            { guard: failedPart, target: 'awaitingSensors', actions: setProblem },
            { target: 'backingOff', actions: setProblem },
          ],
        },
      },

      confirming: {
        entry: [begin, stage('docking.confirming'), timer('contact', () => limits.contactMs)],
        exit: cancelTimer('contact'),
        on: {
          FACTS: [
            {
              guard: ({ context, event }) =>
                update.onContacts(event.facts, context, settings) &&
                (event.facts.charging === true || event.at - context.lookFrom > limits.chargeMs),
              target: 'idle',
              actions: [finish, forget],
            },
          ],
          TIMER: { target: 'backingOff', actions: setProblem },
        },
      },

      backingOff: {
        entry: [
          stage('docking.backing_off'),
          effect(({ context }) => ({
            kind: 'start',
            fence: update.jobOf(context).fence,
            action: { kind: 'backUp', distance: limits.backOff, speed: settings.slowSpeed },
          })),
        ],
        on: { SUCCEEDED: { target: 'deciding' }, FAILED: { target: 'deciding' } },
      },

      deciding: {
        always: [
          { guard: ({ context }) => update.attemptsLeft(context, settings), target: 'looking' },
          {
            guard: isDock,
            target: 'retreating',
            actions: end(({ context, event }) => update.exhausted(context, event.at)),
          },
          { target: 'stopping', actions: end(({ context, event }) => update.exhausted(context, event.at)) },
        ],
      },

      /** Nobody should find the robot half on its contacts, or in the way. */
      retreating: {
        entry: [
          stage('docking.retreating'),
          effect(({ context }) => ({ kind: 'travel', to: update.safePose(context, settings) })),
        ],
        exit: effect(() => ({ kind: 'endTravel' })),
        on: {
          PAUSE: {},
          LINK_LOST: {},
          REJECTED: {},
          STOPPED: {},
          TRAVELLED: { target: 'stopping' },
        },
      },

      undocking: {
        entry: [
          stage('docking.undocking'),
          effect(({ context }) => ({
            kind: 'start',
            fence: update.jobOf(context).fence,
            action: { kind: 'undock', clearance: limits.clearance + 0.05 },
          })),
        ],
        on: {
          SUCCEEDED: { target: 'leaving' },
          FAILED: [
            { guard: failedPart, target: 'awaitingSensors', actions: setProblem },
            { target: 'waitingBehind', actions: setProblem },
          ],
        },
      },

      /** Off the contacts, not yet clear of them. */
      clearing: {
        entry: [
          stage('docking.undocking'),
          effect((args) => ({
            kind: 'start',
            fence: update.jobOf(args.context).fence,
            action: {
              kind: 'backUp',
              distance: update.clearanceLeft(args, settings),
              speed: settings.slowSpeed,
            },
          })),
        ],
        on: {
          SUCCEEDED: { target: 'leaving' },
          FAILED: [
            { guard: failedPart, target: 'awaitingSensors', actions: setProblem },
            { target: 'waitingBehind', actions: setProblem },
          ],
        },
      },

      leaving: {
        entry: [begin, timer('contact', () => limits.contactMs)],
        exit: cancelTimer('contact'),
        on: {
          FACTS: [
            {
              guard: ({ context, event }) =>
                update.offContacts(event.facts, context, settings) &&
                update.isClear(event.facts, context, settings),
              target: 'idle',
              actions: [finish, forget],
            },
            // The wheels counted more than the pose shows: a little further.
            {
              guard: ({ context, event }) =>
                update.offContacts(event.facts, context, settings) && update.attemptsLeft(context, settings),
              target: 'clearing',
              actions: nextAttempt,
            },
          ],
          TIMER: { target: 'waitingBehind', actions: setProblem },
        },
      },

      waitingBehind: {
        entry: [
          halt('waiting to leave the station'),
          stage('docking.waiting'),
          timer('behind', () => limits.undockWaitMs),
        ],
        exit: cancelTimer('behind'),
        on: { STOPPED: {}, TIMER: { target: 'deciding' } },
      },

      awaitingSensors: {
        entry: [
          begin,
          halt('waiting for sensors'),
          stage('docking.await_sensors'),
          timer('sensors', () => settings.navigation.sensorsMs),
        ],
        exit: cancelTimer('sensors'),
        on: {
          LINK_LOST: {},
          STOPPED: {},
          REJECTED: {},
          FACTS: [
            {
              guard: ({ context, event }) =>
                !event.facts.estop && sensorsReady(event.facts) && seenAfter(event.facts, context.lookFrom),
              target: 'deciding',
            },
          ],
          TIMER: {
            target: 'stopping',
            actions: end((args) => update.failedEnding(args.context.problem ?? update.problemFrom(args))),
          },
        },
      },

      paused: {
        entry: [halt('paused'), stage('docking.paused')],
        on: {
          PAUSE: {},
          LINK_LOST: {},
          STOPPED: {},
          REJECTED: {},
          RESUME: {
            target: 'looking',
            actions: patch(({ context }) => ({ attempts: Math.max(0, context.attempts - 1) })),
          },
        },
      },

      stopping: {
        entry: [begin, halt('docking ended'), timer('stop', () => settings.stopProofMs)],
        exit: cancelTimer('stop'),
        on: {
          STOP: {},
          STOPPED: {},
          PAUSE: {},
          LINK_LOST: {},
          REJECTED: {},
          FACTS: [
            {
              guard: ({ context, event }) =>
                isStill(event.facts, settings.stillMs) && seenAfter(event.facts, context.lookFrom),
              target: 'idle',
              actions: [effect((args) => ({ kind: 'finish', outcome: update.stopOutcome(args) })), forget],
            },
            {},
          ],
          TIMER: {
            target: 'idle',
            actions: [
              effect(({ context }) => ({ kind: 'stopUnproven', because: update.whyItEnds(context) })),
              forget,
            ],
          },
        },
      },
    },
  });
  return pureMachine(machine);
}

/**
 * The cleaning machine: `off → starting → dwelling → extending → stopping → off`, and `paused`. It starts to count
 * only once the fan is read back at its set-point, counts only time in which it is, and is over only once it is
 * read back standing still.
 */
import { setup } from 'xstate';
import { type PureMachine, pureMachine } from '../pure.js';
import type { MachineSettings } from '../settings.js';
import { machineTools } from '../tools.js';
import type { CleaningContext, CleaningEffect, CleaningEnding, CleaningEvent } from './types.js';
import type { Args } from './updates.js';
import * as update from './updates.js';

export type CleaningMachine = PureMachine<CleaningContext, CleaningEvent, CleaningEffect>;

/** After the fan did not answer, it is told again this much later, ms. */
const RETRY_MS = 3000;

export function createCleaningMachine(settings: MachineSettings): CleaningMachine {
  const limits = settings.cleaning;
  const { effect, timer, cancelTimer, patch } = machineTools<
    CleaningContext,
    CleaningEvent,
    CleaningEffect
  >();
  const stage = (name: string) =>
    effect((args) => ({ kind: 'stage', stage: name, data: update.progress(args) }));
  const setSpeed = effect(({ context }) => ({ kind: 'setSpeed', percent: context.percent }));
  const halt = effect(() => ({ kind: 'setSpeed', percent: 0 }));
  const look = patch(({ event }) => ({ lookFrom: event.at, countedAt: null }));
  const end = (ending: (args: Args) => CleaningEnding | null) => patch((args) => ({ ending: ending(args) }));
  const fail = (message: (args: Args) => string) =>
    end((args) => ({ kind: 'failed', reason: 'HARDWARE_FAULT', message: message(args), at: args.event.at }));
  const count = patch((args) => update.count(args, settings));
  const hold = patch(() => ({ held: true, lastAction: 'paused' as const }));
  const release = patch(() => ({ held: false, lastAction: 'resumed' as const }));
  const noteFault = patch(({ context, event }) => {
    const message =
      event.type === 'FAN_ERROR'
        ? event.message
        : update.notSpinning(event.type === 'FAN' ? event.reading : null, context.percent);
    return { fault: { reason: 'HARDWARE_FAULT' as const, message, at: event.at } };
  });
  const faultMessage = ({ context }: Args) =>
    context.fault?.message ?? update.notSpinning(null, context.percent);
  const isTimer =
    (name: string) =>
    ({ event }: Args) =>
      event.type === 'TIMER' && event.name === name;
  const finish = [
    effect((args) => ({ kind: 'finish', outcome: update.outcome(args) })),
    patch(({ context }) => ({
      ...update.OFF,
      lastAction: 'stopped' as const,
      interrupted: update.interruptedBy(context),
    })),
  ];
  const raise = [patch((args) => update.followAir(args, settings)), setSpeed];
  const hear = patch((args) => update.followAir(args, settings));
  /** What changes the set-point of a fan that is to turn, so that it is told each time. */
  const setPoint = {
    MODE: { actions: [patch((args) => update.changeMode(args, settings)), setSpeed] },
    AIR: [{ guard: (args: Args) => update.airRaises(args, settings), actions: raise }, { actions: hear }],
  } as const;

  /** What a fan that runs may do: fall behind, fault, be paused. */
  const watch = {
    ...setPoint,
    TIMER: [
      {
        guard: (args: Args) => isTimer('note')(args) && update.isSlack(args, settings),
        target: 'stopping',
        actions: fail(faultMessage),
      },
      {
        guard: isTimer('note'),
        actions: [timer('note', () => limits.noteMs), setSpeed],
      },
    ],
  } as const;

  const machine = setup({
    types: { context: {} as CleaningContext, events: {} as CleaningEvent },
    actions: { effect: (_args, _effect: CleaningEffect) => {} },
  }).createMachine({
    id: 'cleaning',
    initial: 'off',
    context: update.OFF,
    on: {
      STOP: { target: '.stopping', actions: end(() => ({ kind: 'stopped' })) },
      PAUSE: { target: '.paused' },
      AIR: { actions: hear },
      CLOCK_SET: { actions: patch(update.shiftTimes) },
    },
    states: {
      off: {
        on: {
          STOP: {},
          PAUSE: {},
          AIR: {},
          GO: [
            {
              guard: ({ event }) => event.held,
              target: 'paused',
              actions: patch((args) => update.begin(args, settings)),
            },
            { target: 'starting', actions: patch((args) => update.begin(args, settings)) },
          ],
        },
      },

      starting: {
        entry: [
          look,
          patch(({ event }) => ({ setAt: event.at, fault: null })),
          stage('cleaning.starting'),
          setSpeed,
          timer('start', () => limits.spinUpMs),
        ],
        exit: [cancelTimer('start'), cancelTimer('retry')],
        on: {
          ...setPoint,
          FAN_ERROR: { actions: [noteFault, timer('retry', () => RETRY_MS)] },
          FAN: [
            {
              guard: ({ context, event }) => update.atSetPoint(event.reading, context, settings),
              target: 'dwelling',
              actions: count,
            },
            { actions: noteFault },
          ],
          TIMER: [
            { guard: isTimer('retry'), actions: setSpeed },
            { guard: isTimer('start'), target: 'stopping', actions: fail(faultMessage) },
          ],
        },
      },

      dwelling: {
        entry: [stage('cleaning.running'), timer('note', () => limits.noteMs)],
        exit: cancelTimer('note'),
        on: {
          ...watch,
          FAN_ERROR: { actions: noteFault },
          FAN: [
            {
              guard: (args) => update.endingAt(args, settings) !== null,
              target: 'stopping',
              actions: [end((args) => update.endingAt(args, settings)), count],
            },
            { guard: (args) => update.dwellOver(args, settings), target: 'extending', actions: count },
            {
              guard: ({ context, event }) => update.atSetPoint(event.reading, context, settings),
              actions: [count, stage('cleaning.running')],
            },
            { actions: [count, noteFault] },
          ],
        },
      },

      extending: {
        entry: [stage('cleaning.extending'), timer('note', () => limits.noteMs)],
        exit: cancelTimer('note'),
        on: {
          ...watch,
          FAN_ERROR: { actions: noteFault },
          FAN: [
            {
              guard: (args) => update.endingAt(args, settings) !== null,
              target: 'stopping',
              actions: [end((args) => update.endingAt(args, settings)), count],
            },
            {
              guard: ({ context, event }) => update.atSetPoint(event.reading, context, settings),
              actions: [count, stage('cleaning.extending')],
            },
            { actions: [count, noteFault] },
          ],
        },
      },

      paused: {
        entry: [look, hold, halt, stage('cleaning.paused')],
        exit: cancelTimer('retry'),
        on: {
          PAUSE: {},
          MODE: { actions: patch((args) => update.changeMode(args, settings)) },
          FAN_ERROR: { actions: timer('retry', () => RETRY_MS) },
          TIMER: { guard: isTimer('retry'), actions: halt },
          RESUME: { target: 'starting', actions: release },
        },
      },

      stopping: {
        entry: [look, halt, stage('cleaning.stopping'), timer('stop', () => limits.spinDownMs)],
        exit: [cancelTimer('stop'), cancelTimer('retry')],
        on: {
          STOP: {},
          PAUSE: {},
          FAN_ERROR: { actions: [noteFault, timer('retry', () => RETRY_MS)] },
          FAN: {
            guard: ({ context, event }) => update.isAtRest(event.reading, context),
            target: 'off',
            actions: finish,
          },
          TIMER: [
            { guard: isTimer('retry'), actions: halt },
            { guard: isTimer('stop'), target: 'off', actions: finish },
          ],
        },
      },
    },
  });
  return pureMachine(machine);
}

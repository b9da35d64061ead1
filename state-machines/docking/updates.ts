/** How the docking machine's context changes, and what its effects and endings are made of; pure. */
import { compose, distance, type Pose } from '../../config/contracts/geometry.js';
import { type BodyFacts, isStill, seenAfter } from '../body.js';
import type { MachineSettings } from '../settings.js';
import type { MachineArgs } from '../tools.js';
import type {
  DockingContext,
  DockingEnding,
  DockingEvent,
  DockingJob,
  DockingOutcome,
  DockingProblem,
} from './types.js';

export type Args = MachineArgs<DockingContext, DockingEvent>;

export const IDLE_DOCKING: DockingContext = {
  job: null,
  attempts: 0,
  problem: null,
  lookFrom: 0,
  ending: null,
};

export function jobOf(context: DockingContext): DockingJob {
  if (context.job === null) throw new Error('docking has no job');
  return context.job;
}

/** Where the present approach starts: in front of the station, from another place each time. */
export function stagingPose(context: DockingContext, settings: MachineSettings): Pose {
  const { staging } = settings.docking;
  const place = staging[(context.attempts - 1) % staging.length] ?? { back: 0.6, left: 0 };
  return compose(jobOf(context).station, { x: -place.back, y: place.left, theta: 0 });
}

/** Where a robot that cannot dock waits: clear of the station, facing it. */
export function safePose(context: DockingContext, settings: MachineSettings): Pose {
  return stagingPose({ ...context, attempts: 1 }, settings);
}

export function attemptsLeft(context: DockingContext, settings: MachineSettings): boolean {
  const { maxAttempts, undockTries } = settings.docking;
  return context.attempts < (jobOf(context).kind === 'dock' ? maxAttempts : undockTries);
}

export function problemFrom({ context, event }: Args): DockingProblem {
  const where = null;
  const { at } = event;
  switch (event.type) {
    case 'TRAVELLED':
      return event.problem ?? { reason: 'INTERNAL_ERROR', message: 'arrived', where, at };
    case 'FAILED':
      return failureProblem(event);
    case 'REJECTED':
      return { reason: event.reason, message: event.message, where, at };
    case 'LINK_LOST':
      return { reason: 'HARDWARE_FAULT', message: event.message, where, at };
    case 'TIMER':
      return { reason: 'HARDWARE_FAULT', message: timeoutMessage(context), where, at };
    default:
      return { reason: 'HARDWARE_FAULT', message: 'interrupted', where, at };
  }
}

function failureProblem(event: Extract<DockingEvent, { type: 'FAILED' }>): DockingProblem {
  const { message, where, at } = event;
  switch (event.failure) {
    case 'blocked':
      return { reason: 'OBSTRUCTED', message, where, at };
    case 'localization_lost':
      return { reason: 'LOCALIZATION_LOST', message, where, at };
    default:
      return { reason: 'HARDWARE_FAULT', message, where, at };
  }
}

function timeoutMessage(context: DockingContext): string {
  return jobOf(context).kind === 'dock'
    ? 'the base did not confirm live charging contacts'
    : 'the base did not confirm that it left the station';
}

export function failedEnding(problem: DockingProblem): DockingEnding {
  return { kind: 'failed', ...problem };
}

/** What the whole operation ends with once no attempt is left. */
export function exhausted(context: DockingContext, at: number): DockingEnding {
  const problem = context.problem ?? {
    reason: 'HARDWARE_FAULT' as const,
    message: 'unknown',
    where: null,
    at,
  };
  const what =
    jobOf(context).kind === 'dock' ? 'no charging contact' : 'the robot could not leave its station';
  return failedEnding({
    ...problem,
    message: `${what} after ${context.attempts} attempts: ${problem.message}`,
  });
}

/** Journeys whose failure another approach cannot mend. */
export function isHopeless(problem: DockingProblem | null): boolean {
  return problem !== null && problem.reason !== 'OBSTRUCTED' && problem.reason !== 'TARGET_UNREACHABLE';
}

export function onContacts(facts: BodyFacts, context: DockingContext, settings: MachineSettings): boolean {
  return facts.docked === true && seenAfter(facts, context.lookFrom) && isStill(facts, settings.stillMs);
}

export function offContacts(facts: BodyFacts, context: DockingContext, settings: MachineSettings): boolean {
  return facts.docked === false && seenAfter(facts, context.lookFrom) && isStill(facts, settings.stillMs);
}

/** Metres from the docked pose; null while the robot does not know where it is. */
export function clearanceOf(facts: BodyFacts, station: Pose): number | null {
  return facts.pose === null || facts.localized !== true ? null : distance(facts.pose, station);
}

/**
 * Far enough from the station, as far as the pose can tell. Without a pose the driver's own report counts: it
 * measured the distance on the wheels.
 */
export function isClear(facts: BodyFacts, context: DockingContext, settings: MachineSettings): boolean {
  const clearance = clearanceOf(facts, jobOf(context).station);
  return clearance === null || clearance >= settings.docking.clearance;
}

/** What is left to drive backwards until clear of the station, m. */
export function clearanceLeft({ context, event }: Args, settings: MachineSettings): number {
  const clearance = event.type === 'FACTS' ? clearanceOf(event.facts, jobOf(context).station) : null;
  return Math.max(0.05, settings.docking.clearance + 0.05 - (clearance ?? 0));
}

export function success({ context, event }: Args): DockingOutcome {
  if (event.type !== 'FACTS') throw new Error('docking ended without facts');
  const { facts } = event;
  return {
    kind: jobOf(context).kind === 'dock' ? 'docked' : 'undocked',
    charging: facts.charging,
    pose: facts.pose,
    observedAtMs: facts.at ?? event.at,
    attempts: context.attempts,
  };
}

export function stopOutcome({ context, event }: Args): DockingOutcome {
  const ending = context.ending;
  if (ending?.kind === 'failed') return { ...ending, attempts: context.attempts };
  const facts = event.type === 'FACTS' ? event.facts : null;
  return { kind: 'stopped', observedAtMs: facts?.at ?? event.at, stoppedForMs: facts?.stoppedForMs ?? 0 };
}

/** For a stop that could not be proven: what was to be told instead; null when somebody asked for the stop. */
export function whyItEnds({ ending }: DockingContext): string | null {
  return ending?.kind === 'failed' ? ending.message : null;
}

/** Robot time was set: what was remembered in it moves along. */
export function shiftTimes({ context, event }: Args): Partial<DockingContext> {
  return event.type === 'CLOCK_SET' ? { lookFrom: context.lookFrom + event.by } : {};
}

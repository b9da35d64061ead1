/** How the mapping machine's context changes, and what its endings are made of; pure. */
import type { TaskReason } from '../../config/contracts/reason-codes.js';
import type { MachineArgs } from '../tools.js';
import type { MappingContext, MappingEvent, MappingOutcome, MappingProblem } from './types.js';

export type Args = MachineArgs<MappingContext, MappingEvent>;

export const IDLE_MAPPING: MappingContext = {
  mode: null,
  begunAt: null,
  start: null,
  station: null,
  target: null,
  avoid: [],
  visited: 0,
  unreachable: 0,
  left: 0,
  overdue: false,
  ending: null,
};

/** Places that are remembered; more frontiers than this no home has. */
const MAX_AVOID = 300;

/** Another frontier is no help against these. */
const HOPELESS: readonly TaskReason[] = [
  'LOCALIZATION_LOST',
  'HARDWARE_FAULT',
  'LOW_BATTERY',
  'EMERGENCY_STOP',
  'RESOURCE_BUSY',
  'CAPABILITY_UNAVAILABLE',
  'INTERNAL_ERROR',
];

export function isHopeless(problem: MappingProblem | null): boolean {
  return problem !== null && HOPELESS.includes(problem.reason);
}

/** A frontier was reached or given up: it is not driven to again. */
export function legEnded({ context, event }: Args): Partial<MappingContext> {
  if (event.type !== 'LEG_ENDED' || context.target === null) return {};
  const { x, y } = context.target;
  const reached = event.problem === null;
  return {
    target: null,
    avoid: [...context.avoid, { x, y }].slice(-MAX_AVOID),
    visited: context.visited + (reached ? 1 : 0),
    unreachable: context.unreachable + (reached ? 0 : 1),
  };
}

/** What it was driven to is known by now: that was a visit, and may become a frontier again. */
export function seenFromAfar({ context }: Args): Partial<MappingContext> {
  return { target: null, visited: context.visited + 1 };
}

/** A map that has just begun shows no way on yet: that is no reason to call it complete, ms. */
const FIRST_LOOK_MS = 6000;

/** Nowhere to go, before the first scans can have become a map. */
export function isTooEarly({ context, event }: Args): boolean {
  if (event.type !== 'FRONTIER' || event.result.next !== null || context.overdue) return false;
  if (context.visited + context.unreachable > 0 || context.begunAt === null) return false;
  return event.at - context.begunAt < FIRST_LOOK_MS;
}

export function seenBody({ event }: Args): Partial<MappingContext> {
  if (event.type !== 'MAPPING' || event.mapping === null) return {};
  return event.mapping.station === null ? {} : { station: event.mapping.station };
}

export function explored({ context, event }: Args): MappingOutcome {
  if (context.ending !== null) return context.ending;
  const problem = event.type === 'LEG_ENDED' ? event.problem : null;
  return {
    kind: 'explored',
    observedAtMs: event.at,
    visited: context.visited,
    unreachable: context.unreachable,
    left: context.left,
    returned: problem !== null ? 'nowhere' : context.station === null ? 'start' : 'station',
    why: problem?.message ?? null,
  };
}

export function failure(problem: MappingProblem | null, at: number): MappingOutcome {
  const unknown = { reason: 'INTERNAL_ERROR' as const, message: 'mapping ended', at };
  return { kind: 'failed', ...(problem ?? unknown) };
}

export function problemOf({ event }: Args): MappingProblem {
  if (event.type === 'REFUSED') return event.problem;
  if (event.type === 'LEG_ENDED' && event.problem !== null) return event.problem;
  const message =
    event.type === 'TIMER'
      ? 'the motion process did not begin a map in time'
      : 'the motion process has lost the map that was being made';
  return { reason: 'HARDWARE_FAULT', message, at: event.at };
}

/** Robot time was set: what was remembered in it moves along. */
export function shiftTimes({ context, event }: Args): Partial<MappingContext> {
  if (event.type !== 'CLOCK_SET' || context.begunAt === null) return {};
  return { begunAt: context.begunAt + event.by };
}

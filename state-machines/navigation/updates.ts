/** How the navigation machine's context changes, and what its effects and endings are made of; pure. */
import type { TaskReason } from '../../config/contracts/reason-codes.js';
import type { NavigationGoal } from '../motion-types.js';
import type { MachineSettings, Rung } from '../settings.js';
import {
  causeOfSafetyStop,
  failed,
  firstActiveRung,
  measured,
  measuredArrival,
  nextRung,
  problemOf,
} from './judge.js';
import type {
  Ending,
  Interrupted,
  NavigationContext,
  NavigationEffect,
  NavigationEvent,
  NavigationOutcome,
  Problem,
} from './types.js';

export interface Args {
  context: NavigationContext;
  event: NavigationEvent;
}

export const IDLE_NAVIGATION: NavigationContext = {
  journey: null,
  held: false,
  interrupted: null,
  index: 0,
  visited: [],
  round: 0,
  driven: false,
  rung: 0,
  taken: null,
  recoveries: 0,
  totalRecoveries: 0,
  closest: null,
  problem: null,
  lastCause: null,
  lookFrom: 0,
  ending: null,
};

/** Plans keep their numbers over journeys: a late answer to the last journey is not this one's. */
export function forget({ context }: { context: NavigationContext }): NavigationContext {
  return { ...IDLE_NAVIGATION, round: context.round, interrupted: interruptedBy(context) };
}

/** Nothing is left of a journey that arrived. */
export function arrive({ context }: { context: NavigationContext }): NavigationContext {
  return { ...IDLE_NAVIGATION, round: context.round };
}

/** What is left of a journey that nothing ended but a stop, or the end of the process. */
export function interruptedBy(context: NavigationContext): Interrupted | null {
  const { journey, index, visited, held, ending } = context;
  if (journey === null || ending?.kind === 'failed') return null;
  return { journey: { ...journey, index, visited }, held };
}

export function begin({ context, event }: Args): Partial<NavigationContext> {
  if (event.type !== 'GO') return {};
  const { journey } = event;
  const { index, visited } = journey;
  return { ...IDLE_NAVIGATION, round: context.round, journey, index, visited, held: event.held };
}

export function goalOf(context: NavigationContext): NavigationGoal {
  const goal = context.journey?.goals[context.index];
  if (goal === undefined) throw new Error(`navigation has no goal ${context.index}`);
  return goal;
}

export function isLast(context: NavigationContext): boolean {
  return context.journey === null || context.index + 1 >= context.journey.goals.length;
}

export function nextGoal({ context }: { context: NavigationContext }): Partial<NavigationContext> {
  return {
    index: context.index + 1,
    visited: [...context.visited, goalOf(context).areaId],
    driven: false,
    rung: 0,
    recoveries: 0,
    closest: null,
    problem: null,
  };
}

/** Which goal this is about, for progress reports. */
export function whither(context: NavigationContext): Record<string, unknown> {
  const goals = context.journey?.goals.length ?? 0;
  const areaId = context.journey?.goals[context.index]?.areaId ?? null;
  return goals > 1 ? { area_id: areaId, goal: context.index + 1, goals } : { area_id: areaId };
}

export function remaining({ event }: Args): Record<string, unknown> {
  if (event.type !== 'RUNNING' || event.remaining === null) return {};
  return { remaining_m: Math.round(event.remaining * 100) / 100 };
}

/** Real progress since the ladder was entered starts it anew: the obstacle is behind. */
export function noteProgress(
  { context, event }: Args,
  settings: MachineSettings,
): Partial<NavigationContext> {
  if (event.type !== 'RUNNING' || event.remaining === null) return {};
  const { closest } = context;
  if (closest === null) return { closest: event.remaining };
  if (event.remaining > closest - settings.navigation.progress) return {};
  return { closest: event.remaining, rung: 0, problem: null };
}

/** Takes the rung that comes next, and remembers which: waits before the start are no step up the ladder. */
export function takeRung(
  { context }: { context: NavigationContext },
  settings: MachineSettings,
): Partial<NavigationContext> {
  const taken = nextRung(context, settings);
  const up = taken !== null && settings.navigation.ladder[context.rung] === taken;
  return { ...oneMoreRecovery(context), taken, rung: context.rung + (up ? 1 : 0), closest: null };
}

export function oneMoreRecovery(context: NavigationContext): Partial<NavigationContext> {
  return { recoveries: context.recoveries + 1, totalRecoveries: context.totalRecoveries + 1 };
}

export function skipWaiting(
  { context }: { context: NavigationContext },
  settings: MachineSettings,
): Partial<NavigationContext> {
  return { rung: Math.max(context.rung, firstActiveRung(settings)) };
}

export function rungIs(context: NavigationContext, kind: Rung['kind'], settings: MachineSettings): boolean {
  return nextRung(context, settings)?.kind === kind;
}

/** The rung that was taken last, if it is of this kind. */
export function takenRung<K extends Rung['kind']>(
  { taken }: NavigationContext,
  kind: K,
): Extract<Rung, { kind: K }> | null {
  return taken?.kind === kind ? (taken as Extract<Rung, { kind: K }>) : null;
}

export function problemFrom({ context, event }: Args): Problem {
  const base = { message: messageOf(event), where: null, at: event.at };
  switch (event.type) {
    case 'FAILED':
      return { ...base, kind: problemOf(event.failure), where: event.where };
    case 'PLANNED':
      return planProblem(base, event, context);
    case 'REJECTED':
    case 'LINK_LOST':
      return { ...base, kind: 'sensors' };
    case 'FACTS':
      return { ...base, kind: 'off_goal', where: event.facts.pose };
    default:
      return { ...base, kind: 'interrupted' };
  }
}

function planProblem(
  base: Omit<Problem, 'kind'>,
  event: Extract<NavigationEvent, { type: 'PLANNED' }>,
  context: NavigationContext,
): Problem {
  const reason = event.result.ok ? null : event.result.reason;
  if (reason === 'no_pose') return { ...base, kind: 'localization' };
  if (reason === 'goal_occupied') return { ...base, kind: 'goal_occupied', where: goalOf(context).pose };
  // Where the planner cannot say where the way ends, what stopped the robot before still stands there.
  const where = event.result.ok ? null : (event.result.where ?? null);
  return { ...base, kind: 'no_path', where: where ?? context.problem?.where ?? null };
}

export function contactProblem({ context, event }: Args): Problem {
  const where = event.type === 'FACTS' ? event.facts.pose : null;
  return {
    kind: 'contact',
    message: context.problem?.message ?? 'the robot touched something',
    where: context.problem?.where ?? where,
    at: event.at,
  };
}

export function messageOf(event: NavigationEvent): string {
  switch (event.type) {
    case 'FAILED':
    case 'REJECTED':
    case 'LINK_LOST':
      return event.message;
    case 'PLANNED':
      return event.result.ok ? 'planned' : event.result.message;
    case 'FACTS':
      return 'the robot did not end up where it was sent';
    default:
      return 'the journey was interrupted';
  }
}

/** When the facts behind an ending were observed. */
export function factsAt(event: NavigationEvent): number {
  return event.type === 'FACTS' ? (event.facts.at ?? event.at) : event.at;
}

export function lowBattery({ event }: Args): Ending {
  const percent = event.type === 'FACTS' ? event.facts.batteryPercent : null;
  const level = percent === null ? 'nearly empty' : `at ${percent} %`;
  return failed('LOW_BATTERY', `the battery is ${level}: the robot has to go to its station`, factsAt(event));
}

export function driveFault({ context, event }: Args): Ending {
  const cause = event.type === 'FACTS' ? causeOfSafetyStop(event.facts, context) : null;
  return failed('HARDWARE_FAULT', cause?.kind === 'drive' ? cause.message : 'drive fault', factsAt(event));
}

export function causeIs({ context, event }: Args, kind: string): boolean {
  return event.type === 'FACTS' && causeOfSafetyStop(event.facts, context).kind === kind;
}

export function followEffect({ context, event }: Args): NavigationEffect {
  if (event.type !== 'PLANNED' || !event.result.ok) throw new Error('followed without a plan');
  const goal = goalOf(context);
  return {
    kind: 'start',
    fence: context.journey?.fence ?? 0,
    action: {
      kind: 'followPath',
      path: event.result.path,
      goal: goal.pose,
      tolerance: driverTolerance(goal),
      maxSpeed: context.journey?.maxSpeed ?? 0,
    },
  };
}

/**
 * The driver aims closer than the arrival is judged by, so that the noise of the pose does not turn an arrival
 * into a miss.
 */
function driverTolerance(goal: NavigationGoal): { xy: number; theta: number } {
  return { xy: goal.tolerance.xy * 0.7, theta: goal.tolerance.theta * 0.7 };
}

export function hasArrived({ context, event }: Args, settings: MachineSettings): boolean {
  if (event.type !== 'FACTS' || (event.facts.at ?? 0) < context.lookFrom) return false;
  return measuredArrival(event.facts, goalOf(context), settings.stillMs) !== null;
}

export function isOffGoal({ context, event }: Args, settings: MachineSettings): boolean {
  if (event.type !== 'FACTS' || (event.facts.at ?? 0) < context.lookFrom) return false;
  return measured(event.facts, goalOf(context), settings.stillMs) !== null;
}

export function arrivalOutcome({ context, event }: Args, settings: MachineSettings): NavigationOutcome {
  const goal = goalOf(context);
  const seen = event.type === 'FACTS' ? measuredArrival(event.facts, goal, settings.stillMs) : null;
  if (seen === null) throw new Error('arrival without evidence');
  const visited = [...context.visited, goal.areaId];
  return { kind: 'arrived', measured: seen, visited, recoveries: context.totalRecoveries };
}

export function stopOutcome({ context, event }: Args): NavigationOutcome {
  const ending = context.ending;
  if (ending?.kind === 'failed') return ending;
  const facts = event.type === 'FACTS' ? event.facts : null;
  return {
    kind: 'stopped',
    observedAtMs: facts?.at ?? event.at,
    stoppedForMs: facts?.stoppedForMs ?? 0,
  };
}

/** Why a rejected request ends the journey. */
export function rejection({ event }: Args): Ending {
  const reason: TaskReason = event.type === 'REJECTED' ? event.reason : 'HARDWARE_FAULT';
  return failed(reason, messageOf(event), event.at);
}

/** For a stop that could not be proven: what was to be told instead; null when somebody asked for the stop. */
export function whyItEnds({ ending }: NavigationContext): string | null {
  return ending?.kind === 'failed' ? ending.message : null;
}

/** Robot time was set: what was remembered in it moves along. */
export function shiftTimes({ context, event }: Args): Partial<NavigationContext> {
  if (event.type !== 'CLOCK_SET') return {};
  const { lookFrom, lastCause } = context;
  return {
    lookFrom: lookFrom + event.by,
    lastCause: lastCause === null ? null : { ...lastCause, at: lastCause.at + event.by },
  };
}

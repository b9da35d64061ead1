/** What the navigation machine concludes from what it sees; pure. */
import type { ActionFailure, SafetyCondition } from '../../config/contracts/amr.js';
import { distance, type Point, wrapAngle } from '../../config/contracts/geometry.js';
import type { TaskReason } from '../../config/contracts/reason-codes.js';
import { type BodyFacts, isStill } from '../body.js';
import type { NavigationGoal } from '../motion-types.js';
import type { MachineSettings, Rung } from '../settings.js';
import type { Ending, Measured, NavigationContext, ProblemKind } from './types.js';

/** Conditions that pass when a part reports again. */
const SENSOR_CONDITIONS: readonly SafetyCondition[] = [
  'base_silent',
  'lidar_stale',
  'odometry_stale',
  'daemon_silent',
];
/** Conditions that mean the drive itself, or how the robot stands, is not right. */
const DRIVE_CONDITIONS: Partial<Record<SafetyCondition, string>> = {
  wheel_drop: 'a wheel hangs in the air: was the robot lifted, or is it on an edge?',
  overcurrent: 'a wheel motor draws too much current: is something caught in it?',
  tilt: 'the robot is tilted',
};

/** How long the cause of a safety stop explains a failure that follows it, ms. */
const CAUSE_MS = 2000;

export type Cause =
  | { kind: 'estop' | 'battery' | 'sensors' | 'localization' | 'contact' | 'gone' }
  | { kind: 'drive'; message: string };

/** Why the safety layer stopped the robot. */
export function causeOfSafetyStop(facts: BodyFacts, context: NavigationContext): Cause {
  const last = context.lastCause;
  const active = new Set(facts.conditions);
  if (last !== null && (facts.at ?? 0) - last.at <= CAUSE_MS) active.add(last.condition);
  if (facts.estop) return { kind: 'estop' };
  for (const [condition, message] of Object.entries(DRIVE_CONDITIONS)) {
    if (active.has(condition as SafetyCondition)) return { kind: 'drive', message };
  }
  if (active.has('battery_critical')) return { kind: 'battery' };
  if (active.has('bumper_left') || active.has('bumper_right') || active.has('cliff'))
    return { kind: 'contact' };
  if (SENSOR_CONDITIONS.some((condition) => active.has(condition))) return { kind: 'sensors' };
  if (active.has('localization_lost')) return { kind: 'localization' };
  return { kind: 'gone' };
}

/** Base and lidar report, and nothing that waits for them holds the robot back. */
export function sensorsReady(facts: BodyFacts): boolean {
  return (
    facts.fresh &&
    facts.baseConnected &&
    facts.lidarConnected &&
    !facts.conditions.some((condition) => SENSOR_CONDITIONS.includes(condition))
  );
}

export function missingSensors(facts: BodyFacts): string {
  if (!facts.fresh) return 'the motion process does not report';
  if (!facts.baseConnected) return 'the base does not report: check its cable and power';
  if (!facts.lidarConnected) return 'the lidar does not report: check its cable and power';
  return `still held back by ${facts.conditions.join(', ') || 'nothing known'}`;
}

/** Standing still, localised, and where it was sent; null when any of it is not known to be so. */
export function measuredArrival(facts: BodyFacts, goal: NavigationGoal, stillMs: number): Measured | null {
  const placed = measured(facts, goal, stillMs);
  if (placed === null) return null;
  const within = placed.error.xy <= goal.tolerance.xy && placed.error.theta <= goal.tolerance.theta;
  return within ? placed : null;
}

/** Standing still, localised, and where it is relative to the goal. */
export function measured(facts: BodyFacts, goal: NavigationGoal, stillMs: number): Measured | null {
  if (facts.at === null || facts.pose === null || facts.localized !== true) return null;
  if (!isStill(facts, stillMs)) return null;
  return {
    pose: facts.pose,
    observedAtMs: facts.at,
    stoppedForMs: facts.stoppedForMs ?? 0,
    error: {
      xy: distance(facts.pose, goal.pose),
      theta: Math.abs(wrapAngle(facts.pose.theta - goal.pose.theta)),
    },
  };
}

export function batteryLow(facts: BodyFacts, reserve: number): boolean {
  return (
    facts.batteryPercent !== null &&
    facts.batteryPercent < reserve &&
    facts.charging !== true &&
    facts.docked !== true
  );
}

export function problemOf(failure: ActionFailure): ProblemKind {
  switch (failure) {
    case 'blocked':
      return 'blocked';
    case 'localization_lost':
      return 'localization';
    case 'sensors_stale':
    case 'hardware':
      return 'sensors';
    case 'safety_stop':
      return 'interrupted';
    default:
      return 'stuck';
  }
}

/** Waits for a way before a journey has begun: nothing has been tried yet that moving about could mend. */
const FIRST_WAITS = 3;

/** The next rung, or null when the budget is used up. */
export function nextRung(context: NavigationContext, settings: MachineSettings): Rung | null {
  const { ladder, maxRecoveries } = settings.navigation;
  if (context.recoveries >= maxRecoveries) return null;
  if (isWithoutWay(context) && !context.driven) {
    return context.recoveries < FIRST_WAITS ? (ladder.find((rung) => rung.kind === 'wait') ?? null) : null;
  }
  return ladder[context.rung] ?? null;
}

function isWithoutWay({ problem }: NavigationContext): boolean {
  return problem?.kind === 'no_path' || problem?.kind === 'goal_occupied';
}

/** Where waiting cannot help: the robot touches something, or its wheels turn in vain. */
export function firstActiveRung(settings: MachineSettings): number {
  const index = settings.navigation.ladder.findIndex((rung) => rung.kind === 'backUp');
  return Math.max(index, 0);
}

/** How a journey ends whose ladder is used up. */
export function ladderEnding(context: NavigationContext, at: number): Ending {
  const problem = context.problem;
  const tried = `${context.recoveries} attempts to get past it`;
  // Barred by something that may move off it is obstructed; a way that the map does not have is none.
  if (problem?.kind === 'no_path' && problem.where === null && !context.driven) {
    return failed('TARGET_UNREACHABLE', problem.message, problem.at, problem.where);
  }
  if (problem === null) return failed('OBSTRUCTED', `the way is blocked; ${tried}`, at);
  const place =
    problem.where === null ? '' : ` at (${problem.where.x.toFixed(2)}, ${problem.where.y.toFixed(2)})`;
  return failed(
    'OBSTRUCTED',
    `the way is blocked${place}: ${problem.message}; ${tried}`,
    problem.at,
    problem.where,
  );
}

export function failed(
  reason: TaskReason,
  message: string,
  observedAtMs: number | null,
  where: Point | null = null,
): Ending {
  return { kind: 'failed', reason, message, where, observedAtMs };
}

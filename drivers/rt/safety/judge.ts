/**
 * The safety layer's decision, pure: what it remembers and what it is told now, in; what it remembers and what
 * the wheels may do, out. A condition that appears in a moving robot first stops it (`stopping`) and then holds
 * it (`held`) at the level, or within the limits, of its row in the failsafe table.
 */
import { SAFETY_CONDITIONS, type SafetyCondition, type SafetyLevel } from '../../../config/contracts/amr.js';
import {
  DEFAULT_THRESHOLDS,
  reportedConditions,
  type SafetyInputs,
  type SafetyThresholds,
} from './conditions.js';
import {
  type DirectionLimits,
  type FailsafeRow,
  failsafeRow,
  NO_MOTION,
  UNLIMITED,
} from './failsafe-table.js';

type Phase =
  /** Reported, but not yet for as long as its row asks. */
  | { at: 'pending'; since: number }
  | { at: 'stopping'; goneSince: number | null }
  | { at: 'held'; goneSince: number | null };

/** Conditions that are not in it are absent. */
export type SafetyMemory = ReadonlyMap<SafetyCondition, Phase>;

export interface SafetyVerdict {
  level: SafetyLevel;
  /** In the order of `SAFETY_CONDITIONS`. */
  active: SafetyCondition[];
  /** Of these, the ones that are stopping the robot right now. */
  stopping: SafetyCondition[];
  limits: DirectionLimits;
  appeared: SafetyCondition[];
  cleared: SafetyCondition[];
}

export const NOTHING_REMEMBERED: SafetyMemory = new Map();

const SEVERITY: Record<SafetyLevel, number> = { OK: 0, SETTLE: 1, CUT: 2 };

export function worseLevel(a: SafetyLevel, b: SafetyLevel): SafetyLevel {
  return SEVERITY[a] >= SEVERITY[b] ? a : b;
}

export function judge(
  memory: SafetyMemory,
  inputs: SafetyInputs,
  thresholds: SafetyThresholds = DEFAULT_THRESHOLDS,
): { memory: SafetyMemory; verdict: SafetyVerdict } {
  const reported = reportedConditions(inputs, thresholds);
  const next = new Map<SafetyCondition, Phase>();
  const verdict: SafetyVerdict = {
    level: 'OK',
    active: [],
    stopping: [],
    limits: UNLIMITED,
    appeared: [],
    cleared: [],
  };
  for (const condition of SAFETY_CONDITIONS) {
    const row = failsafeRow(condition);
    const before = memory.get(condition);
    const phase = nextPhase(row, before, reported[condition], inputs);
    if (phase !== null) next.set(condition, phase);
    account(verdict, row, before, phase);
  }
  if (verdict.level !== 'OK') verdict.limits = NO_MOTION;
  return { memory: next, verdict };
}

function nextPhase(
  row: FailsafeRow,
  before: Phase | undefined,
  reported: boolean,
  inputs: SafetyInputs,
): Phase | null {
  if (before === undefined || before.at === 'pending') {
    if (!reported) return null;
    const since = before?.since ?? inputs.mono;
    if (inputs.mono - since < row.onsetMs) return { at: 'pending', since };
    return { at: concerned(row, inputs) ? 'stopping' : 'held', goneSince: null };
  }
  const goneSince = reported ? null : (before.goneSince ?? inputs.mono);
  const stopped = before.at === 'held' || inputs.stillProven;
  // A robot that still rolls is not released, however briefly the cause was there.
  if (stopped && goneSince !== null && inputs.mono - goneSince >= row.clearMs) return null;
  return { at: stopped ? 'held' : 'stopping', goneSince };
}

function concerned(row: FailsafeRow, inputs: SafetyInputs): boolean {
  return inputs.moving && (row.concerns === 'any_motion' || inputs.followingPath);
}

/** Adds one condition to the verdict. */
function account(
  verdict: SafetyVerdict,
  row: FailsafeRow,
  before: Phase | undefined,
  phase: Phase | null,
): void {
  const was = before !== undefined && before.at !== 'pending';
  if (phase === null || phase.at === 'pending') {
    if (was) verdict.cleared.push(row.condition);
    return;
  }
  verdict.active.push(row.condition);
  if (!was) verdict.appeared.push(row.condition);
  if (phase.at === 'stopping') verdict.stopping.push(row.condition);
  verdict.level = worseLevel(verdict.level, phase.at === 'stopping' ? row.moving : row.still);
  verdict.limits = tighter(verdict.limits, row.allows);
}

function tighter(a: DirectionLimits, b: DirectionLimits): DirectionLimits {
  return {
    forward: smaller(a.forward, b.forward),
    backward: smaller(a.backward, b.backward),
    turn: smaller(a.turn, b.turn),
  };
}

function smaller(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}

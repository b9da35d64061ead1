/** Judges a schedule whole before it is kept, and reads its rule. */
import { isoWithOffset } from '../../../config/contracts/clock.js';
import { errorText, isRefusal, Refusal, shown } from '../../../config/contracts/errors.js';
import type { ReasonCode } from '../../../config/contracts/reason-codes.js';
import type { ScheduleSpec } from '../../../config/contracts/wire/schedule.js';
import { parseTimestamp } from '../../../config/contracts/wire/timestamp.js';
import type { Methods } from '../admission.js';
import { admit } from '../admission.js';
import { type CompileDeps, compileWorkflow } from '../workflow/compile.js';
import { nextOccurrence } from './occurrence.js';
import type { AddSchedule, Rule, ScheduleRequest, Target } from './types.js';
import { isZone, localOf } from './zone.js';

const DEFAULT_GRACE_MS = 10 * 60_000;
const MINUTE = 60_000;
/** Leaves room for the run's id in the id of each run's workflow. */
export const MAX_WORKFLOW_ID = 90;

/** What can never work, whatever the robot is doing when the time comes. */
const FOR_GOOD: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'INVALID_PARAMS',
  'AMBIGUOUS_TARGET',
  'UNKNOWN_TARGET',
  'UNKNOWN_METHOD',
  'UNKNOWN_CAPABILITY',
]);

export interface AcceptDeps {
  methods: Methods;
  compile: Omit<CompileDeps, 'nowMs'>;
}

/** Throws `Refusal`. `nextAt`: its first occurrence after `nowMs`. */
export function accept(
  add: AddSchedule,
  deps: AcceptDeps,
  nowMs: number,
): { request: ScheduleRequest; nextAt: number } {
  const { schedule, target } = add;
  const { timezone } = schedule;
  if (!isZone(timezone)) {
    throw wrong('timezone', timezone, 'allowed is the name of an IANA time zone, e.g. Asia/Seoul');
  }
  const rule = ruleOf(schedule, nowMs);
  const nextAt = firstOf(rule, schedule, nowMs);
  judgeTarget(target, deps, nowMs);
  const graceMs = schedule.missed_run_grace_ms ?? DEFAULT_GRACE_MS;
  return { request: { ...add, rule, graceMs }, nextAt };
}

function ruleOf({ at, cron, rrule, timezone }: ScheduleSpec, nowMs: number): Rule {
  if (at !== undefined) {
    const atMs = parseTimestamp(at);
    if (atMs !== null) return { kind: 'at', atMs };
    throw wrong('at', at, 'allowed is ISO 8601 with seconds and an offset, e.g. 2026-12-24T08:00:00+09:00');
  }
  if (cron !== undefined) return { kind: 'cron', pattern: cron };
  const local = localOf(timezone, nowMs);
  return { kind: 'rrule', text: rrule ?? '', anchorLocal: Math.floor(local / MINUTE) * MINUTE };
}

function firstOf(rule: Rule, { timezone, at, cron, rrule }: ScheduleSpec, nowMs: number): number {
  const text = at ?? cron ?? rrule;
  let next: number | null;
  try {
    next = nextOccurrence(rule, timezone, nowMs);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw wrong(rule.kind, text, errorText(error));
  }
  if (next !== null) return next;
  const why =
    rule.kind === 'at'
      ? `that time has passed; it is ${isoWithOffset(nowMs)}`
      : 'it never happens again; allowed is a rule with an occurrence ahead';
  throw wrong(rule.kind, text, why);
}

function judgeTarget(target: Target, deps: AcceptDeps, nowMs: number): void {
  if (target.kind === 'task') {
    try {
      admit(deps.methods, target.method, target.params, nowMs);
    } catch (error) {
      // What is missing or in the way now may be there when the time comes.
      if (!isRefusal(error) || FOR_GOOD.has(error.reason)) throw error;
    }
    return;
  }
  const { workflow_id } = target.document;
  if (workflow_id.length > MAX_WORKFLOW_ID) {
    const field = 'workflow.workflow_id';
    const found = `${field}: found ${workflow_id.length} characters`;
    const why = `of a schedule's workflow at most ${MAX_WORKFLOW_ID} are allowed: each run adds its own id`;
    throw new Refusal('INVALID_PARAMS', `${found}; ${why}`, field);
  }
  compileWorkflow(target.document, { ...deps.compile, nowMs });
}

function wrong(field: string, found: unknown, why: string): Refusal {
  const path = `schedule.${field}`;
  return new Refusal('INVALID_PARAMS', `${path}: found ${shown(found)}; ${why}`, path);
}

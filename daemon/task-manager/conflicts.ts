/** Which tasks may not run beside each other, and who gives way. Data and pure decisions. */
import type { Resource, ResourceClaim } from '../../executors/method.js';
import { claimsResource, type TaskRequest } from './task.js';

/** A task as far as conflicts go. */
export interface Contender {
  taskId: string;
  method: string;
  claims: readonly ResourceClaim[];
  priority: number;
  queueKey: string;
  executionMode: TaskRequest['executionMode'];
  preemptPolicy: TaskRequest['preemptPolicy'];
  cancellable: boolean;
}

/** One running task in the way of another. */
export interface Blocker {
  task: Contender;
  /** In words: `motion is held by setMoveTo t-…`. */
  why: string;
  /** The running task gives way to this one, whatever their priorities. */
  givesWay: boolean;
}

/** At most one of these sessions at a time, though they share no resource. */
const EXCLUSIVE_SESSIONS: readonly Resource[] = ['security_session', 'live_view', 'vital_sign'];

/** What stands in the way of `task` when `running` are at it. Dry runs take nothing and are never asked. */
function blockersOf(task: Contender, running: Iterable<Contender>): Blocker[] {
  const blockers: Blocker[] = [];
  for (const other of running) {
    const blocker = conflict(task, other);
    if (blocker !== null) blockers.push(blocker);
  }
  return blockers;
}

function conflict(task: Contender, other: Contender): Blocker | null {
  const shared = task.claims.find((claim) =>
    other.claims.some(
      (held) => held.resource === claim.resource && (held.mode === 'exclusive' || claim.mode === 'exclusive'),
    ),
  );
  if (shared !== undefined) return blocker(other, `${shared.resource} is held by`, false);
  const session = sessionOf(task);
  const otherSession = sessionOf(other);
  if (session !== null && otherSession !== null && session !== otherSession) {
    return blocker(other, `${session} and ${otherSession} exclude each other; running is`, false);
  }
  if (isStationaryPurifying(other) && isDriving(task)) {
    return blocker(other, 'driving has to wait for the end of', true);
  }
  if (isStationaryPurifying(task) && isDriving(other)) {
    return blocker(other, 'purifying in one place has to wait for the end of', false);
  }
  if (
    task.executionMode === 'QUEUED' &&
    other.executionMode === 'QUEUED' &&
    task.queueKey === other.queueKey
  ) {
    return blocker(other, `queue ${task.queueKey} is busy with`, false);
  }
  return null;
}

function blocker(other: Contender, why: string, givesWay: boolean): Blocker {
  return { task: other, why: `${why} ${other.method} ${other.taskId}`, givesWay };
}

function sessionOf(task: Contender): Resource | null {
  return EXCLUSIVE_SESSIONS.find((resource) => claimsResource(task.claims, resource)) ?? null;
}

/** Purifying while moving is for methods that take both; one that takes only the fan stays where it is. */
function isStationaryPurifying(task: Contender): boolean {
  return claimsResource(task.claims, 'fan') && !claimsResource(task.claims, 'motion');
}

function isDriving(task: Contender): boolean {
  return claimsResource(task.claims, 'motion') && !claimsResource(task.claims, 'fan');
}

/** Whether `task` may stop `blocker` to take its place. */
function mayPreempt(task: Contender, { task: other, givesWay }: Blocker): boolean {
  if (!other.cancellable) return false;
  if (givesWay) return true;
  if (task.preemptPolicy === 'PREEMPT_LOWER') return other.priority < task.priority;
  if (task.preemptPolicy === 'PREEMPT_SAME_QUEUE') {
    return other.queueKey === task.queueKey && other.priority <= task.priority;
  }
  return false;
}

/** Whether `task` would take the place of `victim`, if that one ran. */
export function wouldPreempt(task: Contender, victim: Contender): boolean {
  const blocker = conflict(task, victim);
  return blocker !== null && mayPreempt(task, blocker);
}

export type StartPlan =
  | { do: 'start' }
  /** Stop these first; then it is this task's turn. */
  | { do: 'preempt'; victims: Contender[] }
  | { do: 'wait'; why: string };

/** The decision for one candidate: everything in its way has to be movable, or it waits. */
export function planStart(task: Contender, running: Iterable<Contender>): StartPlan {
  const blockers = blockersOf(task, running);
  if (blockers.length === 0) return { do: 'start' };
  const stays = blockers.find((b) => !mayPreempt(task, b));
  if (stays !== undefined) return { do: 'wait', why: stays.why };
  return { do: 'preempt', victims: blockers.map((b) => b.task) };
}

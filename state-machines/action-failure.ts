/** Why a motion action that ended by itself did so, as the reason of a task. */
import type { ActionUpdate } from '../config/contracts/amr.js';
import { TaskFailure } from '../config/contracts/errors.js';
import type { TaskReason } from '../config/contracts/reason-codes.js';
import { type BodyFacts, knownPose } from './body.js';

export type FailedAction = Extract<ActionUpdate, { status: 'failed' }>;

/** `facts`: of the body at the end. */
export function failureOfAction(update: FailedAction, facts: BodyFacts): TaskFailure {
  return new TaskFailure(reasonOf(update, facts), update.message, {
    observedAtMs: update.at,
    evidence: { where: update.where, pose: knownPose(facts) },
  });
}

/** What was touched, or was a drop, barred the way; anything else that stops the wheels is the hardware's. */
function reasonOf({ failure, message }: FailedAction, facts: BodyFacts): TaskReason {
  if (facts.estop) return 'EMERGENCY_STOP';
  switch (failure) {
    case 'blocked':
    case 'stuck':
      return 'OBSTRUCTED';
    case 'localization_lost':
      return 'LOCALIZATION_LOST';
    case 'no_person':
    case 'person_lost':
      return 'STATE_CONDITION_FAILED';
    default: {
      const conditions = `${message} ${facts.conditions.join(' ')}`;
      if (/battery_critical/.test(conditions)) return 'LOW_BATTERY';
      if (/localization_lost/.test(conditions)) return 'LOCALIZATION_LOST';
      return /bumper|cliff/.test(conditions) ? 'OBSTRUCTED' : 'HARDWARE_FAULT';
    }
  }
}

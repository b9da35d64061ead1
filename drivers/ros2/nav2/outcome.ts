/**
 * What the end of a Nav2 goal means here. Codes as in the action files of nav2_msgs and opennav_docking from Iron on;
 * Humble's results carry none, and then the scan has to tell what was in the way.
 */
import type { ActionFailure, PlanResult } from '../../../config/contracts/amr.js';

export interface Outcome {
  failure: ActionFailure;
  message: string;
}

type Row = readonly [failure: ActionFailure, message: string];

const CODES: Readonly<Record<number, Row>> = {
  102: ['localization_lost', 'the controller found no transform'],
  103: ['blocked', 'the path was not valid'],
  104: ['blocked', 'the controller lost patience'],
  105: ['blocked', 'the robot made no progress'],
  106: ['blocked', 'the controller found no way forward'],
  107: ['timeout', 'the controller took too long'],
  202: ['localization_lost', 'the planner found no transform'],
  203: ['localization_lost', 'the robot is outside of the map'],
  204: ['blocked', 'the goal is outside of the map'],
  205: ['blocked', 'the robot stands in an obstacle'],
  206: ['blocked', 'the goal is occupied'],
  207: ['timeout', 'the planner took too long'],
  208: ['blocked', 'there is no way to the goal'],
  702: ['localization_lost', 'a behaviour found no transform'],
  703: ['blocked', 'something is in the way of turning'],
  712: ['localization_lost', 'a behaviour found no transform'],
  714: ['blocked', 'something is in the way behind'],
  901: ['hardware', 'the docking server does not know this dock'],
  902: ['hardware', 'the docking server does not know this kind of dock'],
  903: ['blocked', 'the robot did not reach the place in front of its station'],
  904: ['no_contact', 'the station was not detected'],
  905: ['no_contact', 'the approach to the station failed'],
  906: ['no_contact', 'the robot stands at its station and does not charge'],
  907: ['timeout', 'docking took too long'],
  999: ['hardware', 'the docking server failed'],
};

/** Planning through poses has the planner's codes one hundred higher. */
export function codeRow(code: number): Row | null {
  return CODES[code] ?? (code >= 300 && code < 400 ? (CODES[code - 100] ?? null) : null);
}

/** Of an aborted goal. `barred`: the scan shows something right ahead. */
export function outcomeOf(code: number, text: string, barred: boolean): Outcome {
  const row = codeRow(code);
  const said = text === '' ? '' : ` (${text.slice(0, 200)})`;
  if (row !== null) return { failure: row[0], message: `Nav2: ${row[1]}, code ${code}${said}` };
  const which = code === 0 ? 'without a code' : `with code ${code}`;
  return barred
    ? { failure: 'blocked', message: `Nav2 gave the goal up ${which}${said}; something is in the way` }
    : { failure: 'stuck', message: `Nav2 gave the goal up ${which}${said}; nothing is seen in the way` };
}

/** Of a plan that was not found. */
export function planReason(code: number): Extract<PlanResult, { ok: false }>['reason'] {
  switch (code % 100) {
    case 2:
    case 3:
      return code >= 200 ? 'no_pose' : 'unreachable';
    case 4:
      return 'off_map';
    case 6:
      return 'goal_occupied';
    default:
      return 'unreachable';
  }
}

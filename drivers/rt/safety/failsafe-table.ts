/**
 * What the robot does when something is wrong, as data: one row for each condition, printed by
 * `deviceagent failsafe` and drawn on the console. `judge.ts` is the only reader that acts on it.
 */
import type { SafetyCondition, SafetyLevel } from '../../../config/contracts/amr.js';

/** Fastest that may still be driven: m/s forward and backward, rad/s either way. Null: no limit of its own. */
export interface DirectionLimits {
  readonly forward: number | null;
  readonly backward: number | null;
  readonly turn: number | null;
}

export interface LocalizedText {
  readonly ko: string;
  readonly en: string;
}

/** How a condition ends: by itself once its cause is gone, or only when a person releases it locally. */
export type Clearing = 'cause_gone' | 'person_releases';

export interface FailsafeRow {
  readonly condition: SafetyCondition;
  /** Level from the moment it appears in a moving (or commanded) robot until the wheels stand still. */
  readonly moving: SafetyLevel;
  /** Level while it lasts in a robot that stands still. With `OK` the robot may drive within `allows`. */
  readonly still: SafetyLevel;
  /** Which motion it ends: any, or only the following of a path on the map. */
  readonly concerns: 'any_motion' | 'path_following';
  /** What may be driven while it lasts and `still` is `OK`. */
  readonly allows: DirectionLimits;
  /** Must be reported this long before it counts, ms; 0: on the byte that reports it. */
  readonly onsetMs: number;
  /** Must be gone this long before it stops counting, ms. */
  readonly clearMs: number;
  readonly clearing: Clearing;
  /** What the household is told, and what it can do about it. */
  readonly message: LocalizedText;
  readonly remedy: LocalizedText;
}

export const UNLIMITED: DirectionLimits = { forward: null, backward: null, turn: null };
export const NO_MOTION: DirectionLimits = { forward: 0, backward: 0, turn: 0 };

/** Off an obstacle that was touched: slowly back, or turning on the spot. */
const AWAY_FROM_CONTACT: DirectionLimits = { forward: 0, backward: 0.1, turn: 0.6 };
/** Off an edge: only slowly back the way it came; turning could swing the front over it. */
const AWAY_FROM_EDGE: DirectionLimits = { forward: 0, backward: 0.08, turn: 0 };
/** Not knowing where it is: slow enough to look around and to be led by hand. */
const LOST: DirectionLimits = { forward: 0.1, backward: 0.1, turn: 0.8 };

/**
 * The rows differ from these in what they name. A stopped robot that may not drive keeps the level that stopped
 * it, so that `level` alone says whether driving is possible.
 */
const DEFAULTS = {
  concerns: 'any_motion',
  allows: NO_MOTION,
  onsetMs: 0,
  clearMs: 0,
  clearing: 'cause_gone',
} as const;

export const FAILSAFE_TABLE: readonly FailsafeRow[] = [
  {
    ...DEFAULTS,
    condition: 'estop',
    moving: 'CUT',
    still: 'CUT',
    clearing: 'person_releases',
    message: { ko: '비상 정지 상태입니다.', en: 'Emergency stop.' },
    remedy: {
      ko: '주변을 확인한 뒤 로봇 옆에서 비상 정지를 해제해 주세요.',
      en: 'Make sure that it is safe, then release the emergency stop at the robot.',
    },
  },
  {
    ...DEFAULTS,
    condition: 'bumper_left',
    moving: 'CUT',
    still: 'OK',
    allows: AWAY_FROM_CONTACT,
    clearMs: 200,
    message: { ko: '왼쪽 앞이 무언가에 닿았습니다.', en: 'The left front touches something.' },
    remedy: {
      ko: '천천히 물러납니다. 앞을 치워 주세요.',
      en: 'It backs away slowly. Clear the way in front.',
    },
  },
  {
    ...DEFAULTS,
    condition: 'bumper_right',
    moving: 'CUT',
    still: 'OK',
    allows: AWAY_FROM_CONTACT,
    clearMs: 200,
    message: { ko: '오른쪽 앞이 무언가에 닿았습니다.', en: 'The right front touches something.' },
    remedy: {
      ko: '천천히 물러납니다. 앞을 치워 주세요.',
      en: 'It backs away slowly. Clear the way in front.',
    },
  },
  {
    ...DEFAULTS,
    condition: 'cliff',
    moving: 'CUT',
    still: 'OK',
    allows: AWAY_FROM_EDGE,
    clearMs: 200,
    message: { ko: '앞에 단차나 낭떠러지가 있습니다.', en: 'There is an edge or a drop in front.' },
    remedy: {
      ko: '천천히 뒤로만 움직입니다. 안전한 바닥으로 옮겨 주세요.',
      en: 'It only moves slowly backwards. Put it on safe floor.',
    },
  },
  {
    ...DEFAULTS,
    condition: 'wheel_drop',
    moving: 'CUT',
    still: 'CUT',
    clearMs: 1000,
    message: { ko: '바퀴가 바닥에서 떨어졌습니다.', en: 'A wheel is off the floor.' },
    remedy: { ko: '로봇을 평평한 바닥에 내려놓아 주세요.', en: 'Put the robot down on level floor.' },
  },
  {
    ...DEFAULTS,
    condition: 'overcurrent',
    moving: 'CUT',
    still: 'CUT',
    clearMs: 1000,
    message: { ko: '바퀴 모터에 과전류가 흐릅니다.', en: 'A wheel motor draws too much current.' },
    remedy: { ko: '바퀴에 걸린 것이 있는지 확인해 주세요.', en: 'Check whether something blocks a wheel.' },
  },
  {
    ...DEFAULTS,
    condition: 'tilt',
    moving: 'CUT',
    still: 'CUT',
    clearMs: 1000,
    message: { ko: '로봇이 기울었습니다.', en: 'The robot is tilted.' },
    remedy: { ko: '로봇을 평평한 바닥에 세워 주세요.', en: 'Stand the robot on level floor.' },
  },
  {
    ...DEFAULTS,
    condition: 'base_silent',
    moving: 'CUT',
    still: 'CUT',
    message: { ko: '구동부가 응답하지 않습니다.', en: 'The base does not answer.' },
    remedy: { ko: '구동부의 전원과 케이블을 확인해 주세요.', en: 'Check power and cable of the base.' },
  },
  {
    ...DEFAULTS,
    condition: 'lidar_stale',
    moving: 'SETTLE',
    still: 'SETTLE',
    message: { ko: '라이다 값이 들어오지 않습니다.', en: 'The lidar delivers no scans.' },
    remedy: {
      ko: '라이다의 케이블과 가려진 곳이 없는지 확인해 주세요.',
      en: 'Check the cable of the lidar and that it is not covered.',
    },
  },
  {
    ...DEFAULTS,
    condition: 'odometry_stale',
    moving: 'SETTLE',
    still: 'SETTLE',
    message: { ko: '바퀴 회전 값이 들어오지 않습니다.', en: 'The base reports no wheel motion data.' },
    remedy: { ko: '구동부의 케이블을 확인해 주세요.', en: 'Check the cable of the base.' },
  },
  {
    ...DEFAULTS,
    condition: 'daemon_silent',
    moving: 'CUT',
    still: 'SETTLE',
    message: { ko: '제어 프로그램이 응답하지 않습니다.', en: 'The control program does not answer.' },
    remedy: {
      ko: '자동으로 다시 시작됩니다. 계속되면 로봇을 껐다 켜 주세요.',
      en: 'It restarts by itself. If this goes on, switch the robot off and on.',
    },
  },
  {
    ...DEFAULTS,
    condition: 'localization_lost',
    moving: 'SETTLE',
    still: 'OK',
    concerns: 'path_following',
    allows: LOST,
    message: { ko: '로봇이 자신의 위치를 모릅니다.', en: 'The robot does not know where it is.' },
    remedy: {
      ko: '천천히 둘러보며 위치를 찾습니다. 안 되면 충전대에 올려 주세요.',
      en: 'It looks around slowly to find out. If it cannot, put it on its station.',
    },
  },
  {
    ...DEFAULTS,
    condition: 'battery_critical',
    moving: 'SETTLE',
    still: 'SETTLE',
    onsetMs: 3000,
    clearMs: 3000,
    message: { ko: '배터리가 거의 없습니다.', en: 'The battery is almost empty.' },
    remedy: { ko: '로봇을 충전대에 올려 주세요.', en: 'Put the robot on its station.' },
  },
];

const BY_CONDITION = new Map(FAILSAFE_TABLE.map((row) => [row.condition, row]));

export function failsafeRow(condition: SafetyCondition): FailsafeRow {
  const row = BY_CONDITION.get(condition);
  if (row === undefined) throw new Error(`the failsafe table has no row for ${condition}`);
  return row;
}

/**
 * What is wrong with a drive, from a measurement of it: for each motor and encoder the explanation that fits best of
 * all legs. Pure.
 */
import { type MeasuredDrive, type MeasuredLeg, overGround } from './legs.js';

type Side = 'left' | 'right';

export type MotorVerdict = 'ok' | 'no_response' | 'reversed' | 'swapped' | 'slips' | 'unknown';
export type EncoderVerdict = 'ok' | 'no_response' | 'reversed' | 'swapped' | 'unknown';
export type CurrentVerdict = 'ok' | 'high' | 'none' | 'unknown';

export interface DriveVerdict {
  left: { motor: MotorVerdict; encoder: EncoderVerdict; current: CurrentVerdict };
  right: { motor: MotorVerdict; encoder: EncoderVerdict; current: CurrentVerdict };
  brake: 'ok' | 'slow' | 'unknown';
  /** `mirrored`: it sees every turn the other way round. */
  lidar: 'ok' | 'mirrored' | 'unknown';
  passed: boolean;
}

const OTHER: Record<Side, Side> = { left: 'right', right: 'left' };
/** A ramp up and one down take this much of what was asked for. */
const REACHED = 0.9;
/** Less over ground than this share of what the encoder counted is slip. */
const GRIP = 0.7;
/** mA: more than a motor draws on a floor; less than any that turns. */
const HIGH_MA = 1500;
const NONE_MA = 15;
/** From the stop to the standstill, ms. */
const SLOW_STOP_MS = 700;
/** A turn smaller than this has no direction, rad. */
const TURNED = 0.08;

/** `mirrorKnown`: the robot finds itself on its map, so that its lidar sees it the right way round. */
export function judgeDrive(drive: MeasuredDrive, mirrorKnown: boolean): DriveVerdict {
  const legs = drive.legs.map((leg) => ({ ...leg, ground: overGround(leg, drive.wheelBase) }));
  const lidar = lidarVerdict(drive.legs);
  let left = sideVerdict(legs, 'left');
  let right = sideVerdict(legs, 'right');
  let sees = lidar;
  // Every turn is seen the other way round, and the encoders say what was asked for: wires of both sides, or the lidar.
  if (left.motor === 'swapped' && right.motor === 'swapped' && left.encoder === 'swapped') {
    if (lidar === 'unknown' && !mirrorKnown) {
      sees = 'mirrored';
      left = { ...left, motor: 'unknown', encoder: 'unknown' };
      right = { ...right, motor: 'unknown', encoder: 'unknown' };
    }
  } else if (lidar === 'unknown' && legs.some((leg) => leg.ground !== null)) sees = 'ok';
  const brake = brakeVerdict(drive.legs);
  const good = (v: DriveVerdict['left']) =>
    v.motor === 'ok' && v.encoder === 'ok' && v.current !== 'high' && v.current !== 'none';
  const passed = good(left) && good(right) && brake !== 'slow' && sees !== 'mirrored';
  return { left, right, brake, lidar: sees, passed };
}

type Leg = MeasuredLeg & { ground: { left: number; right: number } | null };

function sideVerdict(legs: readonly Leg[], side: Side): DriveVerdict['left'] {
  const seen = legs.filter((leg) => leg.ground !== null);
  const current = currentVerdict(legs, side);
  if (seen.length < legs.length / 2) return { ...byEncoders(legs, side), current };
  const motor = bestOf(
    seen,
    (leg) => leg.ground?.[side] ?? 0,
    (leg) => reached(leg.asked),
    side,
  );
  const encoder = bestOf(
    seen,
    (leg) => leg.counted[side],
    (leg) => leg.ground ?? leg.asked,
    side,
  );
  if (motor !== 'ok' && motor !== 'no_response') return { motor, encoder, current };
  // A wheel that turned and did not move the robot: its encoder fits what was asked for, and not the ground.
  const turned = ratio(
    seen,
    (leg) => leg.counted[side],
    (leg) => reached(leg.asked)[side],
  );
  const moved = ratio(
    seen,
    (leg) => leg.ground?.[side] ?? 0,
    (leg) => leg.counted[side],
  );
  if (turned > GRIP && moved < GRIP) return { motor: 'slips', encoder: 'ok', current };
  // A wheel that never moved says nothing of its encoder.
  return { motor, encoder: motor === 'no_response' ? 'unknown' : encoder, current };
}

/** Without a lidar motor and encoder cannot be told apart where they disagree. */
function byEncoders(legs: readonly Leg[], side: Side): { motor: MotorVerdict; encoder: EncoderVerdict } {
  const found = bestOf(
    legs,
    (leg) => leg.counted[side],
    (leg) => reached(leg.asked),
    side,
  );
  return found === 'ok' ? { motor: 'ok', encoder: 'ok' } : { motor: found, encoder: 'unknown' };
}

type Pair = { left: number; right: number };

/** Which way of being wired explains `found` best by `cause`: as it should, backwards, on the other side, or not at all. */
function bestOf(
  legs: readonly Leg[],
  found: (leg: Leg) => number,
  cause: (leg: Leg) => Pair,
  side: Side,
): 'ok' | 'reversed' | 'swapped' | 'no_response' {
  const misfit = (explain: (leg: Leg) => number) =>
    legs.reduce((sum, leg) => sum + (found(leg) - explain(leg)) ** 2, 0);
  const ways = [
    ['ok', misfit((leg) => cause(leg)[side])],
    ['reversed', misfit((leg) => -cause(leg)[side])],
    ['swapped', misfit((leg) => cause(leg)[OTHER[side]])],
    ['no_response', misfit(() => 0)],
  ] as const;
  return ways.reduce((best, way) => (way[1] < best[1] ? way : best))[0];
}

function reached({ left, right }: Pair): Pair {
  return { left: REACHED * left, right: REACHED * right };
}

/** Slope of `found` over `cause`, by least squares. */
function ratio(legs: readonly Leg[], found: (leg: Leg) => number, cause: (leg: Leg) => number): number {
  const both = legs.reduce((sum, leg) => sum + found(leg) * cause(leg), 0);
  const own = legs.reduce((sum, leg) => sum + cause(leg) ** 2, 0);
  return own < 1e-6 ? 0 : both / own;
}

function currentVerdict(legs: readonly Leg[], side: Side): CurrentVerdict {
  const peaks = legs.flatMap((leg) => {
    const peak = leg.current[side];
    return leg.asked[side] === 0 || peak === null ? [] : [peak];
  });
  if (peaks.length === 0) return 'unknown';
  const highest = Math.max(...peaks);
  if (highest > HIGH_MA) return 'high';
  return highest < NONE_MA ? 'none' : 'ok';
}

function brakeVerdict(legs: readonly MeasuredLeg[]): DriveVerdict['brake'] {
  const times = legs.flatMap((leg) => (leg.stopMs === null ? [] : [leg.stopMs]));
  if (times.length === 0) return 'unknown';
  return Math.max(...times) > SLOW_STOP_MS ? 'slow' : 'ok';
}

/** By a gyro, which nobody mounts upside down: it is inside the base. */
function lidarVerdict(legs: readonly MeasuredLeg[]): DriveVerdict['lidar'] {
  let agree = 0;
  let against = 0;
  for (const { gyro, lidar } of legs) {
    if (gyro === null || lidar === null || Math.abs(gyro) < TURNED || Math.abs(lidar.theta) < TURNED)
      continue;
    if (Math.sign(gyro) === Math.sign(lidar.theta)) agree += 1;
    else against += 1;
  }
  if (agree + against < 2) return 'unknown';
  return against > agree ? 'mirrored' : 'ok';
}

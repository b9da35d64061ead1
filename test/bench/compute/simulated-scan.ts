/** What the lidar and the wheels of a robot in the simulated home report, for benchmarks without its devices. */
import type { Scan } from '../../../config/contracts/amr.js';
import type { Pose } from '../../../config/contracts/geometry.js';
import type { World } from '../../../simulator/world/index.js';

export const RAYS = 360;
export const WHEEL_BASE = 0.235;

/** The middle of the living room: a circle lies in it. */
export function freeStart(world: World, fallback: Pose): Pose {
  const room = world.layout.rooms.find((one) => one.name === '거실');
  return room === undefined ? fallback : { ...room.goal };
}

/** Totals of both wheels after one more step. */
export function turned(wheels: { left: number; right: number }, step: Pose): { left: number; right: number } {
  const side = (step.theta * WHEEL_BASE) / 2;
  return { left: wheels.left + step.x - side, right: wheels.right + step.x + side };
}

export function scanAt(world: World, pose: Pose, at: number): Scan {
  const angleIncrement = (2 * Math.PI) / RAYS;
  const ranges = Array.from({ length: RAYS }, (_, i) => {
    const { range } = world.lidar.measure(pose, -Math.PI + i * angleIncrement, []);
    return range === 0 ? Number.NaN : range;
  });
  return { at, angleMin: -Math.PI, angleIncrement, rangeMin: 0.05, rangeMax: 12, ranges };
}

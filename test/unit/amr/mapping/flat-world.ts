/** A floor plan with known walls, a robot that drives a way in it, and what its lidar and its wheels report. */
import { compose, type Pose, relativeTo } from '../../../../config/contracts/geometry.js';
import type { ScanPoints } from '../../../../drivers/amr/localisation/scan-points.js';

export type Wall = readonly [number, number, number, number];

/** A rectangle's four walls. */
export function box(left: number, bottom: number, right: number, top: number): Wall[] {
  return [
    [left, bottom, right, bottom],
    [right, bottom, right, top],
    [right, top, left, top],
    [left, top, left, bottom],
  ];
}

/** Repeatable noise: uniform in [0, 1), and a standard normal made of twelve of them. */
export function noise(seed: number): { uniform(): number; normal(): number } {
  let state = seed >>> 0 || 1;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  return { uniform, normal: () => Array.from({ length: 12 }, uniform).reduce((a, b) => a + b, -6) };
}

/** Ends of `rays` rays all around, in `base_link`; rays that hit nothing within `range` are left out. */
export function scanAt(
  walls: readonly Wall[],
  pose: Pose,
  options: { rays: number; range: number; sigma: number; normal: () => number },
): ScanPoints {
  const x: number[] = [];
  const y: number[] = [];
  for (let i = 0; i < options.rays; i++) {
    const bearing = (i / options.rays) * 2 * Math.PI - Math.PI;
    const hit = rayLength(walls, pose, pose.theta + bearing);
    if (hit > options.range) continue;
    const r = hit + options.sigma * options.normal();
    x.push(r * Math.cos(bearing));
    y.push(r * Math.sin(bearing));
  }
  return { x: Float64Array.from(x), y: Float64Array.from(y), count: x.length };
}

function rayLength(walls: readonly Wall[], from: { x: number; y: number }, angle: number): number {
  const [cx, cy] = [Math.cos(angle), Math.sin(angle)];
  let nearest = Infinity;
  for (const [x0, y0, x1, y1] of walls) {
    const [wx, wy] = [x1 - x0, y1 - y0];
    const cross = cx * wy - cy * wx;
    if (Math.abs(cross) < 1e-12) continue;
    const [dx, dy] = [x0 - from.x, y0 - from.y];
    const along = (dx * wy - dy * wx) / cross;
    const share = (dx * cy - dy * cx) / cross;
    if (along > 0 && share >= 0 && share <= 1) nearest = Math.min(nearest, along);
  }
  return nearest;
}

/** Poses every `step` metres along a polyline, turning on the spot in `turnStep` at its corners. */
export function wayAlong(
  corners: readonly (readonly [number, number])[],
  step: number,
  turnStep: number,
): Pose[] {
  const poses: Pose[] = [];
  corners.forEach(([x, y], i) => {
    const next = corners[i + 1];
    if (next === undefined) return;
    const theta = Math.atan2(next[1] - y, next[0] - x);
    const before = poses.at(-1)?.theta ?? theta;
    const turn = Math.atan2(Math.sin(theta - before), Math.cos(theta - before));
    const turns = Math.ceil(Math.abs(turn) / turnStep);
    for (let k = 1; k <= turns; k++) poses.push({ x, y, theta: before + (turn * k) / turns });
    const length = Math.hypot(next[0] - x, next[1] - y);
    const steps = Math.ceil(length / step);
    for (let k = 1; k <= steps; k++) {
      poses.push({ x: x + ((next[0] - x) * k) / steps, y: y + ((next[1] - y) * k) / steps, theta });
    }
  });
  return poses;
}

/** What wheels make of a way: each step too long by `scale`, turned by `bias` radians a metre, and noisy. */
export function odometryOf(
  way: readonly Pose[],
  error: { scale: number; bias: number; sigma: number; normal: () => number },
): Pose[] {
  let pose: Pose = { x: 0, y: 0, theta: 0 };
  return way.map((now, i) => {
    const before = way[i - 1];
    if (before === undefined) return pose;
    const moved = relativeTo(before, now);
    const length = Math.hypot(moved.x, moved.y);
    pose = compose(pose, {
      x: moved.x * error.scale + length * error.sigma * error.normal(),
      y: moved.y * error.scale,
      theta: moved.theta + length * (error.bias + error.sigma * error.normal()),
    });
    return pose;
  });
}

/**
 * Where all keyframes lie, from how each lies to others: least squares over their poses (after Grisetti et al., "A
 * Tutorial on Graph-Based SLAM", 2010). The first keyframe stays where it is.
 */
import { type Pose, relativeTo, wrapAngle } from '../../../config/contracts/geometry.js';
import { type Block, BlockSystem, multiplied, product, transposed } from './block-system.js';

export interface Edge {
  from: number;
  to: number;
  /** The pose of `to` in the frame of `from`. */
  relative: Pose;
  /** In the frame of `from`: x, y, theta; 1/m², 1/rad². */
  information: Block;
  /** A loop may be wrong, so it counts for less the worse it fits. */
  loop: boolean;
}

/** A loop whose squared error is this large, in standard deviations, counts half. */
const LOOP_DOUBT = 9;
/** Steps below this are the end, m or rad. */
const SETTLED = 1e-4;

/** One step of Gauss-Newton; poses are replaced. True when they have settled, or no step is possible. */
export function improvePoses(poses: Pose[], edges: readonly Edge[]): boolean {
  const system = new BlockSystem(poses.length);
  // Holds the first, and anything that no edge reaches, where it is.
  poses.forEach((_, i) => {
    system.addDiagonal(i, diagonal(i === 0 ? 1e9 : 1e-6));
  });
  for (const edge of edges) addEdge(system, poses, edge);
  const step = system.solve();
  if (step === null) return true;
  let most = 0;
  poses.forEach((pose, i) => {
    const [dx, dy, dt] = [step[3 * i] ?? 0, step[3 * i + 1] ?? 0, step[3 * i + 2] ?? 0];
    most = Math.max(most, Math.abs(dx), Math.abs(dy), Math.abs(dt));
    poses[i] = { x: pose.x + dx, y: pose.y + dy, theta: wrapAngle(pose.theta + dt) };
  });
  return !(most > SETTLED);
}

/** How badly an edge fits, in squared standard deviations. */
export function misfit(poses: readonly Pose[], edge: Edge): number {
  const error = errorOf(poses, edge);
  const weighted = product(edge.information, error);
  return error[0] * weighted[0] + error[1] * weighted[1] + error[2] * weighted[2];
}

function errorOf(poses: readonly Pose[], { from, to, relative }: Edge): [number, number, number] {
  const [a, b] = [poses[from], poses[to]];
  if (a === undefined || b === undefined) return [0, 0, 0];
  const seen = relativeTo(a, b);
  return [seen.x - relative.x, seen.y - relative.y, wrapAngle(seen.theta - relative.theta)];
}

function addEdge(system: BlockSystem, poses: readonly Pose[], edge: Edge): void {
  const [a, b] = [poses[edge.from], poses[edge.to]];
  if (a === undefined || b === undefined) return;
  const error = errorOf(poses, edge);
  const weight = edge.loop ? LOOP_DOUBT / (LOOP_DOUBT + misfit(poses, edge)) : 1;
  const information = edge.information.map((value) => value * weight);
  const cos = Math.cos(a.theta);
  const sin = Math.sin(a.theta);
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const byA = Float64Array.of(
    ...[-cos, -sin, -sin * dx + cos * dy],
    ...[sin, -cos, -cos * dx - sin * dy],
    ...[0, 0, -1],
  );
  const byB = Float64Array.of(cos, sin, 0, -sin, cos, 0, 0, 0, 1);
  const weightedA = multiplied(transposed(byA), information);
  const weightedB = multiplied(transposed(byB), information);
  system.addDiagonal(edge.from, multiplied(weightedA, byA));
  system.addDiagonal(edge.to, multiplied(weightedB, byB));
  system.addBeside(edge.from, edge.to, multiplied(weightedA, byB));
  system.addRight(edge.from, negative(product(weightedA, error)));
  system.addRight(edge.to, negative(product(weightedB, error)));
}

function negative(v: readonly [number, number, number]): [number, number, number] {
  return [-v[0], -v[1], -v[2]];
}

function diagonal(value: number): Block {
  return Float64Array.of(value, 0, 0, 0, value, 0, 0, 0, value);
}

/** A matrix of information about map axes, about the axes of a frame turned by `theta`. */
export function turnedInformation(information: Block, theta: number): Block {
  const cos = Math.cos(theta);
  const sin = Math.sin(theta);
  const turn = Float64Array.of(cos, -sin, 0, sin, cos, 0, 0, 0, 1);
  return multiplied(multiplied(transposed(turn), information), turn);
}

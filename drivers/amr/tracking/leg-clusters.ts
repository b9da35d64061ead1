/**
 * Clusters of a scan's neighbouring points that could be a leg, and pairs of them that could be a person. After the
 * geometric features of K. O. Arras et al., "Using Boosted Features for the Detection of People in 2D Range Data"
 * (2007): number of points, width, the jumps to both sides; here with fixed bounds instead of learnt ones.
 */
import type { ScannedPoint } from './types.js';

/** A shin, or both seen as one, in the frame of the scan's points. */
export interface LegCluster {
  readonly x: number;
  readonly y: number;
  /** Between its outermost points, m. */
  readonly width: number;
  readonly points: number;
  /** From the lidar, m. */
  readonly range: number;
  /** Wide enough for two legs one behind the other or side by side. */
  readonly both: boolean;
}

export interface LegPair {
  readonly x: number;
  readonly y: number;
  readonly gap: number;
  readonly first: LegCluster;
  /** Null: one cluster is both. */
  readonly second: LegCluster | null;
}

export interface ClusterParams {
  /** Neighbouring points farther apart than this belong to different things, m; grows with the range. */
  jump: number;
  jumpPerMetre: number;
  /** Widths of one leg, and of two in one, m. */
  minWidth: number;
  maxWidth: number;
  maxBoth: number;
  /** Distance between the legs of a person, m. */
  minGap: number;
  maxGap: number;
  /** Farther than this a leg has too few points, m. */
  range: number;
  /** Clusters of one scan that are looked at; the nearest count. */
  most: number;
}

export const DEFAULT_CLUSTERS: ClusterParams = {
  jump: 0.05,
  jumpPerMetre: 0.02,
  minWidth: 0.04,
  maxWidth: 0.2,
  maxBoth: 0.5,
  minGap: 0.08,
  maxGap: 0.62,
  range: 5,
  most: 40,
};

/** A surface is seen from one side: the middle of a round leg lies this far behind what is seen of it, m. */
const BEHIND_SURFACE = 0.03;
/** The rays of a scan are so far apart, rad: a cluster may be a ray's width wider than its points on each side. */
const RAY = 0.014;

/** The clusters that could be legs, nearest first. `sensor`: where the lidar was; points in the order of the beams. */
export function legClusters(
  points: readonly ScannedPoint[],
  sensor: { x: number; y: number },
  params: ClusterParams = DEFAULT_CLUSTERS,
): LegCluster[] {
  const runs = splitRuns(points, params);
  const legs: LegCluster[] = [];
  for (const [i, run] of runs.entries()) {
    const leg = asLeg(run, sensor, params);
    if (leg === null) continue;
    // Something that the ray passed behind is no edge of its own: a leg stands in front of what is beside it.
    if (isPartOf(run, neighbour(runs, i - 1), 'before') || isPartOf(run, neighbour(runs, i + 1), 'after'))
      continue;
    legs.push(leg);
  }
  return legs.sort((a, b) => a.range - b.range).slice(0, params.most);
}

/** Pairs of clusters that could be one person each; a cluster is in one pair at most, the tightest first. */
export function legPairs(legs: readonly LegCluster[], params: ClusterParams = DEFAULT_CLUSTERS): LegPair[] {
  const pairs: LegPair[] = legs
    .filter((leg) => leg.both)
    .map((leg) => ({ x: leg.x, y: leg.y, gap: leg.width / 2, first: leg, second: null }));
  for (const [i, a] of legs.entries()) {
    for (const b of legs.slice(i + 1)) {
      if (a.both || b.both) continue;
      const gap = Math.hypot(a.x - b.x, a.y - b.y);
      if (gap < params.minGap || gap > params.maxGap) continue;
      pairs.push({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, gap, first: a, second: b });
    }
  }
  pairs.sort((p, q) => p.gap - q.gap);
  const used = new Set<LegCluster>();
  return pairs.filter(({ first, second }) => {
    if (used.has(first) || (second !== null && used.has(second))) return false;
    used.add(first);
    if (second !== null) used.add(second);
    return true;
  });
}

type Run = readonly ScannedPoint[];

function splitRuns(points: readonly ScannedPoint[], params: ClusterParams): Run[] {
  const runs: ScannedPoint[][] = [];
  let last: ScannedPoint | null = null;
  for (const point of points) {
    const near = last !== null && isNear(last, point, params);
    const run = runs[runs.length - 1];
    if (near && run !== undefined) run.push(point);
    else runs.push([point]);
    last = point;
  }
  // The scan is a circle: what lies across its seam is one thing.
  const [first] = runs;
  const end = runs[runs.length - 1];
  const [a] = first ?? [];
  const b = end?.[end.length - 1];
  if (runs.length > 1 && first !== undefined && end !== undefined && a !== undefined && b !== undefined) {
    if (isNear(b, a, params)) {
      runs.pop();
      runs[0] = [...end, ...first];
    }
  }
  return runs;
}

function isNear(a: ScannedPoint, b: ScannedPoint, params: ClusterParams): boolean {
  const limit = params.jump + params.jumpPerMetre * Math.min(a.range, b.range);
  return Math.hypot(a.x - b.x, a.y - b.y) <= limit;
}

function asLeg(run: Run, sensor: { x: number; y: number }, params: ClusterParams): LegCluster | null {
  const [first] = run;
  const last = run[run.length - 1];
  if (first === undefined || last === undefined) return null;
  const range = run.reduce((sum, p) => sum + p.range, 0) / run.length;
  if (range > params.range || run.length < fewest(range)) return null;
  if (run.filter((p) => p.mapped).length * 2 > run.length) return null;
  const ends = Math.hypot(first.x - last.x, first.y - last.y);
  const width = ends + RAY * range;
  if (width < params.minWidth || ends > params.maxBoth) return null;
  const both = ends > params.maxWidth;
  const x = run.reduce((sum, p) => sum + p.x, 0) / run.length;
  const y = run.reduce((sum, p) => sum + p.y, 0) / run.length;
  // A wall is as wide and flat; two legs in one are not straight.
  if (both && isStraight(run, x, y)) return null;
  const away = Math.hypot(x - sensor.x, y - sensor.y);
  const back = away > 0 ? BEHIND_SURFACE / away : 0;
  return {
    x: x + (x - sensor.x) * back,
    y: y + (y - sensor.y) * back,
    width,
    points: run.length,
    range,
    both,
  };
}

/** At least so many points must lie on a leg: at 1 m some eight do, at 4 m two. */
function fewest(range: number): number {
  return range < 1.5 ? 4 : range < 2.5 ? 3 : 2;
}

/** The points lie on a line within the lidar's noise. */
function isStraight(run: Run, mx: number, my: number): boolean {
  let xx = 0;
  let xy = 0;
  let yy = 0;
  for (const p of run) {
    xx += (p.x - mx) ** 2;
    xy += (p.x - mx) * (p.y - my);
    yy += (p.y - my) ** 2;
  }
  const mean = (xx + yy) / 2;
  const smallest = mean - Math.sqrt(Math.max(0, ((xx - yy) / 2) ** 2 + xy * xy));
  return Math.sqrt(Math.max(0, smallest) / run.length) < 0.018;
}

function neighbour(runs: readonly Run[], i: number): Run | undefined {
  return runs[(i + runs.length) % runs.length];
}

/** A run is the visible piece of something that goes on behind what stands in front of it: its neighbour is nearer. */
function isPartOf(run: Run, other: Run | undefined, side: 'before' | 'after'): boolean {
  if (other === undefined || other === run) return false;
  const mine = side === 'before' ? run[0] : run[run.length - 1];
  const theirs = side === 'before' ? other[other.length - 1] : other[0];
  if (mine === undefined || theirs === undefined) return false;
  const beside = Math.hypot(mine.x - theirs.x, mine.y - theirs.y);
  // Only a close neighbour hides; two legs one behind the other are a leg each.
  return theirs.range < mine.range - 0.7 && beside < 1.5 && run.length < 3;
}

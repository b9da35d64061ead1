/** Geometry of areas drawn on a map: whether an outline is sound, how it is cut, and what a drawn wall covers. Pure. */
import { insidePolygon, type Point, type Polygon } from '../../../config/contracts/geometry.js';
import type { VirtualWall } from '../types.js';

/** Area in square metres, positive when the vertices run counter-clockwise (the shoelace formula). */
export function signedArea(polygon: Polygon): number {
  let twice = 0;
  let previous = polygon[polygon.length - 1];
  for (const p of polygon) {
    if (previous !== undefined) twice += previous.x * p.y - p.x * previous.y;
    previous = p;
  }
  return twice / 2;
}

type Edge = readonly [Point, Point];

/** The edges of a closed outline. */
export function edgesOf(polygon: Polygon): Edge[] {
  return polygon.map((p, i) => [p, polygon[(i + 1) % polygon.length] ?? p]);
}

/**
 * The first place where an outline crosses or touches itself, or null when it is simple. Quadratic: for outlines of
 * some hundred vertices.
 */
export function selfIntersection(polygon: Polygon): Point | null {
  const edges = edgesOf(polygon);
  for (const [i, a] of edges.entries()) {
    if (a[0].x === a[1].x && a[0].y === a[1].y) return a[0];
    for (let k = i + 1; k < edges.length; k++) {
      const b = edges[k];
      if (b === undefined) continue;
      const isNext = k === i + 1 || (i === 0 && k === edges.length - 1);
      const at = isNext ? foldedBack(a, b, k === i + 1) : touching(a, b);
      if (at !== null) return at;
    }
  }
  return null;
}

/** Neighbouring edges share a vertex; they must not run back over each other. */
function foldedBack(a: Edge, b: Edge, inOrder: boolean): Point | null {
  const [shared, from, to] = inOrder ? [a[1], a[0], b[1]] : [a[0], a[1], b[0]];
  if (cross(shared, from, to) !== 0) return null;
  const along = (from.x - shared.x) * (to.x - shared.x) + (from.y - shared.y) * (to.y - shared.y);
  return along > 0 ? shared : null;
}

function touching(a: Edge, b: Edge): Point | null {
  const [p, q] = a;
  const [r, s] = b;
  const [d1, d2] = [cross(p, q, r), cross(p, q, s)];
  const [d3, d4] = [cross(r, s, p), cross(r, s, q)];
  if (d1 * d2 < 0 && d3 * d4 < 0) return crossingOf(a, b)?.at ?? p;
  if (d1 === 0 && between(p, q, r)) return r;
  if (d2 === 0 && between(p, q, s)) return s;
  if (d3 === 0 && between(r, s, p)) return p;
  return d4 === 0 && between(r, s, q) ? q : null;
}

/** Twice the signed area of the triangle. */
function cross(a: Point, b: Point, c: Point): number {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/** `p` is on the line of the segment: whether it is within its ends. */
function between(a: Point, b: Point, p: Point): boolean {
  const within = (u: number, v: number, w: number) => Math.min(u, v) <= w && w <= Math.max(u, v);
  return within(a.x, b.x, p.x) && within(a.y, b.y, p.y);
}

/** Where two segments that are not parallel meet; `t` along the first, `u` along the second, both in [0, 1). */
function crossingOf([p, q]: Edge, [r, s]: Edge): { at: Point; t: number } | null {
  const [dx, dy] = [q.x - p.x, q.y - p.y];
  const [ex, ey] = [s.x - r.x, s.y - r.y];
  const det = dx * ey - dy * ex;
  if (det === 0) return null;
  const t = ((r.x - p.x) * ey - (r.y - p.y) * ex) / det;
  const u = ((r.x - p.x) * dy - (r.y - p.y) * dx) / det;
  if (t < 0 || t >= 1 || u < 0 || u >= 1) return null;
  return { at: { x: p.x + t * dx, y: p.y + t * dy }, t };
}

interface Cut {
  at: Point;
  /** Which edge of the outline, and which piece of the line. */
  edge: number;
  piece: number;
  t: number;
}

/**
 * Cuts an outline in two along a line strip that crosses it exactly twice and lies inside in between; null when the
 * line does anything else. Both parts keep the direction of the outline.
 */
export function splitPolygon(polygon: Polygon, line: readonly Point[]): [Point[], Point[]] | null {
  const cuts: Cut[] = [];
  for (let piece = 0; piece + 1 < line.length; piece++) {
    const [from, to] = [line[piece], line[piece + 1]];
    if (from === undefined || to === undefined) continue;
    for (const [edge, side] of edgesOf(polygon).entries()) {
      const hit = crossingOf([from, to], side);
      if (hit !== null) cuts.push({ ...hit, edge, piece });
    }
  }
  cuts.sort((a, b) => a.piece - b.piece || a.t - b.t);
  const [first, last] = cuts;
  if (first === undefined || last === undefined || cuts.length !== 2) return null;
  const inner = line.slice(first.piece + 1, last.piece + 1);
  const middle = inner[0] ?? { x: (first.at.x + last.at.x) / 2, y: (first.at.y + last.at.y) / 2 };
  if (!insidePolygon(middle, polygon)) return null;
  const one = [first.at, ...inner, last.at, ...walk(polygon, last, first)];
  const other = [last.at, ...inner.toReversed(), first.at, ...walk(polygon, first, last)];
  return [withoutRepeats(one), withoutRepeats(other)];
}

/** The vertices met on the way along the outline from one cut to another. */
function walk(polygon: Polygon, from: Cut, to: Cut): Point[] {
  const found: Point[] = [];
  const n = polygon.length;
  const before = (cut: Cut) => {
    const start = polygon[cut.edge] ?? cut.at;
    return Math.hypot(cut.at.x - start.x, cut.at.y - start.y);
  };
  const round = from.edge === to.edge && before(to) < before(from);
  const count = from.edge === to.edge ? (round ? n : 0) : (to.edge - from.edge + n) % n;
  for (let k = 1; k <= count; k++) {
    const p = polygon[(from.edge + k) % n];
    if (p !== undefined) found.push(p);
  }
  return found;
}

const CLOSE = 1e-9;

export function withoutRepeats(points: readonly Point[]): Point[] {
  return points.filter((p, i) => {
    const before = points[(i + points.length - 1) % points.length] ?? p;
    return points.length < 2 || Math.hypot(p.x - before.x, p.y - before.y) > CLOSE;
  });
}

/** What a virtual wall covers: a rectangle for each piece, longer by half the width at both ends so that corners close. */
export function wallStrips({ line, width }: Pick<VirtualWall, 'line' | 'width'>): Point[][] {
  const half = width / 2;
  const strips: Point[][] = [];
  for (const [i, b] of line.entries()) {
    const a = line[i - 1];
    if (a === undefined) continue;
    const length = Math.hypot(b.x - a.x, b.y - a.y);
    if (length === 0) continue;
    const [ux, uy] = [((b.x - a.x) / length) * half, ((b.y - a.y) / length) * half];
    strips.push([
      { x: a.x - ux + uy, y: a.y - uy - ux },
      { x: b.x + ux + uy, y: b.y + uy - ux },
      { x: b.x + ux - uy, y: b.y + uy + ux },
      { x: a.x - ux - uy, y: a.y - uy + ux },
    ]);
  }
  return strips;
}

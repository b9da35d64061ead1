/** Openings in walls: where a wall ends, and goes on in the same line behind ground that can be driven on. Pure. */
import type { Point } from '../../../config/contracts/geometry.js';

export interface GapOptions {
  /** Metres per cell. */
  resolution: number;
  /** A wall is at most this thick, with ground on both sides, m. */
  thickest: number;
  /** What is left of the wall on either side is at least this long, m. */
  shortest: number;
  /** Openings up to this wide count, m; above `door` the wall on both sides has to be so long for each metre of it. */
  widest: number;
  door: number;
  wallPerMetre: number;
}

export const DEFAULT_GAPS: Omit<GapOptions, 'resolution' | 'door'> = {
  thickest: 0.35,
  shortest: 0.4,
  widest: 6.5,
  wallPerMetre: 0.3,
};

/** A grid's ground: 1 where a robot could be if it were a point. */
export interface Ground {
  width: number;
  height: number;
  cells: Uint8Array;
}

/** Angles that are tried for the direction of the walls, over a quarter of a turn. */
const ANGLES = 45;
/** Breaks in a wall up to this long are gaps in what was seen, m. */
const UNSEEN = 0.1;
/** A wall may lie so far beside the line: the parts of one are not quite in line, m. */
const BESIDE = 0.1;
/** An opening leads somewhere: ground goes on so far behind it, m, for this share of its width. */
const DEPTH = 0.6;
const DEEP_SHARE = 0.6;

/** Cells (row-major) that close all openings in walls along the two main directions of a map. */
export function wallGaps(ground: Ground, options: GapOptions): Set<number> {
  const closed = new Set<number>();
  const angle = mainDirection(ground);
  for (const along of [angle, angle + Math.PI / 2]) {
    const walls = wallsAlong(ground, along, options);
    for (const line of linesAlong(ground, along)) {
      for (const gap of gapsOn(ground, walls, line, options)) for (const cell of gap) closed.add(cell);
    }
  }
  return closed;
}

/** The direction, 0…π/2, along which most of the edges of the ground line up. */
function mainDirection(ground: Ground): number {
  const edges = edgeCells(ground);
  let best = 0;
  let sharpest = -1;
  for (let k = 0; k < ANGLES; k++) {
    const angle = (k / ANGLES) * (Math.PI / 2);
    const sharpness = sharpnessAlong(edges, angle) + sharpnessAlong(edges, angle + Math.PI / 2);
    if (sharpness > sharpest) [best, sharpest] = [angle, sharpness];
  }
  return best;
}

function edgeCells({ width, height, cells }: Ground): Point[] {
  const edges: Point[] = [];
  for (let y = 1; y + 1 < height; y++) {
    for (let x = 1; x + 1 < width; x++) {
      const i = y * width + x;
      if (cells[i] === 1) continue;
      if (cells[i - 1] === 1 || cells[i + 1] === 1 || cells[i - width] === 1 || cells[i + width] === 1) {
        edges.push({ x, y });
      }
    }
  }
  return edges;
}

function sharpnessAlong(edges: readonly Point[], angle: number): number {
  const [nx, ny] = [-Math.sin(angle), Math.cos(angle)];
  const counts = new Map<number, number>();
  for (const { x, y } of edges) {
    const bin = Math.round(x * nx + y * ny);
    counts.set(bin, (counts.get(bin) ?? 0) + 1);
  }
  let sum = 0;
  for (const count of counts.values()) sum += count * count;
  return sum;
}

/** A line across the grid, in steps of one cell. */
interface Line {
  from: Point;
  step: Point;
  count: number;
}

/** Lines a cell apart that cover the whole grid. */
function* linesAlong({ width, height }: Ground, angle: number): Generator<Line> {
  const step = { x: Math.cos(angle), y: Math.sin(angle) };
  const across = { x: -step.y, y: step.x };
  const reach = Math.ceil(Math.hypot(width, height) / 2);
  const middle = { x: width / 2, y: height / 2 };
  for (let d = -reach; d <= reach; d++) {
    const from = {
      x: middle.x + d * across.x - reach * step.x,
      y: middle.y + d * across.y - reach * step.y,
    };
    yield { from, step, count: 2 * reach };
  }
}

const OTHER = 0;
const WALL = 1;
const OPEN = 2;

/** The openings on one line, each as its cells and those beside them, so that nothing slips through at corners. */
function gapsOn(ground: Ground, walls: Uint8Array, line: Line, options: GapOptions): number[][] {
  const kinds = kindsOn(ground, walls, line);
  const runs = runsOf(kinds, Math.round(UNSEEN / options.resolution));
  const metres = (run: Run | undefined) =>
    run === undefined ? 0 : (run.end - run.start) * options.resolution;
  const gaps: number[][] = [];
  runs.forEach((run, i) => {
    const [before, after] = [runs[i - 1], runs[i + 1]];
    if (run.kind !== OPEN || before?.kind !== WALL || after?.kind !== WALL) return;
    const wide = metres(run);
    const left = metres(before);
    const right = metres(after);
    if (wide > options.widest || Math.min(left, right) < options.shortest) return;
    if (wide > options.door && left + right < options.wallPerMetre * wide) return;
    if (!leadsSomewhere(ground, line, run, options.resolution)) return;
    gaps.push(cellsOf(ground, line, run));
  });
  return gaps;
}

function at(line: Line, k: number, aside = 0): Point {
  return {
    x: line.from.x + k * line.step.x - aside * line.step.y,
    y: line.from.y + k * line.step.y + aside * line.step.x,
  };
}

/** Row-major; −1 off the grid. */
function cellAt({ width, height }: Ground, x: number, y: number): number {
  const [column, row] = [Math.floor(x), Math.floor(y)];
  return column >= 0 && row >= 0 && column < width && row < height ? row * width + column : -1;
}

function isGround(ground: Ground, x: number, y: number): boolean {
  const cell = cellAt(ground, x, y);
  return cell >= 0 && ground.cells[cell] === 1;
}

/** Cells of walls that run in a direction, made wider by what walls may lie beside their line. */
function wallsAlong(ground: Ground, along: number, { thickest, resolution }: GapOptions): Uint8Array {
  const walls = new Uint8Array(ground.cells.length);
  const thick = Math.round(thickest / resolution);
  const beside = Math.round(BESIDE / resolution);
  const across = { x: -Math.sin(along), y: Math.cos(along) };
  for (let i = 0; i < walls.length; i++) {
    if (ground.cells[i] === 1) continue;
    const x = (i % ground.width) + 0.5;
    const y = Math.floor(i / ground.width) + 0.5;
    if (!isWall(ground, x, y, across, thick)) continue;
    for (let aside = -beside; aside <= beside; aside += 0.5) {
      const cell = cellAt(ground, x + aside * across.x, y + aside * across.y);
      if (cell >= 0) walls[cell] = 1;
    }
  }
  return walls;
}

/** Not ground, with ground on both sides, together no farther apart than a wall is thick. */
function isWall(ground: Ground, x: number, y: number, across: Point, thick: number): boolean {
  let [left, right] = [1, 1];
  while (left <= thick && !isGround(ground, x + left * across.x, y + left * across.y)) left++;
  while (left + right - 1 <= thick && !isGround(ground, x - right * across.x, y - right * across.y)) right++;
  return left + right - 1 <= thick;
}

function kindsOn(ground: Ground, walls: Uint8Array, line: Line): Uint8Array {
  const kinds = new Uint8Array(line.count);
  for (let k = 0; k < line.count; k++) {
    const cell = cellAt(ground, line.from.x + k * line.step.x, line.from.y + k * line.step.y);
    if (cell < 0) continue;
    if (walls[cell] === 1) kinds[k] = WALL;
    else if (ground.cells[cell] === 1) kinds[k] = OPEN;
  }
  return kinds;
}

interface Run {
  kind: number;
  start: number;
  end: number;
}

/** Runs of one kind; short ones between walls belong to them. */
function runsOf(kinds: Uint8Array, unseen: number): Run[] {
  const runs: Run[] = [];
  for (let k = 0; k < kinds.length; k++) {
    const kind = kinds[k] ?? OTHER;
    const last = runs.at(-1);
    if (last?.kind === kind) {
      last.end = k + 1;
      continue;
    }
    const before = runs.at(-2);
    if (kind === WALL && before?.kind === WALL && last !== undefined && last.end - last.start <= unseen) {
      runs.pop();
      before.end = k + 1;
    } else runs.push({ kind, start: k, end: k + 1 });
  }
  return runs;
}

function leadsSomewhere(ground: Ground, line: Line, run: Run, resolution: number): boolean {
  const depth = Math.round(DEPTH / resolution);
  let deep = 0;
  for (let k = run.start; k < run.end; k++) {
    const sides = [at(line, k, depth), at(line, k, -depth)];
    if (sides.every((p) => isGround(ground, p.x, p.y))) deep++;
  }
  return deep >= DEEP_SHARE * (run.end - run.start);
}

function cellsOf(ground: Ground, line: Line, run: Run): number[] {
  const cells: number[] = [];
  for (let k = run.start - 1; k <= run.end; k += 0.5) {
    for (const aside of [0, 0.5]) {
      const p = at(line, k, aside);
      const cell = cellAt(ground, p.x, p.y);
      if (cell >= 0) cells.push(cell);
    }
  }
  return cells;
}

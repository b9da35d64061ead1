import { compose, type Point, type Polygon, type Pose } from '../../../config/contracts/geometry.js';
import { wallStrips } from '../map/polygons.js';
import type { GoalStatus, MapBundle } from '../types.js';
import {
  COST_INSCRIBED,
  COST_LETHAL,
  COST_UNKNOWN,
  DEFAULT_INFLATION,
  type InflationParams,
  inflatedCost,
} from './costs.js';
import { squaredDistances } from './distance-transform.js';
import { fillPolygon } from './fill-polygon.js';
import { GridFrame, type GridGeometry } from './grid-frame.js';
import type { PlanningMap } from './planning-map.js';

/** Cells at least this full count as obstacles. */
export const OCCUPIED_FROM = 65;
const KEEPOUT = 1;
const STATION = 2;
/** The station's body in front of a docked robot: half its width, and its depth, metres. Often too low for the lidar. */
const STATION_HALF_WIDTH = 0.15;
const STATION_DEPTH = 0.08;

/** Distances are kept up to here, metres: nothing asks for more. */
const MAX_DISTANCE = 2;

/** The costs that follow from the map and its areas alone. Built once per map (about 0.1 µs a cell). */
export class StaticCostmap implements PlanningMap {
  readonly mapId: string;
  readonly geometry: GridGeometry;
  readonly frame: GridFrame;
  readonly inflation: InflationParams;
  readonly cost: Uint8Array;
  /**
   * Metres from each cell's centre to the surface of the nearest mapped obstacle (not keep-out), at most
   * `MAX_DISTANCE`; 0 in an obstacle.
   */
  readonly wallDistance: Float32Array;
  /** What is closed beside the map's obstacles: `KEEPOUT`, `STATION`, or 0. */
  readonly #closed: Uint8Array;
  /** Per cell 1 + index into `#speeds`, or 0 where no limit holds; null without speed areas. */
  readonly #speedArea: Uint16Array | null;
  readonly #speeds: readonly number[];

  constructor(bundle: MapBundle, inflation: InflationParams = DEFAULT_INFLATION) {
    const { grid, areas } = bundle;
    this.mapId = bundle.id;
    this.geometry = {
      width: grid.width,
      height: grid.height,
      resolution: grid.resolution,
      origin: grid.origin,
    };
    this.frame = new GridFrame(this.geometry);
    this.inflation = inflation;
    const size = grid.cells.length;
    const occupied = new Uint8Array(size);
    for (let i = 0; i < size; i++) occupied[i] = (grid.cells[i] ?? -1) >= OCCUPIED_FROM ? 1 : 0;
    this.wallDistance = surfaceDistances(occupied, this.geometry);
    this.#closed = new Uint8Array(size);
    const close = (polygon: Polygon, as: number) =>
      fillPolygon(this.frame, polygon, (i) => this.#closed.fill(as, i, i + 1));
    for (const area of areas.keepout) close(area.polygon, KEEPOUT);
    for (const wall of areas.walls ?? []) for (const strip of wallStrips(wall)) close(strip, KEEPOUT);
    if (areas.station !== null) close(stationBody(areas.station.pose, inflation.robotRadius), STATION);
    const anyClosed = areas.keepout.length + (areas.walls ?? []).length > 0 || areas.station !== null;
    const closedDistance = anyClosed ? surfaceDistances(this.#closed, this.geometry) : null;
    this.cost = new Uint8Array(new SharedArrayBuffer(size));
    fillCosts(this.cost, grid.cells, this.wallDistance, closedDistance, inflation);
    this.#speeds = areas.speedAreas.map((a) => a.maxSpeed);
    this.#speedArea = areas.speedAreas.length > 0 ? new Uint16Array(size) : null;
    for (const [k, area] of areas.speedAreas.entries()) {
      fillPolygon(this.frame, area.polygon, (i) => this.#limitSpeed(i, k));
    }
  }

  /** Whether the robot can stand at a point, and if not, why. */
  statusAt(p: Point): GoalStatus {
    const i = this.frame.indexAt(p);
    if (i < 0) return 'off_map';
    const cost = this.cost[i] ?? COST_UNKNOWN;
    if (cost < COST_INSCRIBED) return 'free';
    const clear = this.inflation.robotRadius + this.inflation.margin;
    if ((this.wallDistance[i] ?? 0) < clear) return 'occupied';
    const closed = this.#closed[i] ?? 0;
    if (cost === COST_UNKNOWN && closed === 0) return 'unknown';
    // Not near a wall and yet not free: a closed area is this near.
    return this.#nearestClosed(i) === STATION ? 'occupied' : 'keepout';
  }

  #nearestClosed(index: number): number {
    const reach =
      Math.ceil((this.inflation.robotRadius + this.inflation.margin) / this.geometry.resolution) + 1;
    const x = index % this.geometry.width;
    const y = (index - x) / this.geometry.width;
    let nearest = Number.POSITIVE_INFINITY;
    let found = 0;
    for (let dy = -reach; dy <= reach; dy++) {
      for (let dx = -reach; dx <= reach; dx++) {
        const i = this.frame.indexOf(x + dx, y + dy);
        const closed = i < 0 ? 0 : (this.#closed[i] ?? 0);
        const d = dx * dx + dy * dy;
        if (closed === 0 || d >= nearest) continue;
        nearest = d;
        found = closed;
      }
    }
    return found;
  }

  /** Metres to the surface of the nearest mapped obstacle; 0 off the map. */
  wallDistanceAt(p: Point): number {
    const i = this.frame.indexAt(p);
    return i < 0 ? 0 : (this.wallDistance[i] ?? 0);
  }

  costAt(p: Point): number {
    const i = this.frame.indexAt(p);
    return i < 0 ? COST_UNKNOWN : (this.cost[i] ?? COST_UNKNOWN);
  }

  /** Whether a point lies on ground that a person closed. */
  isKeepout(p: Point): boolean {
    const i = this.frame.indexAt(p);
    return i >= 0 && this.#closed[i] === KEEPOUT;
  }

  /** The lowest speed limit that holds at a point, m/s, or null. */
  speedLimitAt(p: Point): number | null {
    const i = this.#speedArea === null ? -1 : this.frame.indexAt(p);
    const area = this.#speedArea?.[i] ?? 0;
    return area === 0 ? null : (this.#speeds[area - 1] ?? null);
  }

  #limitSpeed(index: number, area: number): void {
    if (this.#speedArea === null) return;
    const present = this.#speedArea[index] ?? 0;
    const presentSpeed = present === 0 ? Number.POSITIVE_INFINITY : (this.#speeds[present - 1] ?? 0);
    if ((this.#speeds[area] ?? 0) < presentSpeed) this.#speedArea[index] = area + 1;
  }
}

/**
 * Metres from cell centres to the surface of the nearest marked cell. The transform gives centre to centre; the
 * surface is taken half a cell nearer.
 */
function surfaceDistances(mask: Uint8Array, geometry: GridGeometry): Float32Array {
  const out = squaredDistances(mask, geometry.width, geometry.height);
  const { resolution } = geometry;
  for (let i = 0; i < out.length; i++) {
    const d = Math.sqrt(out[i] ?? 0);
    out[i] = d === 0 ? 0 : Math.min(MAX_DISTANCE, (d - 0.5) * resolution);
  }
  return out;
}

function stationBody(docked: Pose, robotRadius: number): Polygon {
  const corner = (x: number, y: number) => compose(docked, { x: robotRadius + x, y, theta: 0 });
  return [
    corner(0, -STATION_HALF_WIDTH),
    corner(STATION_DEPTH, -STATION_HALF_WIDTH),
    corner(STATION_DEPTH, STATION_HALF_WIDTH),
    corner(0, STATION_HALF_WIDTH),
  ];
}

function fillCosts(
  cost: Uint8Array,
  cells: Int8Array,
  wall: Float32Array,
  closed: Float32Array | null,
  inflation: InflationParams,
): void {
  for (let i = 0; i < cost.length; i++) {
    const d = closed === null ? (wall[i] ?? 0) : Math.min(wall[i] ?? 0, closed[i] ?? 0);
    // Unknown space is closed to the robot but not inflated: maps are ragged along their edges.
    const unknown = (cells[i] ?? -1) < 0 && d > 0;
    cost[i] = unknown ? COST_UNKNOWN : d === 0 ? COST_LETHAL : inflatedCost(d, inflation);
  }
}

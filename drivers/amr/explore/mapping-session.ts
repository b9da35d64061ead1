/**
 * A map that grows while the robot drives by it: the ground as the navigator uses it, made anew about once a second,
 * and what is found on the way: the station, and what bumpers and cliff sensors find and the lidar does not see.
 */
import { compose, type Point, type Pose, relativeTo } from '../../../config/contracts/geometry.js';
import type {
  FrontierRequest,
  FrontierResult,
  MappedGround,
  MappingState,
} from '../../../config/contracts/mapping.js';
import { StaticCostmap } from '../costmap/static-costmap.js';
import type { Odometry } from '../localisation/odometry.js';
import { mapBundle } from '../map/bundle.js';
import type { NavigatorConfig } from '../navigator/config.js';
import { LiveObstacles } from '../navigator/live-obstacles.js';
import type { Areas, MapBundle, NavigatorInput, NoGoArea, OccupancyGrid } from '../types.js';
import { findFrontiers } from './frontiers.js';
import type { LiveMapper } from './live-mapper.js';
import { MappedPlace } from './mapped-place.js';

/** How often the ground is made anew, ms: it takes some milliseconds, and plans under way have to be made again. */
const RENEW_MS = 1000;
/** What was touched is taken to be this large, metres. */
const TOUCHED_SIZE = 0.12;
const MAX_TOUCHED = 100;
/** On the contacts for this long at rest, ms, before the pose counts as the station's. */
const ON_STATION_MS = 1000;

/** Before the first scan nothing is known. */
const NOTHING: OccupancyGrid = {
  width: 1,
  height: 1,
  resolution: 0.05,
  origin: { x: 0, y: 0, theta: 0 },
  cells: Int8Array.of(-1),
};

export interface MappingOptions {
  mapper: LiveMapper;
  odometry: Odometry;
  config: NavigatorConfig;
  now: number;
  /** Where the robot is on the map that it had; null: it had none, or did not know. */
  before: Pose | null;
}

export class MappingSession {
  readonly place: MappedPlace;
  readonly obstacles: LiveObstacles;
  readonly #options: MappingOptions;
  readonly #begin: Pose;
  #costmap: StaticCostmap;
  #bundle: MapBundle;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #finished = false;
  #station: Pose | null = null;
  #beganDocked = true;
  #touched: NoGoArea[] = [];
  #freeArea = 0;
  /** Ids of the growing map: plans of an older ground are told from those of the newest. */
  #n = 0;

  constructor(options: MappingOptions) {
    this.#options = options;
    this.place = new MappedPlace(options.mapper, options.odometry);
    this.#begin = this.place.pose();
    this.#bundle = this.#grown();
    this.#costmap = new StaticCostmap(this.#bundle, options.config.inflation);
    this.obstacles = new LiveObstacles(this.#costmap, options.config.obstacles, options.config.liveLayer);
  }

  get costmap(): StaticCostmap {
    return this.#costmap;
  }
  get bundle(): MapBundle {
    return this.#bundle;
  }
  get finished(): boolean {
    return this.#finished;
  }

  /** Takes notice of what the body feels. True: the ground has changed. */
  feel(input: NavigatorInput, stillMs: number): boolean {
    this.#noteStation(input.docked, stillMs);
    const because = input.safetyBecause ?? [];
    const side = input.bumps.left === input.bumps.right ? 0 : input.bumps.left ? 0.6 : -0.6;
    const bumped = input.bumps.left || input.bumps.right;
    if (input.docked === true || (!bumped && !because.includes('cliff'))) return false;
    return this.#touch(bumped ? side : 0);
  }

  /** Mapping that began on the station has its place for good: the beginning of a map never moves. */
  #noteStation(docked: boolean | null, stillMs: number): void {
    if (docked === false && this.#station === null) this.#beganDocked = false;
    if (docked !== true || stillMs < ON_STATION_MS || this.place.localized !== true) return;
    if (this.#station !== null && this.#beganDocked) return;
    this.#station = this.place.pose();
    this.place.noteChange();
  }

  /** True when the ground was made anew; `force`: also when it was only just, and has not grown. */
  renew(mono: number, force = false): boolean {
    if (this.#finished || (!force && mono - this.#renewedAt < RENEW_MS)) return false;
    if (!this.place.takeGrown() && !force) return false;
    this.#renewedAt = mono;
    this.#bundle = this.#grown();
    this.#costmap = new StaticCostmap(this.#bundle, this.#options.config.inflation);
    this.obstacles.rebase(this.#costmap);
    return true;
  }

  frontier(request: FrontierRequest): FrontierResult {
    return findFrontiers(this.#bundle.grid, this.#costmap, this.place.pose(), request);
  }

  /** The map as it is now, by its content. The station is told apart: which room it stands in is not known yet. */
  content(): MapBundle {
    return mapBundle(this.#options.mapper.grid() ?? NOTHING, { ...this.#areas(), station: null });
  }

  /** Pulls the map straight once more; takes a moment. */
  finish(): void {
    this.#options.mapper.finish();
    this.place.refresh();
    this.renew(0, true);
    this.#finished = true;
  }

  ground(): MappedGround {
    const { before } = this.#options;
    return {
      pose: this.place.localized === true ? this.place.pose() : null,
      station: this.#station,
      freeArea: this.#freeArea,
      bridge: before === null ? null : { before, after: this.#begin },
    };
  }

  /** Where the robot is now on the map that it had before. */
  poseBefore(): Pose | null {
    const { before } = this.#options;
    return before === null ? null : compose(before, relativeTo(this.#begin, this.place.pose()));
  }

  state(): MappingState {
    const { grid } = this.#bundle;
    return {
      since: this.#options.now,
      phase: this.#finished ? 'finished' : 'mapping',
      scans: this.place.scans,
      freeArea: this.#freeArea,
      width: Math.round(grid.width * grid.resolution * 100) / 100,
      height: Math.round(grid.height * grid.resolution * 100) / 100,
      station: this.#station,
      full: this.#options.mapper.quality().leftOut > 0,
    };
  }

  #grown(): MapBundle {
    const grid = this.#options.mapper.grid() ?? NOTHING;
    let free = 0;
    for (const cell of grid.cells) if (cell >= 0 && cell < 50) free += 1;
    this.#freeArea = Math.round(free * grid.resolution ** 2 * 100) / 100;
    this.#n += 1;
    return { id: `growing-${this.#n}`, grid, areas: this.#areas() };
  }

  #areas(): Areas {
    const station = this.#station === null ? null : { room: '', pose: this.#station };
    return { rooms: [], station, keepout: this.#touched, speedAreas: [] };
  }

  /** `side`: angle at which something was touched, rad from straight ahead. */
  #touch(side: number): boolean {
    const { robotRadius } = this.#options.config.inflation;
    const reach = robotRadius + TOUCHED_SIZE / 2;
    const at = compose(this.place.pose(), { x: reach * Math.cos(side), y: reach * Math.sin(side), theta: 0 });
    const known = this.#touched.some(({ polygon }) => polygon.some((p) => near(p, at)));
    if (known || this.#touched.length >= MAX_TOUCHED) return false;
    this.#touched = [...this.#touched, { id: `found-${this.#touched.length + 1}`, polygon: square(at) }];
    return true;
  }
}

function near(a: Point, b: Point): boolean {
  return Math.hypot(a.x - b.x, a.y - b.y) < TOUCHED_SIZE;
}

function square({ x, y }: Point): Point[] {
  const half = TOUCHED_SIZE / 2;
  const round = (v: number) => Math.round(v * 1000) / 1000;
  return [
    [-half, -half],
    [half, -half],
    [half, half],
    [-half, half],
  ].map(([dx = 0, dy = 0]) => ({ x: round(x + dx), y: round(y + dy) }));
}

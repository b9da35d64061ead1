/** Makes new maps for a navigator: its ground is a growing one until the map is taken over or given up. */
import type { Pose } from '../../../config/contracts/geometry.js';
import type { Odometry } from '../localisation/odometry.js';
import { sameGrid } from '../map/bundle.js';
import type { NavigatorConfig } from '../navigator/config.js';
import type { Ground } from '../navigator/ground.js';
import type { MapBundle, NavigatorInput, NavigatorMapping } from '../types.js';
import type { LiveMapper } from './live-mapper.js';
import { MappingSession } from './mapping-session.js';

export interface MapMakerDeps {
  createMapper: () => LiveMapper;
  odometry: Odometry;
  config: NavigatorConfig;
  /** Robot time, epoch ms. */
  now(): number;
  ground(): Ground | null;
  /** Drives by this ground from now on. */
  use(ground: Ground | null): void;
  /** The ground is the same object, and has changed. */
  changed(): void;
}

/** How well the robot knows where it is on the map from before, after a drive on one that was given up; m and rad. */
const BACK_ON_OLD_MAP = { xy: 0.3, theta: 0.2 };

export class MapMaker implements NavigatorMapping {
  readonly #deps: MapMakerDeps;
  #session: MappingSession | null = null;
  #before: Ground | null = null;

  constructor(deps: MapMakerDeps) {
    this.#deps = deps;
  }

  get session(): MappingSession | null {
    return this.#session;
  }

  startMapping(): void {
    if (this.#session !== null) return;
    const { createMapper, odometry, config, now, ground, use } = this.#deps;
    const before = ground();
    this.#before = before;
    this.#session = new MappingSession({
      mapper: createMapper(),
      odometry,
      config,
      now: now(),
      before: before?.localizer.localized === true ? before.localizer.pose() : null,
    });
    use(groundOf(this.#session));
  }

  finishMapping(): void {
    const session = this.#session;
    if (session === null) return;
    session.finish();
    this.#renew(session);
  }

  dropMapping(): void {
    const session = this.#session;
    if (session === null) return;
    const before = this.#before;
    this.forget();
    this.#deps.use(before);
    if (before === null) return;
    const pose = session.poseBefore();
    if (pose === null) before.localizer.setUnknown();
    else before.localizer.setPose(pose, BACK_ON_OLD_MAP);
    before.obstacles.clear();
  }

  /** Another map is in use. */
  forget(): void {
    this.#session = null;
    this.#before = null;
  }

  /** Where the robot is on a map that it has just made; null for any other. */
  poseOn({ grid }: MapBundle): Pose | null {
    const session = this.#session;
    if (session === null || !sameGrid(session.bundle.grid, grid)) return null;
    return session.place.localized === true ? session.place.pose() : null;
  }

  /** To be called at every step, after the scan. */
  step(input: NavigatorInput, stillMs: number): void {
    const session = this.#session;
    if (session === null || session.finished) return;
    const touched = session.feel(input, stillMs);
    if (session.renew(input.mono, touched)) this.#renew(session);
  }

  #renew(session: MappingSession): void {
    const ground = this.#deps.ground();
    if (ground !== null) Object.assign(ground, groundOf(session));
    this.#deps.changed();
  }
}

function groundOf(session: MappingSession): Ground {
  const { bundle, costmap, obstacles } = session;
  return { bundle, costmap, obstacles, localizer: session.place };
}

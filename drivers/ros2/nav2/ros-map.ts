/** The robot's map against the one that is used here: rooms drawn on another map would send it through walls. */
import { distance } from '../../../config/contracts/geometry.js';
import { type Ros2Config, rosName } from '../../../config/ros2.js';
import type { MapBundle } from '../../amr/types.js';
import { loadMapType, mapType, planar } from '../messages.js';
import { QOS, type RosPort } from '../types.js';

type Frame = ReturnType<typeof mapType.parse>['info'];

const LOAD_MS = 10_000;

export class RosMap {
  readonly counters = { maps_received: 0, maps_loaded: 0, map_load_failures: 0 };
  readonly #port: RosPort;
  readonly #config: Ros2Config;
  readonly #log: (level: 'info' | 'error', message: string) => void;
  #bundle: MapBundle | null = null;
  #theirs: Frame | null = null;
  /** Of the bundle that was read last. */
  #file: string | null = null;

  constructor(port: RosPort, config: Ros2Config, log: (level: 'info' | 'error', message: string) => void) {
    this.#port = port;
    this.#config = config;
    this.#log = log;
  }

  start(): void {
    const { topics } = this.#config;
    this.#port.subscribe(rosName(this.#config, topics.map), mapType, QOS.latched, ({ info }) => {
      this.counters.maps_received += 1;
      this.#theirs = info;
      const mismatch = this.mismatch;
      if (mismatch !== null) this.#log('error', mismatch);
    });
  }

  /** The file that the next bundle comes from. */
  reading(mapYaml: string): void {
    this.#file = mapYaml;
  }

  use(bundle: MapBundle | null): void {
    this.#bundle = bundle;
    if (bundle !== null && this.#config.map === 'load' && this.#file !== null) void this.#load(this.#file);
    const mismatch = this.mismatch;
    if (mismatch !== null) this.#log('error', mismatch);
  }

  /** Null while they fit, or the robot has not shown its map. */
  get mismatch(): string | null {
    if (this.#bundle === null || this.#theirs === null) return null;
    const { grid } = this.#bundle;
    const theirs = this.#theirs;
    const origin = planar(theirs.origin);
    const half = grid.resolution / 2;
    const fits =
      Math.abs(theirs.resolution - grid.resolution) < 1e-4 &&
      theirs.width === grid.width &&
      theirs.height === grid.height &&
      distance(origin, grid.origin) < half;
    if (fits) return null;
    return (
      `the robot's own map is another one: ${theirs.width} x ${theirs.height} cells of ${theirs.resolution} m ` +
      `from (${origin.x.toFixed(2)}, ${origin.y.toFixed(2)}); ours has ${grid.width} x ${grid.height} of ` +
      `${grid.resolution} m from (${grid.origin.x.toFixed(2)}, ${grid.origin.y.toFixed(2)})`
    );
  }

  async #load(file: string): Promise<void> {
    try {
      const { result } = await this.#port.call({
        service: rosName(this.#config, 'map_server/load_map'),
        type: loadMapType.name,
        request: { map_url: file },
        response: loadMapType,
        timeoutMs: LOAD_MS,
      });
      if (result !== 0) throw new Error(`map_server answered with result ${result}`);
      this.counters.maps_loaded += 1;
      this.#log('info', `the robot's map_server has loaded ${file}`);
    } catch (error) {
      this.counters.map_load_failures += 1;
      this.#log('error', `the robot's map_server did not load ${file}: ${String(error)}`);
    }
  }
}

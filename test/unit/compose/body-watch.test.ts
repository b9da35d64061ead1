import { beforeEach, describe, expect, it } from 'vitest';
import type { AmrDriver, AmrEvent, RobotState } from '../../../config/contracts/amr.js';
import type { Pose } from '../../../config/contracts/geometry.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { SimClock, settle } from '../../../config/contracts/sim-clock.js';
import { BodyWatch } from '../../../daemon/compose/body-watch.js';
import type { MapInUse } from '../../../daemon/compose/map.js';
import { mapBundle } from '../../../drivers/amr/map/bundle.js';

const STATION: Pose = { x: 0.5, y: 0.5, theta: 0 };
const bundle = mapBundle(
  { width: 20, height: 20, resolution: 0.1, origin: { x: 0, y: 0, theta: 0 }, cells: new Int8Array(400) },
  { rooms: [], station: { room: '1', pose: STATION }, keepout: [], speedAreas: [] },
);
const map: MapInUse = { file: '/map/map.yaml', bundle, rooms: null, problem: null };

/** A motion process as far as the watch sees it: it has what it was told, until it is replaced. */
class Body {
  readonly asked: string[] = [];
  refuses = false;
  mapId: string | null = null;
  localized: boolean | null = null;
  pose: Pose | null = null;
  docked: boolean | null = true;
  #listener: (event: AmrEvent) => void = () => {};

  readonly amr = {
    state: () => this.state(),
    subscribe: (listener: (event: AmrEvent) => void) => {
      this.#listener = listener;
      return () => {
        this.#listener = () => {};
      };
    },
    loadMap: async (file: string) => {
      this.asked.push(`loadMap ${file}`);
      if (this.refuses) throw new Error('busy');
      this.mapId = bundle.id;
    },
    clearMap: async () => {
      this.asked.push('clearMap');
      this.mapId = null;
      this.localized = null;
    },
    relocalize: async (pose: Pose) => {
      this.asked.push(`relocalize ${pose.x} ${pose.y}`);
      this.localized = true;
    },
  } as unknown as AmrDriver;

  state(): RobotState {
    const base = { connected: true, docked: this.docked };
    return {
      at: 0,
      base,
      mapId: this.mapId,
      localized: this.localized,
      pose: this.pose,
      action: null,
    } as unknown as RobotState;
  }

  async reports(): Promise<void> {
    this.#listener({ type: 'state', state: this.state() });
    await settle();
  }
}

describe('a body that nobody was waiting for', () => {
  let clock: SimClock;
  let body: Body;
  let watch: BodyWatch;

  const reportsFor = async (ms: number) => {
    for (let t = 0; t < ms; t += 100) {
      clock.advance(100);
      await body.reports();
    }
  };

  beforeEach(() => {
    clock = new SimClock(0);
    body = new Body();
    watch = new BodyWatch({ amr: body.amr, map, clock, log: SILENT_LOG });
  });

  it('gets the map and, on its station, its place, however late it reports', async () => {
    await reportsFor(5000);
    expect(body.asked).toEqual(['loadMap /map/map.yaml', 'relocalize 0.5 0.5']);
    expect(watch.known).toBe(true);
  });

  it('gets its place as soon as it has the map', async () => {
    await reportsFor(200);
    expect(body.asked).toEqual(['loadMap /map/map.yaml', 'relocalize 0.5 0.5']);
  });

  it('gets both again when the motion process was started again', async () => {
    await reportsFor(5000);
    body.mapId = null;
    body.localized = null;
    await reportsFor(5000);
    expect(body.asked).toHaveLength(4);
  });

  it('is not told where it is when it does not stand on its station', async () => {
    body.docked = false;
    await reportsFor(5000);
    expect(body.asked).toEqual(['loadMap /map/map.yaml']);
  });

  it('is not known before it has said whether it stands on its station', async () => {
    body.docked = null;
    await reportsFor(1000);
    expect(watch.known).toBe(false);
    body.docked = true;
    await reportsFor(3000);
    expect(body.asked).toEqual(['loadMap /map/map.yaml', 'relocalize 0.5 0.5']);
    expect(watch.known).toBe(true);
  });

  it('is not known while nothing has confirmed the place that it takes over from before a restart', async () => {
    body.docked = false;
    body.pose = STATION;
    await reportsFor(1000);
    expect(watch.known).toBe(false);
    body.localized = false;
    expect(watch.known).toBe(true);
    body.localized = true;
    expect(watch.known).toBe(true);
  });

  it('gives the map up once the robot has none any more, and gets it again when it is back', async () => {
    const inUse: MapInUse = { ...map };
    watch.close();
    watch = new BodyWatch({ amr: body.amr, map: inUse, clock, log: SILENT_LOG });
    await reportsFor(3000);
    inUse.bundle = null;
    expect(watch.known).toBe(false);
    await reportsFor(3000);
    expect(watch.known).toBe(true);
    inUse.bundle = bundle;
    await reportsFor(3000);
    expect(body.asked).toEqual([
      'loadMap /map/map.yaml',
      'relocalize 0.5 0.5',
      'clearMap',
      'loadMap /map/map.yaml',
      'relocalize 0.5 0.5',
    ]);
  });

  it('is asked again, but not all the time, while it refuses', async () => {
    body.refuses = true;
    await reportsFor(10_000);
    expect(body.asked.length).toBeGreaterThanOrEqual(4);
    expect(body.asked.length).toBeLessThanOrEqual(6);
    expect(watch.known).toBe(false);
  });
});

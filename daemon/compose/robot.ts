/** The robot as a body in a home: motion process, peripherals, the map it lives in, and what has been seen of it. */
import { errorText } from '../../config/contracts/errors.js';
import type { Config } from '../../config/schema.js';
import type { Advice } from '../../executors/maintenance/drive-advice.js';
import { PressBoard } from '../../executors/movement/press-board.js';
import type { MapKeeper } from '../../state-machines/mapping/types.js';
import { BatteryReserve } from '../context/battery-reserve.js';
import { DeviceState } from '../context/device-state.js';
import { DomainBus } from '../context/domain-bus.js';
import { DEFAULT_FRESHNESS } from '../context/types.js';
import { AreaHistory } from '../maps/area-history.js';
import { MapStore } from '../maps/map-store.js';
import { AreaChanges } from './area-changes.js';
import { type Body, createBody } from './body.js';
import { BodyWatch } from './body-watch.js';
import { type MapInUse, readMap } from './map.js';
import { MapChanges } from './map-changes.js';
import { createMapKeeper } from './map-keeper.js';
import type { DaemonOptions } from './options.js';
import { createPeripherals, type Peripherals } from './peripherals.js';

export interface Robot {
  config: Config;
  body: Body;
  bodyWatch: BodyWatch;
  peripherals: Peripherals;
  map: MapInUse;
  mapChanges: MapChanges;
  areaChanges: AreaChanges;
  presses: PressBoard;
  mapKeeper: MapKeeper;
  bus: DomainBus;
  state: DeviceState;
  /** The charge at which it has to go home. */
  reserve: BatteryReserve;
  /** What the last diagnosis of the wheels found wrong. */
  diagnosis: { advice: readonly Advice[] };
}

/** Opens no port yet. */
export function createRobot(options: DaemonOptions): Robot {
  const { clock, log } = options;
  const { config } = options.loaded;
  const body = createBody({ ...options, config });
  const peripherals = createPeripherals({ ...options, config });
  const store = new MapStore({ stateDir: options.stateDir, log });
  const map = readMap(config, store, log);
  const { radius } = config.motion;
  const mapParts = { map, store, amr: body.amr, clock, radius };
  const mapChanges = new MapChanges(mapParts);
  const history = new AreaHistory({ stateDir: options.stateDir, log });
  body.amr.subscribe((event) => {
    if (event.type === 'state' && map.rooms !== null) map.rooms.mapping = event.state.mapping != null;
  });
  const bus = new DomainBus((error, event) =>
    log.error({ type: event.type, error: errorText(error) }, 'a listener failed on a domain event'),
  );
  const reserve = new BatteryReserve({
    clock,
    amr: body.amr,
    station: () => map.rooms?.station?.pose ?? null,
    configured: config.motion.battery_reserve,
    maxSpeed: config.motion.max_speed,
  });
  return {
    config,
    reserve,
    body,
    bodyWatch: new BodyWatch({ amr: body.amr, map, clock, log }),
    peripherals,
    map,
    mapChanges,
    mapKeeper: createMapKeeper({ ...mapParts, stateDir: options.stateDir, changes: mapChanges, log }),
    areaChanges: new AreaChanges({ ...mapParts, changes: mapChanges, history }),
    presses: new PressBoard(clock),
    diagnosis: { advice: [] },
    bus,
    state: new DeviceState({
      clock,
      amr: body.amr,
      airSensor: peripherals.airSensor,
      fan: peripherals.fan,
      rooms: () => map.rooms,
      bus,
      bands: config.air_grades,
      freshness: DEFAULT_FRESHNESS,
      batteryReserve: () => reserve.value(),
    }),
  };
}

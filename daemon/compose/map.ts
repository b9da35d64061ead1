/** The map of the profile, read once: names and displays use it here, the motion process drives by it. */
import type { Log } from '../../config/contracts/log.js';
import type { Config } from '../../config/schema.js';
import type { MapBundle } from '../../drivers/amr/types.js';
import type { MapStore } from '../maps/map-store.js';
import { MapRooms } from './rooms.js';

export interface MapInUse {
  file: string | null;
  bundle: MapBundle | null;
  rooms: MapRooms | null;
  /** Why a configured map could not be used. */
  problem: string | null;
}

/** A map that cannot be used never keeps the robot from starting: it starts without one and says so. */
export function readMap(config: Config, store: MapStore, log: Log): MapInUse {
  const file = config.map?.file ?? null;
  if (file === null) return { file: null, bundle: null, rooms: null, problem: null };
  const { bundle, problem } = store.open(file);
  if (problem !== null) {
    log.error({ problem }, 'the map cannot be used; navigation is unavailable until it is mended');
  }
  const rooms = bundle === null ? null : new MapRooms(bundle, config.motion.radius);
  return { file, bundle, rooms, problem };
}

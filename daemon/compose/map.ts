/** The map of the profile, read once: names and displays use it here, the motion process drives by it. */
import { existsSync } from 'node:fs';
import { errorText } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import type { Config } from '../../config/schema.js';
import { loadMapBundle } from '../../drivers/amr/map/bundle.js';
import type { MapBundle } from '../../drivers/amr/types.js';
import { MapRooms } from './rooms.js';

export interface MapInUse {
  file: string | null;
  bundle: MapBundle | null;
  rooms: MapRooms | null;
  /** Why a configured map could not be used. */
  problem: string | null;
}

/** A map that cannot be used never keeps the robot from starting: it starts without one and says so. */
export function readMap(config: Config, log: Log): MapInUse {
  const file = config.map?.file ?? null;
  if (file === null) return { file: null, bundle: null, rooms: null, problem: null };
  try {
    if (!existsSync(file)) throw new Error(`${file}: there is no such file`);
    const bundle = loadMapBundle(file);
    return { file, bundle, rooms: new MapRooms(bundle, config.motion.radius), problem: null };
  } catch (error) {
    const problem = errorText(error);
    log.error({ problem }, 'the map cannot be used; navigation is unavailable until it is mended');
    return { file, bundle: null, rooms: null, problem };
  }
}

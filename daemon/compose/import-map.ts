/** Another map for a robot that runs: checked, kept where the profile looks for it, and in use at once. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AmrDriver } from '../../config/contracts/amr.js';
import { errorText, Refusal } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import { loadMapBundle, saveMapBundle } from '../../drivers/amr/map/bundle.js';
import type { MapBundle } from '../../drivers/amr/types.js';
import type { MapInUse } from './map.js';
import { MapRooms } from './rooms.js';

export interface ImportMapParts {
  map: MapInUse;
  amr: AmrDriver;
  /** Of the robot, m. */
  radius: number;
  log: Log;
}

/**
 * Takes over the bundle at `mapYaml`. The one in use so far is kept in `previous/` beside it. Rejects with a
 * `Refusal` and changes nothing when the map cannot be used, the robot moves, or the profile names no map file.
 */
export async function importMap({ map, amr, radius, log }: ImportMapParts, mapYaml: string): Promise<void> {
  if (map.file === null) {
    throw new Refusal(
      'CAPABILITY_UNAVAILABLE',
      'the profile names no map: set map.file to where this robot keeps its map, and restart it',
    );
  }
  const state = amr.state();
  if (state !== null && state.stoppedSince === null && state.base.connected) {
    throw new Refusal('ILLEGAL_STATE', 'the robot moves; stop it before it gets another map');
  }
  const bundle = loadMapBundle(mapYaml);
  const rooms = new MapRooms(bundle, radius);
  keep(map.file, map.bundle, bundle);
  Object.assign(map, { bundle, rooms, problem: null });
  await amr.loadMap(map.file);
  log.info({ map: bundle.id, rooms: bundle.areas.rooms.length }, 'another map is in use');
  const { station } = bundle.areas;
  if (station !== null && amr.state()?.base.docked === true) await amr.relocalize(station.pose);
}

function keep(file: string, previous: MapBundle | null, bundle: MapBundle): void {
  try {
    if (previous !== null) keepPrevious(file, previous);
    mkdirSync(dirname(file), { recursive: true });
    saveMapBundle(file, bundle);
  } catch (error) {
    throw new Refusal(
      'CAPABILITY_UNAVAILABLE',
      `the map cannot be stored (${errorText(error)}): the robot keeps the one it has`,
    );
  }
}

function keepPrevious(file: string, bundle: MapBundle): void {
  const folder = join(dirname(file), 'previous');
  mkdirSync(folder, { recursive: true });
  saveMapBundle(join(folder, 'map.yaml'), bundle);
}

/** Another map for a robot that runs: checked, kept where the profile looks for it, and in use at once. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AmrDriver } from '../../config/contracts/amr.js';
import { Refusal } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import { loadMapBundle, saveMapBundle } from '../../drivers/amr/map/bundle.js';
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
  if (map.bundle !== null) keepPrevious(map.file, map.bundle);
  mkdirSync(dirname(map.file), { recursive: true });
  saveMapBundle(map.file, bundle);
  Object.assign(map, { bundle, rooms, problem: null });
  await amr.loadMap(map.file);
  log.info({ map: bundle.id, rooms: bundle.areas.rooms.length }, 'another map is in use');
  const { station } = bundle.areas;
  if (station !== null && amr.state()?.base.docked === true) await amr.relocalize(station.pose);
}

function keepPrevious(file: string, bundle: Parameters<typeof saveMapBundle>[1]): void {
  const folder = join(dirname(file), 'previous');
  mkdirSync(folder, { recursive: true });
  saveMapBundle(join(folder, 'map.yaml'), bundle);
}

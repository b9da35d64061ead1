/** Another map for a robot that runs, from a file: checked, kept where the profile looks for it, and in use at once. */
import type { AmrDriver } from '../../config/contracts/amr.js';
import { Refusal } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import { loadMapBundle } from '../../drivers/amr/map/bundle.js';
import type { MapChanges } from './map-changes.js';

export interface ImportMapParts {
  changes: Pick<MapChanges, 'put' | 'unavailable'>;
  amr: AmrDriver;
  log: Log;
}

/**
 * Takes over the bundle at `mapYaml`. The one in use so far is kept, and can be brought back. Rejects with a `Refusal`
 * and changes nothing when the map cannot be used, the robot moves, or the profile names no map file.
 */
export async function importMap({ changes, amr, log }: ImportMapParts, mapYaml: string): Promise<void> {
  const missing = changes.unavailable();
  if (missing !== null) throw new Refusal('CAPABILITY_UNAVAILABLE', missing);
  const state = amr.state();
  if (state !== null && state.stoppedSince === null && state.base.connected) {
    throw new Refusal('ILLEGAL_STATE', 'the robot moves; stop it before it gets another map');
  }
  const bundle = loadMapBundle(mapYaml);
  await changes.put(bundle);
  log.info({ map: bundle.id, rooms: bundle.areas.rooms.length }, 'another map is in use');
}

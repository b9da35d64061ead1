/** What the methods that make maps share. */
import { Refusal } from '../../config/contracts/errors.js';
import type { MappingOperations } from '../../state-machines/mapping/types.js';
import { requireAbility } from '../abilities.js';
import type { Services } from '../services.js';

const CANNOT = 'this robot cannot make maps: import one with deviceagent map import';

/** Throws `Refusal` CAPABILITY_UNAVAILABLE where no maps are made. */
export function mappingOf({ amr, mapping }: Services): MappingOperations {
  requireAbility(amr, 'mapping');
  const why = mapping === null ? CANNOT : mapping.unavailable();
  if (mapping === null || why !== null) throw new Refusal('CAPABILITY_UNAVAILABLE', why ?? CANNOT);
  return mapping;
}

/** A map that nobody could keep is not begun. */
export function requireMapFile({ map }: Services): void {
  const missing = map.unavailable();
  if (missing !== null) throw new Refusal('CAPABILITY_UNAVAILABLE', missing);
}

export function requireBegun(services: Services): MappingOperations {
  const mapping = mappingOf(services);
  if (mapping.status().stage === 'idle') {
    throw new Refusal('STATE_CONDITION_FAILED', 'no map is being made: begin one with startMapping');
  }
  return mapping;
}

/** What every cleaning method needs of the fan. */
import { Refusal } from '../../config/contracts/errors.js';
import type { CleaningOperations } from '../../state-machines/cleaning-types.js';
import type { Services } from '../services.js';

export function requireFan(services: Services): CleaningOperations {
  if (services.cleaning === null) {
    throw new Refusal(
      'CAPABILITY_UNAVAILABLE',
      'this robot has no fan: plug one in and name its port in the profile',
    );
  }
  return services.cleaning;
}

export function requireRunning(services: Services, what: string): CleaningOperations {
  const cleaning = requireFan(services);
  if (!cleaning.status().running) {
    throw new Refusal('STATE_CONDITION_FAILED', `no cleaning runs; there is nothing to ${what}`);
  }
  return cleaning;
}

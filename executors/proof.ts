/** Ends that come before anything was set in motion still need their proof. */
import { isRefusal } from '../config/contracts/errors.js';
import { StoppedWithProof } from '../config/contracts/stopped.js';
import { awaitWheelsStopped, stoppedWithProof } from '../state-machines/body.js';
import type { Services } from './services.js';

/**
 * Runs `body`; when it ends because `signal` was aborted while it only waited (for a fan to stop, for a rotation
 * to begin), shows that the wheels stand still before it says that it was stopped.
 */
export async function withWheelProof<T>(
  services: Services,
  signal: AbortSignal,
  body: () => Promise<T>,
): Promise<T> {
  try {
    signal.throwIfAborted();
    return await body();
  } catch (error) {
    if (!signal.aborted || error instanceof StoppedWithProof || isRefusal(error)) throw error;
    throw stoppedWithProof(await awaitWheelsStopped(services.amr, services.clock, services.settings.stop));
  }
}

/** A stop, a pause or a setting that was cut short has set nothing in motion that it could leave running. */
export async function withoutMotion<T>(
  services: Services,
  signal: AbortSignal,
  body: () => Promise<T>,
): Promise<T> {
  try {
    signal.throwIfAborted();
    return await body();
  } catch (error) {
    if (!signal.aborted || error instanceof StoppedWithProof || isRefusal(error)) throw error;
    throw new StoppedWithProof({ stopped: true, observed_at_ms: services.clock.now() });
  }
}

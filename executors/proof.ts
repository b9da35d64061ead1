/** Ends that come before anything was set in motion still need their proof. */
import { isRefusal } from '../config/contracts/errors.js';
import { StoppedWithProof } from '../config/contracts/stopped.js';
import { awaitWheelsStopped, stoppedWithProof } from '../state-machines/body.js';
import type { Services } from './services.js';

/**
 * Runs `body`; when it ends because `signal` was aborted while it only waited (for a fan to stop, for a rotation
 * to begin), shows that the wheels stand still before it says that it was stopped.
 */
export function withWheelProof<T>(
  { amr, clock, settings }: Services,
  signal: AbortSignal,
  body: () => Promise<T>,
): Promise<T> {
  return provingStop(signal, body, async () =>
    stoppedWithProof(await awaitWheelsStopped(amr, clock, settings.stop)),
  );
}

/** A stop, a pause or a setting that was cut short has set nothing in motion that it could leave running. */
export function withoutMotion<T>(
  { clock }: Services,
  signal: AbortSignal,
  body: () => Promise<T>,
): Promise<T> {
  return provingStop(
    signal,
    body,
    async () => new StoppedWithProof({ stopped: true, observed_at_ms: clock.now() }),
  );
}

async function provingStop<T>(
  signal: AbortSignal,
  body: () => Promise<T>,
  proof: () => Promise<StoppedWithProof>,
): Promise<T> {
  try {
    signal.throwIfAborted();
    return await body();
  } catch (error) {
    if (!signal.aborted || error instanceof StoppedWithProof || isRefusal(error)) throw error;
    throw await proof();
  }
}

/** The start of a robot whose body nobody has looked at yet: physical truth first, then promises. */
import { type Clock, delay } from '../../config/contracts/clock.js';
import type { Log } from '../../config/contracts/log.js';
import type { Parts } from './parts.js';

/** How long the motion process may take to start, and the body to show itself after that, ms of robot time. */
const PROCESS_MS = 15_000;
const BODY_MS = 5_000;
const FAN_MS = 2_000;
const LOOK_MS = 20;

/**
 * Waits until the body has reported and knows its map and, on its station, its place. Never fails: a robot without
 * a body starts too, says what is missing, and takes up what turns up later.
 */
export async function startBody(
  { body, bodyWatch, peripherals }: Parts,
  { clock, log }: { clock: Clock; log: Log },
  signal: AbortSignal,
): Promise<void> {
  if (body.unavailable() !== null) return;
  await until(clock, PROCESS_MS, signal, () => body.amr.state() !== null);
  const known = await until(clock, BODY_MS, signal, () => bodyWatch.known);
  if (!known) log.warn({}, 'the body does not report; motion is refused until it does');
  const { fan } = peripherals;
  if (fan !== null) await until(clock, FAN_MS, signal, () => fan.connected);
}

/** Looks again and again until `done`, or the time is over. */
async function until(clock: Clock, ms: number, signal: AbortSignal, done: () => boolean): Promise<boolean> {
  const deadline = clock.mono() + ms;
  while (!done()) {
    if (clock.mono() >= deadline) return false;
    await delay(clock, LOOK_MS, signal);
  }
  return true;
}

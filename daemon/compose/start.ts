/** The start of a robot whose body nobody has looked at yet: physical truth first, then promises. */
import { type Clock, delay } from '../../config/contracts/clock.js';
import type { Log } from '../../config/contracts/log.js';
import type { Parts } from './parts.js';

/** How long the body may take to show itself before the robot starts without knowing, ms of robot time. */
const BODY_MS = 5_000;
const FAN_MS = 2_000;
const LOOK_MS = 50;

/** The wheels have reported, and localisation has had its say (or has no map to say it on). */
export function bodyIsKnown({ body: { amr }, map }: Parts): boolean {
  const state = amr.state();
  if (state === null || !state.base.connected) return false;
  return map.bundle === null || state.mapId === map.bundle.id;
}

/**
 * Waits until the body has reported, gives it the map, and tells it where it is when it stands on its station.
 * Never fails: a robot without a body starts too, and says what is missing.
 */
export async function startBody(
  parts: Parts,
  { clock, log }: { clock: Clock; log: Log },
  signal: AbortSignal,
): Promise<void> {
  const { amr } = parts.body;
  if (parts.body.unavailable() !== null) return;
  await until(clock, BODY_MS, signal, () => amr.state() !== null);
  await loadMap(parts, log);
  const known = await until(clock, BODY_MS, signal, () => bodyIsKnown(parts));
  if (!known) log.warn({}, 'the body does not report; motion is refused until it does');
  await relocalizeIfDocked(parts, log);
  await until(clock, BODY_MS, signal, () => amr.state()?.localized !== null || !known);
  const { fan } = parts.peripherals;
  if (fan !== null) await until(clock, FAN_MS, signal, () => fan.connected);
}

/** Hands the map to a motion process that has just started; also after it was started again. */
export async function loadMap({ body: { amr }, map }: Parts, log: Log): Promise<void> {
  if (map.file === null || map.bundle === null) return;
  try {
    await amr.loadMap(map.file);
  } catch (error) {
    log.error({ error: String(error) }, 'the motion process did not take the map');
  }
}

/** Live charging contacts say exactly where the robot is. */
export async function relocalizeIfDocked({ body: { amr }, map }: Parts, log: Log): Promise<void> {
  const station = map.bundle?.areas.station;
  const state = amr.state();
  if (station === undefined || station === null || state?.base.docked !== true) return;
  if (state.localized === true) return;
  try {
    await amr.relocalize(station.pose);
  } catch (error) {
    log.warn({ error: String(error) }, 'localisation was not told that the robot stands on its station');
  }
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

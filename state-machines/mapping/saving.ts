/** What becomes of a map that was made: in use, kept aside, or given up. */
import type { AmrDriver, AmrMapping } from '../../config/contracts/amr.js';
import { type Clock, delay } from '../../config/contracts/clock.js';
import { errorText, isRefusal, TaskFailure } from '../../config/contracts/errors.js';
import type { MappedGround } from '../../config/contracts/mapping.js';
import { isTaskReason } from '../../config/contracts/reason-codes.js';
import type { MapKeeper, MappingSaved } from './types.js';

/** For the motion process to report what it was told, ms of robot time. */
const REPORT_MS = 5_000;
const LOOK_MS = 50;

export interface SavingDeps {
  amr: AmrDriver;
  clock: Clock;
  keeper: MapKeeper;
}

/**
 * `save`: in use from now on. `keep`: stored as it is, and it goes on growing. `shelve`: stored, and the map from
 * before is in use again. `discard`: only the latter. Rejects with a `TaskFailure`; then the map goes on growing, unless
 * the motion process has lost it.
 */
export async function saveMapped(
  deps: SavingDeps,
  how: 'save' | 'keep' | 'shelve' | 'discard',
  name: string | null,
): Promise<Omit<MappingSaved, 'stopped'>> {
  const { amr, clock, keeper } = deps;
  const mapping = amr.mapping;
  if (mapping === undefined) throw new TaskFailure('CAPABILITY_UNAVAILABLE', 'this robot cannot make maps');
  if (how === 'discard') {
    return { mapId: null, rooms: 0, observedAtMs: await dropped(deps, mapping), freeArea: null };
  }
  const folder = keeper.makeFolder();
  try {
    const kept = how === 'keep' || how === 'shelve';
    const ground = await mapping.write(folder, kept);
    const { freeArea } = ground;
    if (!kept) return { ...(await takeOver(deps, folder, ground)), freeArea };
    const { mapId, rooms } = await keeper.keep(folder, ground, name);
    const observedAtMs = how === 'shelve' ? await dropped(deps, mapping) : clock.now();
    return { mapId, rooms, observedAtMs, freeArea };
  } finally {
    keeper.discard(folder);
  }
}

/** What cannot be put in use is kept aside, and the robot goes on with the map that it had. */
async function takeOver({ amr, keeper }: SavingDeps, folder: string, ground: MappedGround) {
  try {
    return await keeper.takeOver(folder, ground);
  } catch (error) {
    const kept = await keeper.keep(folder, ground, null).catch(() => null);
    await amr.mapping?.drop().catch(() => undefined);
    const where = kept === null ? 'it is lost' : `it is kept as ${kept.mapId}`;
    const reason = isRefusal(error) && isTaskReason(error.reason) ? error.reason : 'HARDWARE_FAULT';
    throw new TaskFailure(reason, `the new map is not in use (${errorText(error)}); ${where}`);
  }
}

/** Given up: resolves with when the motion process itself reports that it makes no map any more, robot time. */
async function dropped({ amr, clock }: SavingDeps, mapping: AmrMapping): Promise<number> {
  const asked = clock.now();
  await mapping.drop();
  const deadline = clock.mono() + REPORT_MS;
  for (;;) {
    const state = amr.state();
    if (state !== null && state.at >= asked && state.mapping == null) return state.at;
    if (clock.mono() >= deadline) {
      throw new TaskFailure('HARDWARE_FAULT', 'the motion process still reports the map that was given up');
    }
    await delay(clock, LOOK_MS);
  }
}

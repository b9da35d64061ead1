/** The end of a run: everything is let end, nothing may be left on, and the robot has to be of use still. */
import type { EventBook } from './event-book.js';
import type { Load } from './load.js';
import type { Simulation, WorldTruth } from './simulation.js';
import { type Bell, sleep } from './waiting.js';

export interface EndingDeps {
  sim: Simulation;
  load: Load;
  bell: Bell;
  events: EventBook;
  unanswered(): number;
  /** Wall time of the last message from the robot. */
  lastHeard(): number;
}

/** How long work may go on by itself, to be cancelled, and to drive home; ms. */
const FINISH_MS = 10_000;
const CANCEL_MS = 60_000;
const HOME_MS = 240_000;
const HOME_TRIES = 3;
const QUIET_MS = 1500;
/** A fan that was told to stop, or that is looked for after a restart; ms. */
const REST_MS = 6000;

/** Waits until everything that was accepted has ended, cancelling it after a while. */
export async function letEverythingEnd({ load, bell, unanswered }: EndingDeps): Promise<void> {
  const answered = () => unanswered() === 0;
  const ended = () => answered() && load.live.length === 0 && load.waitingSchedules.length === 0;
  if (await bell.until(ended, FINISH_MS)) return;
  await bell.until(answered, FINISH_MS);
  load.cancelAll();
  await bell.until(ended, CANCEL_MS);
}

/** With nothing under way, wheels and fan rest: nobody is left to stop them. Null when they do. */
export async function leftOn({ sim }: EndingDeps): Promise<string | null> {
  const resting = ({ command, fan }: WorldTruth) =>
    command.left === 0 && command.right === 0 && fan.setPointPercent === 0;
  let world = await sim.world();
  for (let waited = 0; !resting(world) && waited < REST_MS; waited += QUIET_MS) {
    await sleep(QUIET_MS);
    world = await sim.world();
  }
  const { command, fan } = world;
  return resting(world) ? null : `left on with no task: ${JSON.stringify({ command, fan })}`;
}

/**
 * One more drive, back to the station. Null when the robot really stands there, otherwise what went wrong. A machine so
 * late that the safety layer takes the daemon for dead is no fault of the robot: that is tried again.
 */
export async function driveHome(deps: EndingDeps): Promise<string | null> {
  for (let tries = 1; ; tries++) {
    const wrong = await driveHomeOnce(deps);
    if (wrong === null || tries === HOME_TRIES || !wrong.includes('daemon_silent')) return wrong;
  }
}

async function driveHomeOnce({ sim, load, bell, events }: EndingDeps): Promise<string | null> {
  const home = load.send('returnToStation', {
    kind: 'task',
    method: 'returnToStation',
    params: {},
    task: {},
  });
  const end = () => events.endOf(home.answer?.taskId ?? '');
  await bell.until(() => home.answer?.status === 'rejected' || end() !== null, HOME_MS);
  const world = await sim.world();
  if (end()?.event === 'COMPLETED' && world.docked) return null;
  const why = end() ?? home.answer;
  const believes = load.send('where it is', {
    kind: 'query',
    method: 'getDevicePlanningContext',
    params: {},
  });
  await bell.until(() => believes.answer !== null, FINISH_MS);
  return (
    `the last drive home: ${why === null ? 'no sign of it' : `${why.reasonCode} ${why.message}`}; ` +
    `it is at ${JSON.stringify(world.pose)} and believes ${JSON.stringify(believes.answer?.result?.location)}`
  );
}

/** Until the robot has said nothing for a while. */
export async function untilQuiet({ lastHeard }: EndingDeps): Promise<void> {
  const deadline = Date.now() + FINISH_MS;
  while (Date.now() - lastHeard() < QUIET_MS && Date.now() < deadline) await sleep(QUIET_MS / 5);
}

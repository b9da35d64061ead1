/** One try: a robot in a home, somewhere at random, with a lidar that sends damaged frames, told to go home. */
import { seededRandom } from '../../config/contracts/ids.js';
import { COMFORTABLE, Ground } from '../missions/ground.js';
import { Home } from '../support/home.js';

export interface DockTry {
  seed: number;
  /** Metres of the shortest way to the station. */
  metres: number;
  /** Share of damaged lidar frames. */
  noise: number;
  /** Docked and charging in truth, at the end that the task told. */
  docked: boolean;
  /** What the task told. */
  outcome: string;
  attempts: number | null;
  tookS: number;
  collisions: number;
}

/** Tries that share a home: starting one takes as long as driving in it. */
const PER_HOME = 20;
const OUT_MS = 300_000;
const HOME_MS = 300_000;
const FAR = { least: 0.6, most: 3.5 };
/** Between the hull and the nearest thing at a start, m. */
const ROOM = 0.12;
const WORLDS = [null, 'narrow-flat', 'long-house'] as const;

/** `count` tries from `seed` on; every `PER_HOME` in one home, the three homes in turn. */
export async function dockTries(
  seed: number,
  count: number,
  noise: number,
  tell: (one: DockTry) => void,
): Promise<void> {
  for (let done = 0; done < count; done += PER_HOME) {
    const first = seed + done;
    await triesInHome(first, Math.min(PER_HOME, count - done), noise, tell);
  }
}

async function triesInHome(
  first: number,
  count: number,
  noise: number,
  tell: (one: DockTry) => void,
): Promise<void> {
  const world = WORLDS[Math.floor(first / PER_HOME) % WORLDS.length] ?? null;
  const worldFile = new URL(`../../simulator/worlds/${world}.yaml`, import.meta.url).pathname;
  const home = await Home.start({
    seed: first,
    network: 'simulated',
    ...(world === null ? {} : { worldFile }),
  });
  let collisions = 0;
  home.session.world.onEvent((event) => {
    if (event.text === 'collision') collisions++;
  });
  try {
    const ground = new Ground(home.session.world.layout);
    await home.inject('noise', 'lidar', String(noise));
    for (let i = 0; i < count; i++) {
      const seed = first + i;
      const random = seededRandom(seed);
      await home.inject('battery', '90');
      const metres = await driveOut(home, ground, random);
      collisions = 0;
      const result = await driveHome(home);
      tell({ seed, metres, noise, collisions, ...result });
    }
  } finally {
    await home.stop();
  }
}

/** To a random free place, with a random heading; answers how far the way back is. */
async function driveOut(home: Home, ground: Ground, random: () => number): Promise<number> {
  const { pose } = home.world;
  const spot = ground.spot(random, ROOM, pose, FAR);
  if (spot === null) throw new Error('there is no free place to start from');
  const position = { ...spot, theta: (random() - 0.5) * 2 * Math.PI };
  await ended(home, 'setMoveTo', { position }, OUT_MS);
  const station = home.session.world.layout.dock?.station ?? pose;
  return ground.shortest(home.world.pose, station, COMFORTABLE)?.metres ?? 0;
}

async function driveHome(home: Home): Promise<Pick<DockTry, 'docked' | 'outcome' | 'attempts' | 'tookS'>> {
  const from = home.world.timeMs;
  const { outcome, evidence } = await ended(home, 'returnToStation', {}, HOME_MS);
  const { docked, battery } = home.world;
  const attempts = typeof evidence?.attempts === 'number' ? evidence.attempts : null;
  return {
    docked: docked && battery.charging,
    outcome,
    attempts,
    tookS: (home.world.timeMs - from) / 1000,
  };
}

async function ended(
  home: Home,
  method: string,
  params: object,
  withinMs: number,
): Promise<{ outcome: string; evidence: Record<string, unknown> | null }> {
  const { task_id: id, reason_code } = await home.command({ kind: 'task', method, params, task: {} });
  if (id === null) return { outcome: `refused ${reason_code}`, evidence: null };
  try {
    await home.until(() => home.ended(id) !== null, withinMs, `${method} ends`);
  } catch {
    return { outcome: 'no end', evidence: null };
  }
  const end = home.ended(id);
  const outcome = end?.event === 'FAILED' ? `FAILED ${end.reasonCode}` : (end?.event ?? 'no end');
  return { outcome, evidence: (end?.evidence ?? null) as Record<string, unknown> | null };
}

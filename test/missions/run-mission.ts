/** One mission: a home, a robot, some places to go to, some trouble on the way, and the way home. */
import { seededRandom } from '../../config/contracts/ids.js';
import { Home } from '../support/home.js';
import { beliefOf } from './belief.js';
import { drive, goHome } from './drive.js';
import { type Plan, planMission } from './families.js';
import { Ground } from './ground.js';
import { Recorder } from './recorder.js';
import { FAMILIES, type Family, type MissionResult, type Place, type Running } from './types.js';

/** The family of a seed: neighbours differ, so that a run of seeds has a share of each. */
export function familyOf(seed: number): Family {
  return FAMILIES[seed % FAMILIES.length] ?? 'plain';
}

/** Reproducible by its seed alone. Never throws: what broke is a problem of the mission. */
export async function runMission(seed: number): Promise<MissionResult> {
  const random = seededRandom(seed);
  const family = familyOf(seed);
  const plan = planMission(family, random);
  const result = emptyResult(seed, family, plan.place);
  try {
    const home = await Home.start({
      seed,
      network: 'simulated',
      baseWatchdog: plan.baseWatchdog,
      ...(plan.place.worldFile === null ? {} : { worldFile: plan.place.worldFile }),
      ...(plan.place.mapFile === null ? {} : { mapFile: plan.place.mapFile }),
    });
    try {
      await live(home, plan, random, result);
    } finally {
      await home.stop();
    }
  } catch (error) {
    result.problems.push(`broke: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    plan.place.cleanUp();
  }
  return result;
}

async function live(home: Home, plan: Plan, random: () => number, result: MissionResult): Promise<void> {
  const { world } = home.session;
  const running: Running = {
    home,
    ground: groundOf(plan.place, home),
    recorder: new Recorder(world),
    belief: beliefOf(home),
    random,
  };
  try {
    await home.run(2000);
    if (plan.carriedOffStation) await carryOff(running);
    for (const [i, leg] of plan.legs.entries()) {
      result.legs.push(await drive(running, leg, plan.rooms[i] ?? null));
    }
    Object.assign(result, await goHome(running, plan));
  } finally {
    const { recorder, belief } = running;
    result.collisions = recorder.touches.own.length;
    result.touchedByOthers = recorder.touches.others;
    result.hazards = recorder.hazards;
    result.wronglySureMs = belief.wronglySureMs;
    result.simulatedS = world.timeMs / 1000;
    result.trace = recorder.trace();
    result.problems.push(...recorder.touches.own.map((touch) => `touched ${touch}`));
    result.problems.push(...laneProblems(home));
  }
}

/** Taken off the station and put down somewhere: what it knew of its place is wrong. */
async function carryOff({ home, ground, recorder, random }: Running): Promise<void> {
  const { world } = home.session;
  const spot = ground.spot(random, 0.2, home.world.pose, { least: 1, most: 12 });
  if (spot === null) return;
  world.body.lifted = true;
  await home.run(2000);
  world.place({ ...spot, theta: (random() - 0.5) * 2 * Math.PI });
  world.tell('carried off the station');
  recorder.carried();
  world.body.lifted = false;
  await home.run(3000);
}

/** Events to the cloud that were lost, came twice or out of order. */
function laneProblems(home: Home): string[] {
  const { problems, missing, deadLettered } = home.cloud.report();
  return [
    ...problems.map(({ kind, text }) => `${kind}: ${text}`),
    ...(missing.length > 0 ? [`events never came: ${missing.join(', ')}`] : []),
    ...(deadLettered > 0 ? [`${deadLettered} events were given up`] : []),
  ];
}

/** The grounds of worlds that are the same in every mission are surveyed once. */
const grounds = new Map<string, Ground>();

function groundOf(place: Place, home: Home): Ground {
  const known = place.mapFile === null ? grounds.get(place.name) : undefined;
  if (known !== undefined) return known;
  const ground = new Ground(home.session.world.layout);
  if (place.mapFile === null) grounds.set(place.name, ground);
  return ground;
}

function emptyResult(seed: number, family: Family, place: Place): MissionResult {
  return {
    seed,
    family,
    place: place.name,
    legs: [],
    collisions: 0,
    touchedByOthers: 0,
    docked: null,
    dockOutcome: 'not asked',
    hazards: [],
    wronglySureMs: 0,
    simulatedS: 0,
    trace: '',
    problems: [],
  };
}

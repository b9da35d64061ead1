/** Plays one mission in a whole home, in simulated time, and judges it. */
import type { Point } from '../../config/contracts/geometry.js';
import { fits } from '../../simulator/world/visitors.js';
import { Home } from '../support/home.js';
import { worldFileOf } from './terrain.js';
import { Touches } from './touches.js';
import type { Leg, LegResult, Mission, MissionResult, Outcome, Trouble } from './types.js';

/** What the robot drives at most, m/s: `motion.max_speed` of the simulated home. */
const FULL_SPEED = 0.35;
/** Arrived means within this of the goal, really, m and rad: what a task promises and what a pose is worth. */
const NEAR = { xy: 0.16, theta: 0.25 };
/** A leg without an end by then is a defect, robot time, ms. */
const LEG_MS = 600_000;
/** Stations whose robot went home by itself are waited for, ms. */
const HOME_BY_ITSELF_MS = 240_000;

export async function playMission(mission: Mission): Promise<MissionResult> {
  const began = performance.now();
  const worldFile = worldFileOf(mission.home);
  const home = await Home.start({
    seed: mission.seed,
    network: 'simulated',
    ...(worldFile === null ? {} : { worldFile }),
  });
  const touches = new Touches(home.session.world);
  const defects: string[] = [];
  const legs: LegResult[] = [];
  try {
    for (const leg of mission.legs) legs.push(await playLeg(home, leg, touches));
  } catch (error) {
    defects.push(error instanceof Error ? error.message : String(error));
  }
  const { problems, missing, deadLettered } = home.cloud.report();
  defects.push(...problems.map((problem) => JSON.stringify(problem)));
  if (missing.length > 0) defects.push(`events missing: ${missing.join(', ')}`);
  if (deadLettered > 0) defects.push(`${deadLettered} dead letters`);
  touches.close();
  const { docked, timeMs } = home.world;
  await home.stop();
  return {
    seed: mission.seed,
    family: mission.family,
    home: mission.home,
    ok: defects.length === 0 && touches.own.length === 0 && docked && legs.every((leg) => leg.ok),
    legs,
    collisions: touches.own,
    docked,
    defects,
    robotSeconds: timeMs / 1000,
    wallSeconds: (performance.now() - began) / 1000,
  };
}

async function playLeg(home: Home, leg: Leg, touches: Touches): Promise<LegResult> {
  const troubles = new Troubles(home, touches);
  for (const trouble of leg.before) await troubles.cause(trouble);
  if (leg.before.some(({ kind }) => kind === 'carry')) await home.run(5000);
  const way = new Way(home);
  const from = home.world.timeMs;
  const [method, params] =
    leg.goal === null ? ['returnToStation', {}] : ['setMoveTo', { position: { ...leg.goal } }];
  const answer = await home.command({ kind: 'task', method, params, task: {} });
  let says: string;
  let outcome: Outcome | 'failed';
  if (answer.task_id === null) {
    says = `${answer.reason_code}: ${answer.message}`;
    outcome = 'refused';
  } else {
    const end = await ended(home, answer.task_id, troubles, leg.troubles);
    says = end.says;
    outcome = outcomeOf(home, leg, end.event, end.reason);
  }
  const seconds = (home.world.timeMs - from) / 1000;
  if (outcome === 'low_battery')
    await home.until(() => home.world.docked, HOME_BY_ITSELF_MS, 'it is home by itself');
  const metres = way.end();
  const arrived = outcome === 'arrived';
  return {
    goal: leg.goal,
    outcome,
    ok: outcome !== 'failed' && leg.right.includes(outcome),
    says,
    seconds,
    ideal: arrived && leg.shortest !== null ? leg.shortest / FULL_SPEED : null,
    metres,
    troubled: leg.troubles.length > 0,
  };
}

/** Lets time pass and troubles come until the task has ended. */
async function ended(home: Home, taskId: string, troubles: Troubles, coming: readonly Trouble[]) {
  const from = home.world.timeMs;
  const open = [...coming].sort((a, b) => a.afterMs - b.afterMs);
  for (;;) {
    const now = home.world.timeMs - from;
    while (open[0] !== undefined && open[0].afterMs <= now) {
      const next = open.shift();
      if (next !== undefined) await troubles.cause(next);
    }
    await troubles.tick();
    const end = home.ended(taskId);
    if (end !== null) {
      // What was begun is also put right, e.g. a cable plugged in again, and an e-stop released.
      for (const trouble of open) if (isMending(trouble)) await troubles.cause(trouble);
      await troubles.settle();
      return {
        event: end.event,
        reason: end.reasonCode,
        says: `${end.event} ${end.reasonCode ?? ''}`.trim(),
      };
    }
    if (now > LEG_MS) throw new Error(`no end after ${LEG_MS / 1000} s of robot time`);
    await home.session.step();
  }
}

function isMending(trouble: Trouble): boolean {
  if (trouble.kind !== 'inject') return false;
  const [what, ...words] = trouble.words;
  return what === 'plug' || words.at(-1) === 'off' || words.at(-1) === '0';
}

/** What really was, whatever the robot says: `failed` where the two do not agree. */
function outcomeOf(home: Home, leg: Leg, event: string, reason: string | null): Outcome | 'failed' {
  const { pose, docked } = home.world;
  if (event === 'COMPLETED') {
    if (leg.goal === null) return docked ? 'arrived' : 'failed';
    const off = Math.hypot(pose.x - leg.goal.x, pose.y - leg.goal.y);
    const turn = Math.abs(
      Math.atan2(Math.sin(pose.theta - leg.goal.theta), Math.cos(pose.theta - leg.goal.theta)),
    );
    return off <= NEAR.xy && turn <= NEAR.theta ? 'arrived' : 'failed';
  }
  if (reason === 'OBSTRUCTED') return 'obstructed';
  if (reason === 'TARGET_UNREACHABLE') return leg.right.includes('obstructed') ? 'obstructed' : 'failed';
  if (reason === 'LOW_BATTERY') return 'low_battery';
  if (reason === 'EMERGENCY_STOP') return 'stopped';
  return 'failed';
}

class Troubles {
  readonly #home: Home;
  readonly #touches: Touches;
  /** World time at which a pressed stop is released, ms. */
  #releaseAt: number | null = null;

  constructor(home: Home, touches: Touches) {
    this.#home = home;
    this.#touches = touches;
  }

  async cause(trouble: Trouble): Promise<void> {
    const { world } = this.#home.session;
    switch (trouble.kind) {
      case 'inject':
        await this.#home.inject(...trouble.words);
        return;
      case 'obstacle':
        if (this.#free(trouble.at, 0.15)) world.visitors.addObstacle(trouble.at);
        return;
      case 'clear_obstacles':
        world.visitors.removeObstacles();
        return;
      case 'walker':
        if (this.#free(trouble.from, 0.16)) {
          world.visitors.addPerson(trouble.from, { walk: [trouble.to, trouble.from], speed: trouble.speed });
        }
        return;
      case 'people_leave':
        world.visitors.removePeople();
        return;
      case 'carry':
        this.#touches.carried();
        world.place(trouble.to);
        return;
      case 'estop':
        await this.#home.inject('estop');
        this.#releaseAt = this.#home.world.timeMs + trouble.releaseAfterMs;
        return;
    }
  }

  async tick(): Promise<void> {
    if (this.#releaseAt === null || this.#home.world.timeMs < this.#releaseAt) return;
    this.#releaseAt = null;
    const released = this.#home.daemon.runtime.releaseEstop('somebody at the robot');
    await this.#home.settled(released, 5000, 'the e-stop is released');
  }

  async settle(): Promise<void> {
    while (this.#releaseAt !== null) {
      await this.#home.session.step();
      await this.tick();
    }
  }

  #free(at: Point, radius: number): boolean {
    const { layout, body } = this.#home.session.world;
    return fits(layout, at, radius, body.pose);
  }
}

/** How far the robot really went. */
class Way {
  #metres = 0;
  #last: Point;
  readonly #detach: () => void;

  constructor(home: Home) {
    const { world } = home.session;
    this.#last = world.body.pose;
    this.#detach = world.attach({
      flush: () => {
        const { pose } = world.body;
        this.#metres += Math.hypot(pose.x - this.#last.x, pose.y - this.#last.y);
        this.#last = pose;
      },
    });
  }

  end(): number {
    this.#detach();
    return this.#metres;
  }
}

/** Sends the robot somewhere, lets things go wrong on the way, and says whether it ended as the world allows. */
import { compose, distance, type Point } from '../../config/contracts/geometry.js';
import type { ReceivedEvent } from '../../simulator/cloud/types.js';
import type { Plan } from './families.js';
import { BARE, COMFORTABLE } from './ground.js';
import type { Leg, LegResult, MissionResult, Running, Scene, Trouble } from './types.js';

/** Robot time that a journey, and the way home with its retries, may take, ms. */
const JOURNEY_MS = 330_000;
const HOME_MS = 600_000;
/** How often the robot is asked where it thinks it is, ms. */
const LOOK_MS = 1000;
/** The robot's full speed, and how near to its goal it has to be. */
const FULL_SPEED = 0.35;
const ARRIVED = 0.25;
const GOAL_ROOM = 0.15;
const FAR = { least: 1.5, most: 18 };
/** An end that comes so soon after a trouble began may have come before it was noticed, ms. */
const UNNOTICED_MS = 5000;
/** Not sent at all, because the robot does not know where it is. */
const LOST: readonly string[] = ['refused LOCALIZATION_LOST', 'FAILED LOCALIZATION_LOST'];
/** Nobody has to be squeezed past: so much more room is theirs, m. */
const ELBOWS = 0.15;
/** Ground is remembered as barred for a while after it is free, ms. */
const GONE_MS = 15_000;

interface Begun {
  trouble: Trouble;
  at: number;
  /** World time of its end; null while it lasts. */
  endedAt: number | null;
}

interface Ended {
  outcome: string;
  event: ReceivedEvent | null;
  tookS: number;
  begun: Begun[];
  /** Of the end: when it was, where the robot was, and what stood in the home. */
  endMs: number;
  at: Point;
  things: Thing[];
}

type Thing = { x: number; y: number; radius: number };

export async function drive(running: Running, leg: Leg, room: string | null): Promise<LegResult> {
  const { home, ground } = running;
  const from = startOf(running);
  const goal = leg.impossible === true ? nowhereToStand(running) : goalOf(running, room, from);
  if (goal === null) return nowhere(home.world.pose);
  const scene: Scene = { ...running, goal: goal.at };
  const ideal = ground.shortest(from, goal.at, BARE);
  let ended = await attempt(scene, running, goal.params, leg.troubles, JOURNEY_MS);
  // Told at once, before it moves: somebody at the robot lets it look around.
  if (LOST.includes(ended.outcome) && ended.tookS < 1) {
    await lookAround(running);
    ended = await attempt(scene, running, goal.params, leg.troubles, JOURNEY_MS);
  }
  const { right, why } = judge(running, leg, goal.at, ended);
  return {
    goal: goal.at,
    outcome: ended.outcome,
    right,
    why,
    metres: ideal?.metres ?? null,
    idealS: ended.outcome === 'COMPLETED' && ideal !== null ? ideal.metres / FULL_SPEED : null,
    tookS: ended.tookS,
    troubles: ended.begun.map(({ trouble }) => trouble.what),
  };
}

export async function goHome(
  running: Running,
  plan: Plan,
): Promise<Pick<MissionResult, 'docked' | 'dockOutcome'>> {
  const { home, belief } = running;
  if (plan.goesHomeItself) {
    await pass(running, () => home.world.docked, 300_000);
    await home.run(3000);
    const docked = home.world.docked;
    return { docked, dockOutcome: docked ? 'by itself' : 'did not go home by itself' };
  }
  await belief.look();
  if (belief.localized !== true) await lookAround(running);
  const scene: Scene = { ...running, goal: stationOf(running) };
  const ended = await attempt(scene, running, null, plan.homeward, HOME_MS);
  if (ended.outcome === 'COMPLETED' && home.world.docked) return { docked: true, dockOutcome: 'COMPLETED' };
  const lost = belief.localized !== true && ended.outcome !== 'COMPLETED';
  const noWay = running.ground.shortest(ended.at, scene.goal, COMFORTABLE, ended.things) === null;
  return { docked: lost || noWay ? null : false, dockOutcome: `${ended.outcome}${lost ? ' (lost)' : ''}` };
}

/** One task from its command to its end, with its troubles; `params` null: back to the station. */
async function attempt(
  scene: Scene,
  running: Running,
  params: object | null,
  troubles: readonly Trouble[],
  ms: number,
): Promise<Ended> {
  const { home } = running;
  const began = home.world.timeMs;
  const method = params === null ? 'returnToStation' : 'setMoveTo';
  const answer = await home.command({ kind: 'task', method, params: params ?? {}, task: {} });
  const id = answer.task_id;
  const now = () => ({ endMs: home.world.timeMs, at: { ...home.world.pose }, things: things(running) });
  if (id === null) {
    return { outcome: `refused ${answer.reason_code}`, event: null, tookS: 0, begun: [], ...now() };
  }
  const begun = await withTroubles(scene, running, troubles, () => home.ended(id) !== null, ms);
  const event = home.ended(id);
  const tookS = (home.world.timeMs - began) / 1000;
  const end =
    event === null ? 'no end' : event.event === 'FAILED' ? `FAILED ${event.reasonCode}` : event.event;
  const facts = { outcome: end, event, tookS, begun, ...now() };
  await finish(scene, running, begun);
  return facts;
}

async function withTroubles(
  scene: Scene,
  running: Running,
  troubles: readonly Trouble[],
  done: () => boolean,
  ms: number,
): Promise<Begun[]> {
  const { home, recorder } = running;
  const from = recorder.travelled;
  const waiting = [...troubles];
  const begun: Begun[] = [];
  await pass(running, done, ms, async () => {
    for (const trouble of waiting.splice(0)) {
      if (recorder.travelled - from < trouble.afterM) {
        waiting.push(trouble);
        continue;
      }
      if (trouble.stopsWithinMs !== undefined) recorder.expectStop(trouble.what, trouble.stopsWithinMs);
      await trouble.begin(scene);
      begun.push({ trouble, at: home.world.timeMs, endedAt: null });
    }
    await endTroubles(scene, begun);
  });
  return begun;
}

async function endTroubles(scene: Scene, begun: readonly Begun[]): Promise<void> {
  for (const one of begun) {
    const { lastsMs } = one.trouble;
    if (one.endedAt !== null || lastsMs === null || scene.home.world.timeMs - one.at < lastsMs) continue;
    one.endedAt = scene.home.world.timeMs;
    await one.trouble.end?.(scene);
  }
}

/** What does not last for good is waited for before anything else is asked. */
async function finish(scene: Scene, running: Running, begun: readonly Begun[]): Promise<void> {
  const open = () => begun.some((one) => one.endedAt === null && one.trouble.lastsMs !== null);
  const some = begun.length > 0;
  await pass(
    running,
    () => !open(),
    120_000,
    () => endTroubles(scene, begun),
  );
  if (some) await scene.home.run(2000);
}

/** Lets time pass, and asks the robot every second where it thinks it is. */
async function pass(
  { home, belief }: Running,
  done: () => boolean,
  ms: number,
  each: () => Promise<void> = async () => {},
): Promise<void> {
  const began = home.world.timeMs;
  let lookAt = began;
  while (!done() && home.world.timeMs - began < ms) {
    await home.session.step();
    await each();
    if (home.world.timeMs < lookAt) continue;
    lookAt = home.world.timeMs + LOOK_MS;
    await belief.look();
  }
}

/** What somebody does who finds a robot that does not know where it is: lets it turn. */
async function lookAround(running: Running): Promise<void> {
  const { home, belief } = running;
  await belief.look();
  for (let i = 0; i < 3 && belief.localized !== true; i++) {
    const answer = await home.command({
      kind: 'task',
      method: 'rotate',
      params: { angleDeg: 360 },
      task: {},
    });
    const id = answer.task_id;
    if (id !== null) await pass(running, () => home.ended(id) !== null, 60_000);
    await pass(running, () => belief.localized === true, 20_000);
  }
}

function judge(running: Running, leg: Leg, goal: Point, ended: Ended): { right: boolean; why: string } {
  const { home, ground } = running;
  const { outcome, event, begun } = ended;
  const last = begun.at(-1)?.at ?? null;
  const unnoticed =
    last === null || home.world.timeMs - last < UNNOTICED_MS + ended.begun.length * UNNOTICED_MS;
  if (outcome === 'COMPLETED' && leg.impossible !== true) {
    if (distance(home.world.pose, goal) > ARRIVED)
      return { right: false, why: 'it is not where it says it arrived' };
    if (leg.expect !== null && !unnoticed) return { right: false, why: `expected FAILED ${leg.expect}` };
    return { right: true, why: 'arrived' };
  }
  if (leg.impossible === true) {
    const right = ['refused TARGET_UNREACHABLE', 'refused INVALID_PARAMS'].includes(outcome);
    return { right, why: right ? 'nobody can stand there' : 'it should be refused before it drives' };
  }
  const reason = outcome.replace(/^(FAILED|refused) /, '');
  if (begun.some(({ trouble }) => trouble.excuses.includes(reason)))
    return { right: true, why: 'the trouble excuses it' };
  if (reason === 'LOCALIZATION_LOST' && running.belief.localized !== true && running.recorder.wasCarried) {
    return { right: true, why: 'it was carried off and does not know where it is' };
  }
  if (reason === 'OBSTRUCTED' || reason === 'TARGET_UNREACHABLE') {
    const justGone = begun.some((one) => one.endedAt !== null && wasThere(one.endedAt, ended.endMs));
    if (justGone) return { right: true, why: 'it was barred until a moment ago' };
    if (ground.shortest(ended.at, goal, COMFORTABLE, ended.things) !== null) {
      return { right: false, why: `there is a way: ${event?.message ?? ''}` };
    }
    const told = reason !== 'OBSTRUCTED' || saysWhere(event);
    return { right: told, why: told ? 'there is no way' : 'it does not say where' };
  }
  return { right: false, why: event?.message ?? outcome };
}

/** What went away so shortly before the end may not have been seen to be gone. */
function wasThere(endedAt: number, endMs: number): boolean {
  return endedAt <= endMs && endMs - endedAt <= GONE_MS;
}

function saysWhere(event: ReceivedEvent | null): boolean {
  const evidence: unknown = event?.evidence ?? null;
  return typeof evidence === 'object' && evidence !== null && 'where' in evidence && evidence.where !== null;
}

/** What stands or walks in the home now. */
function things({ home }: Running): Thing[] {
  const { people, obstacles } = home.session.world.visitors;
  return [
    ...people.map(({ x, y, radius }) => ({ x, y, radius: radius + ELBOWS })),
    ...obstacles.map(({ x, y, radius }) => ({ x, y, radius })),
  ];
}

function goalOf(
  { home, ground, random }: Running,
  room: string | null,
  from: Point,
): { at: Point; params: object } | null {
  if (room !== null) {
    const goal = home.session.world.layout.rooms.find(({ name }) => name === room)?.goal;
    return goal === undefined ? null : { at: goal, params: { positionName: room } };
  }
  const at = ground.spot(random, GOAL_ROOM, from, FAR);
  if (at === null) return null;
  const theta = (random() - 0.5) * 2 * Math.PI;
  return { at, params: { position: { x: at.x, y: at.y, theta } } };
}

/** In a wall or in furniture, or off the map. */
function nowhereToStand({ ground, random }: Running): { at: Point; params: object } {
  const { minX, minY, maxX, maxY } = ground.layout.bounds;
  let at = { x: maxX + 400, y: maxY + 400 };
  for (let tries = 0; tries < 500 && random() < 0.99; tries++) {
    const p = { x: minX + random() * (maxX - minX), y: minY + random() * (maxY - minY) };
    if (!ground.layout.isOccupied(p.x, p.y)) continue;
    at = p;
    break;
  }
  return { at, params: { position: { ...at, theta: 0 } } };
}

/** Where a way begins: in front of the station when the robot stands on it. */
function startOf(running: Running): Point {
  return running.home.world.docked ? stationOf(running) : running.home.world.pose;
}

function stationOf({ home }: Running): Point {
  const dock = home.session.world.layout.dock;
  return dock === null ? home.world.pose : compose(dock.station, { x: -0.5, y: 0, theta: 0 });
}

function nowhere(goal: Point): LegResult {
  const none = { metres: null, idealS: null, tookS: 0, troubles: [] };
  return { goal, outcome: 'not sent', right: true, why: 'no free place was found', ...none };
}

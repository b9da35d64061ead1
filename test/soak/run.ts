/** Days in the life of a robot: chores and troubles at random, and every half hour a rest in which all must be well. */
import { seededRandom } from '../../config/contracts/ids.js';
import { between, nextChore } from './chores.js';
import { judge, type SoakReport } from './report.js';
import { rest } from './rest.js';
import { SoakRobot } from './robot.js';
import { attempt, nextTrouble, type Trouble } from './troubles.js';

interface Run {
  hours: number;
  seed: number;
  stateDir: string;
  say(line: string): void;
}

/** Robot time between two rests, ms. */
const REST_EVERY_MS = 30 * 60_000;
/** Robot time between two chores, and between two troubles, s. */
const CHORE_S = { least: 5, most: 90 };
const TROUBLE_S = { least: 30, most: 300 };

export async function runSoak({ hours, seed, stateDir, say }: Run): Promise<SoakReport> {
  const began = performance.now();
  const random = seededRandom(seed);
  const robot = new SoakRobot(stateDir, seed);
  const counts = { chores: new Map<string, number>(), troubles: new Map<string, number>() };
  const findings: string[] = [];
  const memory: { daemon: number; rt: number }[] = [];
  let refused = 0;
  let rests = 0;
  let defects = 0;
  try {
    await robot.ready();
    const end = hours * 3_600_000;
    while ((await robot.worldMs()) < end) {
      refused += await liveThrough(robot, random, counts);
      rests += 1;
      const found = await rest(robot);
      findings.push(...found.map((text) => `rest ${rests}: ${text}`));
      memory.push(robot.memory());
      const at = ((await robot.worldMs()) / 3_600_000).toFixed(1);
      const { daemon, rt } = robot.memory();
      say(
        `${at} h: ${found.length === 0 ? 'all well' : found.join('; ')} (${daemon.toFixed(0)} + ${rt.toFixed(0)} MB)`,
      );
    }
    defects = await countedDefects(robot);
  } catch (error) {
    findings.push(`the run broke: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await robot.stop();
  }
  return judge({
    seed,
    hours,
    wallMs: performance.now() - began,
    chores: Object.fromEntries(counts.chores),
    refused,
    troubles: Object.fromEntries(counts.troubles),
    rests,
    findings,
    memory,
    defects,
  });
}

/** One stretch until the next rest; resolves to the number of chores that were refused. */
async function liveThrough(
  robot: SoakRobot,
  random: () => number,
  counts: { chores: Map<string, number>; troubles: Map<string, number> },
): Promise<number> {
  const until = (await robot.worldMs()) + REST_EVERY_MS;
  const open: { trouble: Trouble; endsAt: number }[] = [];
  let refused = 0;
  let choreAt = 0;
  let troubleAt = 0;
  for (;;) {
    const now = await robot.worldMs();
    if (now >= until) return refused;
    for (const { trouble, endsAt } of open.splice(0)) {
      if (endsAt > now) open.push({ trouble, endsAt });
      else if (trouble.end !== null) await attempt(robot, trouble.end);
    }
    if (now >= troubleAt) {
      troubleAt = now + between(TROUBLE_S.least, TROUBLE_S.most, random) * 1000;
      const trouble = nextTrouble(random);
      if (await attempt(robot, trouble.begin)) {
        add(counts.troubles, trouble.what);
        open.push({ trouble, endsAt: now + trouble.lastsMs });
      }
    }
    if (now >= choreAt) {
      choreAt = now + between(CHORE_S.least, CHORE_S.most, random) * 1000;
      const { what, taken } = await nextChore(random)(robot, random);
      add(counts.chores, what);
      if (!taken) refused += 1;
      // Whoever finds it stopped by the button lets it go.
      if (random() < 0.3) await robot.api('POST', '/api/estop/release', {});
    }
    await robot.pass(1000);
  }
}

/** Defects that the robot itself has counted. */
async function countedDefects(robot: SoakRobot): Promise<number> {
  const { body } = await robot.api('GET', '/metrics');
  const found = /^deviceagent_events_total\{name="tasks_defects"\} (\d+)$/m.exec(String(body));
  if (found === null) throw new Error('the metrics do not tell of defects');
  return Number(found[1]);
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** The gate for commands, with the bytes that the broker would deliver, in front of a whole robot. */
import type { Principal } from '../../../daemon/intake/types.js';
import { mutateBytes } from '../mutate-bytes.js';
import { type JsonObject, mutateFreely, spoil, spoilText } from '../mutate-json.js';
import { below, chance } from '../pick.js';
import { FuzzRobot } from '../robot.js';
import {
  command,
  type Known,
  required,
  scheduleCommand,
  spared,
  workflowCommand,
} from '../seeds/commands.js';
import type { Finding, Random, Target, TargetSession } from '../types.js';

/** A document, and why it has to be refused; null where it may be right. */
export interface FuzzDocument {
  bytes: Buffer;
  spoiled: string | null;
}

type Seed = (random: Random, known: Known, wall: number) => JsonObject;

const CLOUD: Principal = { source: 'CLOUD', name: 'mqtt' };
/** Every so many documents the robot is let come to rest. */
const BATCH = 60;
const LIMIT_BYTES = 256 * 1024;

export const commandTargets: readonly Target[] = [
  { name: 'commands', share: 0.5, open: (seed) => GateSession.open(seed, command) },
  {
    name: 'workflows',
    share: 0.25,
    open: (seed) => GateSession.open(seed, (r, _, wall) => workflowCommand(r, wall)),
  },
  {
    name: 'schedules',
    share: 0.15,
    open: (seed) => GateSession.open(seed, (r, _, wall) => scheduleCommand(r, wall)),
  },
];

class GateSession implements TargetSession {
  readonly #robot: FuzzRobot;
  readonly #seed: Seed;
  #n = 0;

  private constructor(robot: FuzzRobot, seed: Seed) {
    this.#robot = robot;
    this.#seed = seed;
  }

  static async open(seed: number, from: Seed): Promise<TargetSession> {
    return new GateSession(await FuzzRobot.start(seed), from);
  }

  async run(random: Random): Promise<Finding[]> {
    const robot = this.#robot;
    const { bytes, spoiled } = fuzzDocument(random, this.#seed, knownTo(robot));
    const answer = robot.intake.handleBytes(bytes, { retained: chance(random, 0.01) }, CLOUD);
    if (answer !== null) robot.judge(answer, spoiled, bytes.toString());
    else if (bytes.length > 0) robot.note('wrong', `no answer to ${bytes.toString().slice(0, 300)}`);
    this.#n += 1;
    if (chance(random, 0.05)) await robot.pass(15 * (1 + below(random, 20)));
    else await robot.runtime.committed();
    if (this.#n % BATCH === 0) await robot.rest();
    return robot.takeFindings();
  }

  accepted(): number {
    return this.#robot.accepted;
  }

  close(): Promise<Finding[]> {
    return this.#robot.close();
  }
}

/** Two in five are spoiled, the others may be anything from right to garbage. */
export function fuzzDocument(random: Random, seed: Seed, known: Known): FuzzDocument {
  const body = seed(random, known, Date.now());
  const roll = random();
  if (roll < 0.12) return { bytes: Buffer.from(JSON.stringify(body)), spoiled: null };
  if (roll < 0.4 && body.method !== 'emergencyStop') {
    const { value, how } = spoil(random, body, { spared: spared(body), required: required(body) });
    return { bytes: Buffer.from(JSON.stringify(value)), spoiled: how };
  }
  if (roll < 0.47 && body.method !== 'emergencyStop') {
    const { text, how } = spoilText(random, body);
    return { bytes: Buffer.from(text), spoiled: how };
  }
  if (roll < 0.472) {
    const padded = JSON.stringify({ ...body, x: 'x'.repeat(LIMIT_BYTES) });
    return { bytes: Buffer.from(padded), spoiled: 'larger than 256 KiB' };
  }
  if (roll < 0.5) {
    const { source: _source, ...rest } = body;
    return { bytes: Buffer.from(JSON.stringify({ ...rest, source: 'LOCAL' })), spoiled: 'it names a source' };
  }
  const mutated = JSON.stringify(
    mutateFreely(random, body, [body, seed(random, known, Date.now())], 1 + below(random, 4)),
  );
  if (roll < 0.9) return { bytes: Buffer.from(mutated), spoiled: null };
  return {
    bytes: Buffer.from(mutateBytes(random, Buffer.from(mutated), 1 + below(random, 4))),
    spoiled: null,
  };
}

export function knownTo({ runtime }: FuzzRobot): Known {
  return {
    tasks: runtime.tasks.listTasks({ active: true, limit: 5 }).map(({ taskId }) => taskId),
    workflows: runtime.tasks.listWorkflows({ active: true, limit: 5 }).map(({ workflowId }) => workflowId),
    schedules: runtime.tasks.schedules.list(5).map(({ scheduleId }) => scheduleId),
  };
}

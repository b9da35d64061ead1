/** What anybody with the broker's password can publish below the device's root: real MQTT; what is sent with QoS 1 has its one answer. */
import { MqttClient } from 'mqtt';
import { below, chance, pick, bytes as randomBytes } from '../pick.js';
import { FuzzRobot } from '../robot.js';
import { command } from '../seeds/commands.js';
import type { Finding, Random, Target, TargetSession } from '../types.js';
import { fuzzDocument, knownTo } from './commands.js';

/** Every so many documents the answers are counted and the robot is let come to rest. */
const BATCH = 40;
const ANSWER_MS = 20_000;
const ROOT = 'deviceagent/da-sim';
/** Where a device does not listen. */
const ELSEWHERE = ['status', 'command/x', 'commands', 'proactive/response'];

export const mqttTarget: Target = {
  name: 'mqtt',
  share: 0.05,
  open: async (seed) => {
    const robot = await FuzzRobot.start(seed);
    const client = new MqttClient(() => robot.session.connectBroker(), {
      clientId: 'fuzz-mouth',
      keepalive: 0,
      reconnectPeriod: 20,
    });
    client.on('error', () => {});
    await new Promise<void>((resolve) => client.once('connect', () => resolve()));
    return new MqttSession(robot, client);
  },
};

class MqttSession implements TargetSession {
  readonly #robot: FuzzRobot;
  readonly #client: MqttClient;
  #n = 0;
  #expected = 0;

  constructor(robot: FuzzRobot, client: MqttClient) {
    this.#robot = robot;
    this.#client = client;
    robot.judgesResponses = true;
  }

  async run(random: Random): Promise<Finding[]> {
    const { bytes, spoiled } = chance(random, 0.05)
      ? { bytes: Buffer.from(randomBytes(random, below(random, 400))), spoiled: null }
      : fuzzDocument(random, command, knownTo(this.#robot));
    const topic = chance(random, 0.05) ? pick(random, ELSEWHERE) : 'command';
    const retain = topic === 'command' && chance(random, 0.01);
    if (topic === 'command' && bytes.length > 0) this.#expected += 1;
    if (topic === 'command') this.#robot.expectAnswer(bytes, spoiled);
    await this.#client.publishAsync(`${ROOT}/${topic}`, bytes, { qos: topic === 'command' ? 1 : 0, retain });
    this.#n += 1;
    if (this.#n % BATCH === 0) await this.#settle();
    return this.#robot.takeFindings();
  }

  accepted(): number {
    return this.#robot.accepted;
  }

  async close(): Promise<Finding[]> {
    await this.#settle();
    await this.#client.endAsync(true);
    return this.#robot.close();
  }

  /** Every document on the command topic has its one answer. */
  async #settle(): Promise<void> {
    const robot = this.#robot;
    for (let passed = 0; robot.responses < this.#expected && passed < ANSWER_MS; passed += 90)
      await robot.pass(90);
    if (robot.responses !== this.#expected)
      robot.note(
        'crash',
        `${this.#expected} documents, ${robot.responses} answers; none to ${robot.unanswered}`,
      );
    this.#expected = robot.responses;
    await robot.rest();
  }
}

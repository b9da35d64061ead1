/**
 * A whole simulated robot in this process, with the real composition of the daemon, for documents that come in over
 * its channels; and the book of what was accepted, against which everything that happens is held.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isoWithOffset, SystemClock } from '../../config/contracts/clock.js';
import { seededRandom } from '../../config/contracts/ids.js';
import { SILENT_LOG } from '../../config/contracts/log.js';
import { SimClock } from '../../config/contracts/sim-clock.js';
import { type CommandResponse, commandResponseSchema } from '../../config/contracts/wire/command.js';
import { loadConfig } from '../../config/load.js';
import { profilePath } from '../../config/profiles.js';
import { inMemory } from '../../daemon/cli/simulation/in-memory.js';
import type { CommandIntake, Principal } from '../../daemon/intake/types.js';
import { createDaemon, type Daemon } from '../../daemon/main.js';
import type { Runtime } from '../../daemon/runtime.js';
import { BrokerConnection } from '../../simulator/cloud/connection.js';
import { TICK_MS } from '../../simulator/session/pace.js';
import { SimSession } from '../../simulator/session/session.js';
import type { Finding } from './types.js';

const DEVICE_ID = 'da-sim';
/** Nothing here has to survive a power cut. */
const FAST_DIR = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const START_MS = 60_000;
/** Whatever is under way has ended this long after it was cancelled, ms of robot time. */
const REST_MS = 60_000;
const LOCAL: Principal = { source: 'LOCAL', name: 'fuzz' };
/** A speed that is only the rounding of 0 is none, mm/s. */
const STILL_MM_S = 0;

export class FuzzRobot {
  readonly session: SimSession;
  readonly #daemon: Daemon;
  readonly #dir: string;
  readonly #ear: BrokerConnection;
  /** Ids that an accepted document has brought about, since the robot last stood with nothing to do. */
  readonly #granted = new Set<string>();
  /** What began, and what the wheels were told, since then. */
  readonly #started: { ids: readonly unknown[]; moves: boolean; text: string }[] = [];
  readonly #drives: string[] = [];
  #motionMethods: ReadonlySet<string> = new Set();
  #findings: Finding[] = [];
  #responses = 0;
  #rests = 0;
  accepted = 0;
  /** Documents go over the broker, and what is answered there is judged. */
  judgesResponses = false;
  /** Documents that went over the broker and wait for an answer, by id. */
  readonly #asked = new Map<string, { spoiled: string | null; text: string }>();

  private constructor(dir: string, seed: number) {
    this.#dir = dir;
    const wall = new SystemClock();
    this.session = new SimSession({
      stateDir: dir,
      worldFile: null,
      mapFile: null,
      seed,
      speed: 'max',
      transport: 'memory',
      mqttPort: null,
      cloud: false,
      baseWatchdog: false,
      deviceId: DEVICE_ID,
      wall,
      onError: (error) => {
        throw error;
      },
    });
    const make = () => new SimClock(this.session.clock.now(), () => wall.now());
    const clocks = { rt: make(), robot: make() };
    const loaded = inMemory(loadConfig(profilePath('sim'), {}, dir));
    this.#daemon = createDaemon({
      loaded,
      stateDir: dir,
      version: 'fuzz',
      clock: clocks.robot,
      wall,
      random: seededRandom(seed),
      seed,
      log: SILENT_LOG,
      placement: { kind: 'inline', clock: clocks.rt },
      simulatedTime: true,
      memory: this.session.memoryPorts,
      openBroker: () => this.session.connectBroker(),
      api: false,
    });
    this.session.join([
      { name: 'rt', clock: clocks.rt, busy: () => 0 },
      { name: 'daemon', clock: clocks.robot, busy: () => this.#daemon.busy() },
    ]);
    this.#ear = new BrokerConnection({
      broker: { connect: () => this.session.connectBroker() },
      clientId: 'fuzz-ear',
      topics: [`deviceagent/${DEVICE_ID}/#`],
      clock: this.session.clock,
      onMessage: (topic, payload) => this.#heard(topic, payload.toString()),
      onError: () => {},
    });
  }

  static async start(seed: number): Promise<FuzzRobot> {
    const robot = new FuzzRobot(mkdtempSync(join(FAST_DIR, 'da-fuzz-')), seed);
    await robot.#start();
    return robot;
  }

  get runtime(): Runtime {
    return this.#daemon.runtime;
  }

  /** The gate as the cloud session has it, in bytes. */
  get intake(): CommandIntake {
    const { intake } = this.runtime;
    if (!('handleBytes' in intake)) throw new Error('the intake takes no bytes');
    return intake as CommandIntake;
  }

  /** Answers to commands that came over the broker so far. */
  get responses(): number {
    return this.#responses;
  }

  takeFindings(): Finding[] {
    return this.#findings.splice(0);
  }

  note(kind: Finding['kind'], text: string): void {
    this.#findings.push({ kind, text });
  }

  /** Enters an answer in the book. `spoiled`: why the document had to be refused, or null. */
  judge(answer: unknown, spoiled: string | null, document: string): void {
    const read = commandResponseSchema.safeParse(answer);
    if (!read.success) {
      this.note(
        'wrong',
        `an answer that breaks the contract: ${JSON.stringify(answer)} to ${shortened(document)}`,
      );
      return;
    }
    const response = read.data;
    if (response.reason_code === 'INTERNAL_ERROR')
      this.note('crash', `${response.message} to ${shortened(document)}`);
    if (response.status === 'rejected') this.#judgeRefusal(response, document);
    else this.#grant(response, spoiled, document);
  }

  /** For a document that is answered over the broker. `spoiled`: why it has to be refused, or null. */
  expectAnswer(bytes: Uint8Array, spoiled: string | null): void {
    const text = Buffer.from(bytes).toString();
    const id = /"command_id":"([A-Za-z0-9._:-]+)"/.exec(text)?.[1];
    if (id !== undefined) this.#asked.set(id, { spoiled, text });
  }

  /** Of documents that name themselves, those without an answer. */
  get unanswered(): string {
    return [...this.#asked.values()].map(({ text }) => shortened(text)).join(' · ');
  }

  /** Lets robot time pass. */
  async pass(ms: number): Promise<void> {
    await this.session.step(Math.ceil(ms / TICK_MS));
  }

  /** Ends whatever accepted documents began, lets go of an emergency stop, and closes the book on them. */
  async rest(): Promise<void> {
    const { tasks } = this.runtime;
    const active = () =>
      tasks.listTasks({ active: true }).length +
      tasks.listWorkflows({ active: true }).length +
      tasks.schedules.list(1).length;
    for (let passed = 0; active() > 0 || this.#wheelsTurn(); passed += 300) {
      if (passed > REST_MS) {
        this.note('crash', `not at rest ${REST_MS} ms after everything was cancelled: ${this.#stuck()}`);
        break;
      }
      if (passed % 3000 === 0) this.#cancelAll();
      await this.pass(300);
    }
    await this.runtime.releaseEstop('fuzz').catch(() => {});
    await this.pass(60);
    this.#settleAccounts();
  }

  async close(): Promise<Finding[]> {
    await this.rest();
    let stopped = false;
    const stopping = this.#daemon.stop().finally(() => {
      stopped = true;
    });
    while (!stopped) await this.session.step();
    await stopping;
    await this.#ear.stop();
    await this.session.stop();
    rmSync(this.#dir, { recursive: true, force: true });
    return this.takeFindings();
  }

  async #start(): Promise<void> {
    await this.session.start();
    let failed: unknown = null;
    this.#daemon.start().catch((error: unknown) => {
      failed = error;
    });
    await this.#ear.start();
    for (let passed = 0; !this.runtime.ready(); passed += TICK_MS) {
      if (failed !== null || passed > START_MS) throw failed ?? new Error('the robot does not get ready');
      await this.session.step();
    }
    await this.pass(2000);
    const motion = this.runtime.methods.filter(({ resources }) =>
      resources.some((r) => r.resource === 'motion'),
    );
    this.#motionMethods = new Set(motion.map(({ name }) => name));
    this.session.devices.base.line.override({
      message: (command) => {
        this.#judgeBytes(command.what, command.values);
        return undefined;
      },
    });
  }

  /** What the cloud sees: nothing may start that no accepted document has asked for. */
  #heard(topic: string, text: string): void {
    if (topic.includes('/command/response')) {
      this.#responses += 1;
      if (this.judgesResponses) this.#judgeResponse(text);
      return;
    }
    if (!topic.endsWith('events/task')) return;
    const event = JSON.parse(text) as Record<string, unknown>;
    if (event.event !== 'STARTED') return;
    const ids = [event.task_id, event.workflow_id, event.schedule_id];
    // What the robot does of its own accord, such as saying that it could not dock: no document can have this source.
    if (event.source === 'SUPERVISOR') this.#granted.add(String(event.task_id));
    this.#started.push({ ids, moves: this.#motionMethods.has(String(event.method)), text });
  }

  #judgeResponse(text: string): void {
    const answer = JSON.parse(text) as CommandResponse;
    const asked = this.#asked.get(answer.command_id ?? '');
    this.#asked.delete(answer.command_id ?? '');
    this.judge(answer, asked?.spoiled ?? null, asked?.text ?? text);
  }

  #judgeBytes(what: string, values: readonly number[]): void {
    if (!what.startsWith('drive') && what !== 'seek_dock') return;
    const moving = what === 'seek_dock' || values.slice(0, 2).some((value) => Math.abs(value) > STILL_MM_S);
    if (moving) this.#drives.push(`${what} ${values.join(' ')}`);
  }

  /** An answer may reach the cloud after the first event of what it accepts; by now all of them are here. */
  #settleAccounts(): void {
    for (const { ids, moves, text } of this.#started.splice(0)) {
      if (ids.some((id) => typeof id === 'string' && this.#granted.has(id))) continue;
      this.note(moves ? 'motion' : 'wrong', `started, and nobody was told that it was accepted: ${text}`);
    }
    const drives = this.#drives.splice(0);
    if (drives.length > 0 && this.#granted.size === 0)
      this.note('motion', `${drives.length} times bytes to the wheels, with nothing accepted: ${drives[0]}`);
    this.#granted.clear();
    this.#asked.clear();
  }

  #judgeRefusal({ reason_code, message, task_id, workflow_id }: CommandResponse, document: string): void {
    if (reason_code === null || message === null || message === '')
      this.note('wrong', `a refusal without a reason to ${shortened(document)}`);
    if (task_id !== null || workflow_id !== null)
      this.note('wrong', `a refusal that names a task to ${shortened(document)}`);
    if ((message ?? '').length > 4000)
      this.note('wrong', `a refusal of ${message?.length} characters to ${shortened(document)}`);
  }

  #grant(response: CommandResponse, spoiled: string | null, document: string): void {
    this.accepted += 1;
    const ids = [response.task_id, response.workflow_id, response.schedule_id].filter((id) => id !== null);
    for (const id of ids) this.#granted.add(id);
    if (spoiled === null) return;
    const method = this.runtime.tasks.getTask(response.task_id ?? '')?.method ?? '';
    const kind = this.#motionMethods.has(method) || response.workflow_id !== null ? 'motion' : 'wrong';
    this.note(kind, `accepted, though ${spoiled}: ${shortened(document)}`);
  }

  #cancelAll(): void {
    const { tasks, intake } = this.runtime;
    const cancel = (method: string, params: object) =>
      intake.handle(
        {
          command_id: `rest-${++this.#rests}`,
          issued_at: isoWithOffset(Date.now()),
          kind: 'control',
          method,
          params,
        },
        LOCAL,
      );
    for (const { scheduleId } of tasks.schedules.list(500))
      cancel('removeSchedule', { schedule_id: scheduleId });
    for (const { workflowId } of tasks.listWorkflows({ active: true }))
      cancel('cancelWorkflow', { workflow_id: workflowId });
    for (const { taskId } of tasks.listTasks({ active: true })) cancel('cancelTask', { task_id: taskId });
  }

  #wheelsTurn(): boolean {
    const { left, right } = this.session.world.body.wheels;
    return Math.abs(left) > 0.002 || Math.abs(right) > 0.002;
  }

  #stuck(): string {
    const { tasks } = this.runtime;
    return JSON.stringify({
      tasks: tasks
        .listTasks({ active: true })
        .map(({ taskId, method, state, stage }) => ({ taskId, method, state, stage })),
      schedules: tasks.schedules.list(5),
      workflows: tasks
        .listWorkflows({ active: true })
        .map(({ workflowId, state, steps }) => ({ workflowId, state, steps })),
    }).slice(0, 1500);
  }
}

export function shortened(text: string): string {
  return text.length <= 1500 ? text : `${text.slice(0, 1500)}… (${text.length} characters)`;
}

/**
 * Kills a working robot again and again, at real speed, and afterwards compares what the cloud was promised with what
 * it got, and what the wheels were told with when they should have stood.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../config/contracts/ids.js';
import { CrashCloud } from './cloud.js';
import { CommandBook } from './command-book.js';
import { examineDatabase } from './database.js';
import { EventBook } from './event-book.js';
import { ForgetfulBroker, SUBSCRIBED_MS } from './forgetful-broker.js';
import { asText, parseObject } from './json.js';
import { isDue, type PlannedKill, planKills } from './kill-plan.js';
import { LagMeter } from './lag-meter.js';
import { Load } from './load.js';
import type { MainJobStep } from './main-job.js';
import { type DriveCommand, type KillMark, type Stop, stopsAfter, type Target } from './motion.js';
import { type CrashReport, judge, type KillRecord } from './report.js';
import { Simulation, type WorldTruth } from './simulation.js';
import { Bell, sleep } from './waiting.js';

export interface CrashRunOptions {
  kills: number;
  seed: number;
  baseWatchdog: boolean;
  stateDir: string;
  /** One line for people who wait. */
  say(line: string): void;
}

const DEVICE_ID = 'da-sim';
/** How long a step of the main job is waited for before a kill comes anyway, ms. */
const AIM_PATIENCE_MS = 20_000;
/** How far into a step a kill comes at most, ms. */
const STEP_DEPTH_MS: Readonly<Record<MainJobStep, number>> = {
  undock: 2000,
  setMoveTo: 3000,
  startCleaning: 2500,
  setLlmTts: 1200,
  returnToStation: 6000,
};
const ONLINE_MS = 20_000;
const ANY_MS = { least: 150, most: 2500 };
/** Into the start of a daemon: the process is there within 100 ms and ready within a second. */
const STARTING_MS = 900;
/** A broker restart comes about this often, and it is away for this long, ms. */
const BROKER_EVERY_MS = 9000;
const BROKER_AWAY_MS = { least: 100, most: 1500 };
/** A dying process has said its last when the broker forgets what it knew, ms. */
const LAST_WORDS_MS = 150;
/** At the end: how long work may go on by itself, to be cancelled, and to drive home; ms. */
const FINISH_MS = 10_000;
const CANCEL_MS = 60_000;
const HOME_MS = 240_000;
const QUIET_MS = 1500;
/** A fan that was told to stop, or that is looked for after a restart; ms. */
const REST_MS = 6000;

export async function runCrash(options: CrashRunOptions): Promise<CrashReport> {
  const sim = await Simulation.start(options);
  try {
    return await new CrashRun(options, sim).run();
  } finally {
    if (sim.ended === null) await sim.stop();
  }
}

class CrashRun {
  readonly #options: CrashRunOptions;
  readonly #sim: Simulation;
  readonly #random: () => number;
  readonly #bell = new Bell();
  readonly #events = new EventBook();
  readonly #commands = new CommandBook();
  readonly #kills: (KillRecord & KillMark)[] = [];
  readonly #drives: DriveCommand[] = [];
  readonly #trouble: string[] = [];
  readonly #lag = new LagMeter();
  readonly #forgetful = new ForgetfulBroker(this.#commands, (text) => this.#publish(text));
  #publish: (text: string) => void = () => {};
  #brokerRestarts = 0;
  #brokerForgot = 0;
  #brokerBusy = false;
  #lastHeard = 0;
  #online = false;
  /** What was alive at the last kill. */
  #lastPids: { daemon: number | null; rt: number | null } = { daemon: null, rt: null };
  /** The daemon has been killed and its start is not waited for: the next kill hits that. */
  #restarting = false;

  constructor(options: CrashRunOptions, sim: Simulation) {
    this.#options = options;
    this.#sim = sim;
    this.#random = seededRandom(options.seed);
  }

  async run(): Promise<CrashReport> {
    const beganAt = Date.now();
    const cloud = await CrashCloud.open({
      url: this.#sim.mqttUrl,
      deviceId: DEVICE_ID,
      onMessage: (topic, text) => this.#receive(topic, text, load),
    });
    this.#publish = (text) => cloud.command(text);
    this.#lag.start();
    const load: Load = new Load(
      {
        random: seededRandom(this.#options.seed ^ 0x10ad),
        commands: this.#commands,
        events: this.#events,
        bell: this.#bell,
        publish: (text) => this.#publish(text),
      },
      String(this.#options.seed),
    );
    await this.#sim.ready(null);
    // Before it has subscribed for the first time, a broker has nobody to keep commands for.
    if (!(await this.#bell.until(() => this.#online, ONLINE_MS)))
      throw new Error('the robot does not come online');
    await sleep(SUBSCRIBED_MS);
    this.#options.say('the robot is ready; the load begins');
    load.start();
    const ending = new AbortController();
    const broker = this.#restartBroker(ending.signal);
    let stillWorks = false;
    try {
      await this.#killAll(load);
      ending.abort();
      await broker;
      stillWorks = await this.#drain(load);
    } catch (error) {
      ending.abort();
      this.#trouble.push(error instanceof Error ? error.message : String(error));
    }
    await load.stop();
    await this.#collectDrives().catch(() => {});
    await this.#quiet();
    await this.#sim.stop();
    await cloud.close();
    this.#lag.stop();
    const stops = stopsAfter(this.#kills, this.#drives).map((stop, i) => this.#withLag(stop, i));
    this.#keepRecord(stops);
    return judge({
      seed: this.#options.seed,
      baseWatchdog: this.#options.baseWatchdog,
      durationMs: Date.now() - beganAt,
      kills: this.#kills,
      stops,
      events: this.#events,
      commands: this.#commands,
      database: examineDatabase(this.#options.stateDir),
      brokerRestarts: this.#brokerRestarts,
      brokerForgot: this.#brokerForgot,
      stillWorks,
      trouble: this.#trouble,
    });
  }

  #withLag(stop: Stop, i: number): Stop {
    const at = this.#kills[i]?.at ?? 0;
    return { ...stop, lagMs: this.#lag.longest(at, at + (stop.ms ?? 0)) };
  }

  /** For whoever has to find out what happened. */
  #keepRecord(stops: readonly Stop[]): void {
    const record = {
      kills: this.#kills.map((kill, i) => ({ ...kill, stop: stops[i] })),
      drives: this.#drives,
    };
    writeFileSync(join(this.#options.stateDir, 'crash-record.json'), `${JSON.stringify(record)}\n`);
  }

  #receive(topic: string, text: string, load: Load): void {
    this.#lastHeard = Date.now();
    if (topic.startsWith('events/')) {
      const event = this.#events.accept(topic, text);
      if (event !== null) load.note(event);
    } else if (topic === 'command/response') this.#commands.answered(text);
    else if (topic === 'status') this.#noteStatus(asText(parseObject(text)?.state));
    this.#bell.ring();
  }

  #noteStatus(state: string | null): void {
    this.#online = state === 'online';
    if (this.#online) void this.#forgetful.online();
  }

  async #killAll(load: Load): Promise<void> {
    const plan = planKills(this.#options.kills, this.#random);
    for (const [i, planned] of plan.entries()) {
      await this.#momentFor(planned, load);
      this.#restarting = false;
      const { target, at } = this.#kill(planned.target, load);
      const before = this.#kills.at(-1);
      if (planned.brokerForgets && target !== 'rt') await this.#forgetEverything();
      this.#restarting = plan[i + 1]?.aim === 'start' && target !== 'rt';
      if (this.#restarting) continue;
      await this.#recovered(target, at);
      if (before !== undefined) before.readyMs = Date.now() - at;
      await this.#collectDrives();
      this.#sayKill(i);
    }
  }

  /** Waits for the moment that the plan wants. */
  async #momentFor({ aim, depth }: PlannedKill, load: Load): Promise<void> {
    if (aim === 'start' && this.#restarting) {
      await this.#sim.newPid('daemon', this.#lastPids.daemon);
      await sleep(depth * STARTING_MS);
    } else if (aim === 'start' || aim === 'any') {
      await sleep(ANY_MS.least + depth * (ANY_MS.most - ANY_MS.least));
    } else {
      const there = await this.#bell.until(() => this.#wants(load.watch.step?.method), AIM_PATIENCE_MS);
      const step = load.watch.step?.method;
      if (there && step !== undefined) await sleep(depth * STEP_DEPTH_MS[step]);
    }
  }

  #wants(step: MainJobStep | undefined): boolean {
    const soFar: Record<string, number> = {};
    for (const kill of this.#kills) soFar[kill.step] = (soFar[kill.step] ?? 0) + 1;
    return step !== undefined && isDue(step, soFar, this.#options.kills);
  }

  #kill(wanted: Target, load: Load): { target: Target; at: number } {
    const pids = { daemon: this.#sim.pid('daemon'), rt: this.#sim.pid('rt') };
    if (pids.daemon === null) throw new Error('there is no daemon to kill: it died by itself');
    // In the middle of a start there may be no motion process yet.
    const target = wanted !== 'daemon' && pids.rt === null ? 'daemon' : wanted;
    const at = Date.now();
    if (target !== 'daemon' && pids.rt !== null) process.kill(pids.rt, 'SIGKILL');
    if (target !== 'rt') process.kill(pids.daemon, 'SIGKILL');
    this.#lastPids = pids;
    this.#kills.push({
      target,
      at,
      rtAlive: pids.rt !== null,
      step: load.watch.step?.method ?? 'none',
      readyMs: null,
    });
    return { target, at };
  }

  async #recovered(target: Target, at: number): Promise<void> {
    const { daemon, rt } = this.#lastPids;
    if (target === 'rt') await this.#sim.newPid('rt', rt);
    else await this.#sim.ready(daemon);
    await this.#sim.rtInCharge(at);
  }

  /** The broker starts afresh, without its sessions, while the robot is down. */
  async #forgetEverything(): Promise<void> {
    if (this.#brokerBusy) return;
    this.#brokerBusy = true;
    await sleep(LAST_WORDS_MS);
    await this.#sim.inject('broker', 'restart');
    this.#forgetful.forgot();
    this.#brokerRestarts += 1;
    this.#brokerForgot += 1;
    this.#brokerBusy = false;
  }

  /** Every now and then the broker is away for a while; it keeps its sessions. */
  async #restartBroker(signal: AbortSignal): Promise<void> {
    const random = seededRandom(this.#options.seed ^ 0xb0b);
    while (!signal.aborted) {
      await this.#bell.until(() => signal.aborted, BROKER_EVERY_MS * (0.5 + random()));
      if (signal.aborted || this.#brokerBusy) continue;
      this.#brokerBusy = true;
      await this.#sim.inject('broker', 'stop');
      await sleep(BROKER_AWAY_MS.least + random() * (BROKER_AWAY_MS.most - BROKER_AWAY_MS.least));
      await this.#sim.inject('broker', 'start');
      this.#brokerRestarts += 1;
      this.#brokerBusy = false;
    }
  }

  /** Lets everything end, and asks for one more drive: true when the robot stands on its station afterwards. */
  async #drain(load: Load): Promise<boolean> {
    this.#options.say('the load ends; what is left is waited for');
    await load.stop();
    const answered = () => this.#commands.unanswered.length === 0;
    const ended = () => answered() && load.live.length === 0;
    if (!(await this.#bell.until(ended, FINISH_MS))) {
      await this.#bell.until(answered, FINISH_MS);
      load.cancelAll();
      await this.#bell.until(ended, CANCEL_MS);
    }
    await this.#nothingIsLeftOn();
    return this.#drivesHome(load);
  }

  /** With nothing under way, wheels and fan rest: nobody is left to stop them. */
  async #nothingIsLeftOn(): Promise<void> {
    const resting = ({ command, fan }: WorldTruth) =>
      command.left === 0 && command.right === 0 && fan.setPointPercent === 0;
    let world = await this.#sim.world();
    for (let waited = 0; !resting(world) && waited < REST_MS; waited += QUIET_MS) {
      await sleep(QUIET_MS);
      world = await this.#sim.world();
    }
    if (resting(world)) return;
    const { command, fan } = world;
    this.#trouble.push(`left on with no task: ${JSON.stringify({ command, fan })}`);
  }

  async #drivesHome(load: Load): Promise<boolean> {
    const home = load.send('returnToStation', {
      kind: 'task',
      method: 'returnToStation',
      params: {},
      task: {},
    });
    const end = () => this.#events.endOf(home.answer?.taskId ?? '');
    await this.#bell.until(() => home.answer?.status === 'rejected' || end() !== null, HOME_MS);
    const world = await this.#sim.world();
    if (end()?.event === 'COMPLETED' && world.docked) return true;
    const why = end() ?? home.answer;
    const believes = load.send('where it is', {
      kind: 'query',
      method: 'getDevicePlanningContext',
      params: {},
    });
    await this.#bell.until(() => believes.answer !== null, FINISH_MS);
    this.#trouble.push(
      `the last drive home: ${why === null ? 'no sign of it' : `${why.reasonCode} ${why.message}`}; ` +
        `it is at ${JSON.stringify(world.pose)} and believes ${JSON.stringify(believes.answer?.result?.location)}`,
    );
    return false;
  }

  async #collectDrives(): Promise<void> {
    const last = this.#drives.at(-1);
    const commands = await this.#sim.drives(last?.wall ?? 0);
    const known =
      last === undefined
        ? -1
        : commands.findLastIndex(
            ({ tick, wall, what, moving }) =>
              tick === last.tick && wall === last.wall && what === last.what && moving === last.moving,
          );
    this.#drives.push(...commands.slice(known + 1));
  }

  /** Until the robot has said nothing for a while. */
  async #quiet(): Promise<void> {
    const deadline = Date.now() + FINISH_MS;
    while (Date.now() - this.#lastHeard < QUIET_MS && Date.now() < deadline) await sleep(QUIET_MS / 5);
  }

  #sayKill(i: number): void {
    const kill = this.#kills[i];
    const stop = stopsAfter(this.#kills, this.#drives)[i];
    if (kill === undefined || stop === undefined) return;
    const motion = stop.wasMoving ? `stopped after ${stop.ms ?? '?'} ms` : 'stood still';
    const problems = this.#events.problems.length + this.#commands.problems.length;
    this.#options.say(
      `kill ${i + 1}/${this.#options.kills}  ${kill.target} in ${kill.step}: ${motion}, ready after ${kill.readyMs} ms` +
        (problems === 0 ? '' : `; ${problems} problems so far`),
    );
  }
}

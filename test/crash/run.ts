/**
 * Kills a working robot again and again, at real speed, and afterwards compares what the cloud was promised with what
 * it got, and what the wheels were told with when they should have stood.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../config/contracts/ids.js';
import { BrokerFaults, SUBSCRIBED_MS } from './broker-faults.js';
import { CrashCloud } from './cloud.js';
import { CommandBook } from './command-book.js';
import { examineDatabase } from './database.js';
import { driveHome, type EndingDeps, leftOn, letEverythingEnd, untilQuiet } from './ending.js';
import { EventBook } from './event-book.js';
import { asText, parseObject } from './json.js';
import { planKills } from './kill-plan.js';
import { Killer } from './killer.js';
import { LagMeter } from './lag-meter.js';
import { Load } from './load.js';
import { LocalLoad } from './local-load.js';
import { type Stop, stopsAfter } from './motion.js';
import { type Place, preparePlace } from './place.js';
import { type CrashReport, judge } from './report.js';
import type { CrashRunOptions } from './run-options.js';
import type { Simulation } from './simulation.js';
import { Bell, sleep } from './waiting.js';

const DEVICE_ID = 'da-sim';
const AIM_PATIENCE_MS = 4000;
const ONLINE_MS = 20_000;

export async function runCrash(options: CrashRunOptions): Promise<CrashReport> {
  const place = await preparePlace(options);
  try {
    return await new CrashRun(options, place).run();
  } finally {
    await place.close();
  }
}

class CrashRun {
  readonly #options: CrashRunOptions;
  readonly #place: Place;
  readonly #sim: Simulation;
  readonly #bell = new Bell();
  readonly #events = new EventBook();
  readonly #commands = new CommandBook();
  readonly #lag = new LagMeter();
  readonly #load: Load;
  readonly #local: LocalLoad;
  readonly #broker: BrokerFaults;
  readonly #killer: Killer;
  readonly #trouble: string[] = [];
  #cloud: CrashCloud | null = null;
  #lastHeard = 0;
  #online = false;

  constructor(options: CrashRunOptions, place: Place) {
    this.#options = options;
    this.#place = place;
    this.#sim = place.sim;
    const { seed } = options;
    const { broker, desk, disk } = place;
    const shared = {
      sim: place.sim,
      broker,
      desk,
      disk,
      bell: this.#bell,
      commands: this.#commands,
      events: this.#events,
      publish: (text: string) => this.#cloud?.command(text),
    };
    this.#load = new Load({ ...shared, random: seededRandom(seed ^ 0x10ad) }, String(seed));
    this.#broker = new BrokerFaults({ ...shared, random: seededRandom(seed ^ 0xb0b) });
    this.#local = new LocalLoad(
      { ...shared, stateDir: place.stateDir, random: seededRandom(seed ^ 0x10c) },
      String(seed),
    );
    this.#killer = new Killer({
      ...shared,
      troubles: this.#broker,
      load: this.#load,
      planned: options.kills,
      patienceMs: options.aimPatienceMs ?? AIM_PATIENCE_MS,
    });
  }

  async run(): Promise<CrashReport> {
    const beganAt = Date.now();
    const cloud = await CrashCloud.open({
      url: this.#place.broker.cloudUrl,
      deviceId: DEVICE_ID,
      onMessage: (topic, text) => this.#receive(topic, text),
    });
    this.#cloud = cloud;
    this.#lag.start();
    const ending = this.#endingDeps();
    const stillWorks = await this.#work(ending).catch((error: unknown) => {
      this.#trouble.push(error instanceof Error ? error.message : String(error));
      return false;
    });
    await this.#load.stop();
    await this.#killer.collectDrives().catch(() => {});
    await untilQuiet(ending);
    await this.#sim.stop();
    await cloud.close();
    this.#lag.stop();
    const { kills, drives } = this.#killer;
    const stops = stopsAfter(kills, drives).map((stop, i) => this.#withLag(stop, kills[i]?.at ?? 0));
    this.#keepRecord(stops);
    return judge({
      seed: this.#options.seed,
      baseWatchdog: this.#options.baseWatchdog,
      durationMs: Date.now() - beganAt,
      kills,
      stops,
      events: this.#events,
      commands: this.#commands,
      database: examineDatabase(this.#place.stateDir),
      broker: `${this.#options.broker}, MQTT ${this.#options.mqtt === 'mix' ? '3.1.1 and 5' : this.#options.mqtt}`,
      troubles: this.#broker.counts,
      diskNotFilled: this.#place.diskNotFilled,
      inherited: this.#place.inherited,
      commandLines: this.#local.commandLines,
      brokerRestarts: this.#broker.restarts,
      brokerForgot: this.#broker.forgot,
      stillWorks,
      trouble: this.#trouble,
    });
  }

  /** True when the robot stands on its station in the end. */
  async #work(ending: EndingDeps): Promise<boolean> {
    await this.#place.throughMigrations();
    await this.#sim.ready(null);
    this.#killer.noteEarlyDeaths();
    // Before it has subscribed for the first time, a broker has nobody to keep commands for.
    if (!(await this.#bell.until(() => this.#online, ONLINE_MS))) {
      throw new Error('the robot does not come online');
    }
    await sleep(SUBSCRIBED_MS);
    this.#options.say('the robot is ready; the load begins');
    this.#load.start();
    this.#local.start();
    const over = new AbortController();
    const faults = this.#broker.comeAndGo(over.signal);
    await Promise.all([faults, this.#killAll().finally(() => over.abort())]);
    this.#options.say('the load ends; what is left is waited for');
    await Promise.all([this.#load.stop(), this.#local.stop()]);
    await letEverythingEnd(ending);
    const left = await leftOn(ending);
    const notHome = await driveHome(ending);
    this.#trouble.push(...[left, notHome].filter((text) => text !== null));
    return notHome === null;
  }

  async #killAll(): Promise<void> {
    const plan = planKills(this.#options.kills, seededRandom(this.#options.seed));
    let starting = false;
    for (const [i, planned] of plan.entries()) {
      this.#place.nextProtocol();
      const target = await this.#killer.strike(planned, starting && planned.aim === 'start');
      if (planned.brokerForgets && target !== 'rt') await this.#broker.forgetEverything();
      starting = plan[i + 1]?.aim === 'start' && target !== 'rt';
      if (starting) continue;
      await this.#killer.recovered();
      const problems = this.#events.problems.length + this.#commands.problems.length;
      this.#options.say(
        `${this.#killer.describeLast()}${problems === 0 ? '' : `; ${problems} problems so far`}`,
      );
    }
  }

  #receive(topic: string, text: string): void {
    this.#lastHeard = Date.now();
    if (topic.startsWith('events/')) {
      const event = this.#events.accept(topic, text);
      if (event !== null) this.#load.note(event);
    } else if (topic === 'command/response') this.#commands.answered(text);
    else if (topic === 'status') this.#noteStatus(asText(parseObject(text)?.state));
    this.#bell.ring();
  }

  #noteStatus(state: string | null): void {
    this.#online = state === 'online';
    if (this.#online) void this.#broker.online();
  }

  #endingDeps(): EndingDeps {
    return {
      sim: this.#sim,
      load: this.#load,
      bell: this.#bell,
      events: this.#events,
      unanswered: () => this.#commands.unanswered.length,
      lastHeard: () => this.#lastHeard,
    };
  }

  #withLag(stop: Stop, at: number): Stop {
    return { ...stop, lagMs: this.#lag.longest(at, at + (stop.ms ?? 0)) };
  }

  /** For whoever has to find out what happened. */
  #keepRecord(stops: readonly Stop[]): void {
    const { kills, drives } = this.#killer;
    const record = { kills: kills.map((kill, i) => ({ ...kill, stop: stops[i] })), drives };
    writeFileSync(join(this.#place.stateDir, 'crash-record.json'), `${JSON.stringify(record)}\n`);
  }
}

/** Picks the moment, kills, and waits for the robot to be there again. */
import type { BrokerFaults } from './broker-faults.js';
import type { Death, FaultDesk } from './fault-orders.js';
import { isDue, type PlannedKill } from './kill-plan.js';
import type { Load } from './load.js';
import type { MainJobStep } from './main-job.js';
import { type DriveCommand, type KillMark, stopsAfter, type Target } from './motion.js';
import { pick } from './pick.js';
import type { KillRecord } from './report.js';
import type { Simulation } from './simulation.js';
import { type Bell, sleep } from './waiting.js';

export interface KillerDeps {
  sim: Simulation;
  load: Load;
  bell: Bell;
  desk: FaultDesk;
  troubles: BrokerFaults;
  /** Kills that are planned in all. */
  planned: number;
  /** How long a step of the main job is waited for before a kill comes anyway, ms. */
  patienceMs: number;
}

/** How far into a step a kill comes at most, ms. */
const STEP_DEPTH_MS: Readonly<Record<MainJobStep, number>> = {
  undock: 1500,
  setMoveTo: 2000,
  startCleaning: 1500,
  setLlmTts: 1000,
  returnToStation: 4000,
};
const ANY_MS = { least: 100, most: 1000 };
/** A kill at a commit comes within so many of them, and within this time, or else by hand. */
const COMMITS = 25;
const COMMIT_MS = 2000;
/** Inside a commit at most this far: most take less than a millisecond, those that wait for the disk some more; µs. */
const INSIDE_US = 4000;
/** The network is away for so long while a backlog grows, ms. */
const BACKLOG_MS = 300;
/** Into a burst of commands, which the robot works off within some ten milliseconds. */
const BURST_MS = 60;
/** Into the start of a daemon: the process is there within 100 ms and ready within a second. */
const STARTING_MS = 900;
const LOOK_MS = 5;

export class Killer {
  readonly kills: (KillRecord & KillMark)[] = [];
  /** What the base was told about its wheels, all the time. */
  readonly drives: DriveCommand[] = [];
  readonly #deps: KillerDeps;
  #deaths = 0;
  /** Of them, before the load began. */
  #early = 0;
  #last: { target: Target; at: number; daemon: number; rt: number | null } | null = null;

  constructor(deps: KillerDeps) {
    this.#deps = deps;
  }

  /** Waits for the moment that the plan wants, and kills. */
  async strike(planned: PlannedKill, whileStarting: boolean): Promise<Target> {
    if (planned.aim === 'commit') return this.#atCommit(planned);
    if (planned.aim === 'replay') return this.#inReplay(planned);
    await this.#moment(planned, whileStarting);
    if (planned.burst) {
      this.#deps.load.burst();
      await sleep(planned.depth * BURST_MS);
    }
    return this.#kill(planned.target, whileStarting ? 'while starting' : 'at random');
  }

  /** Deaths of the daemon before anybody could kill it: in the migrations of an old database. */
  noteEarlyDeaths(): void {
    for (const { at, where } of this.#deps.desk.deaths) {
      this.kills.push({ target: 'daemon', at, rtAlive: true, step: 'none', moment: where, readyMs: null });
    }
    this.#deaths = this.#deps.desk.deaths.length;
    this.#early = this.#deaths;
  }

  /** Waits until what was killed last is there again. */
  async recovered(): Promise<void> {
    const { sim } = this.#deps;
    const mark = this.kills.at(-1);
    if (this.#last === null || mark === undefined) return;
    const { target, at, daemon, rt } = this.#last;
    if (target === 'rt') await sim.newPid('rt', rt);
    else await sim.ready(daemon);
    await sim.rtInCharge(at);
    mark.readyMs = Date.now() - at;
    await this.collectDrives();
  }

  async collectDrives(): Promise<void> {
    const last = this.drives.at(-1);
    const commands = await this.#deps.sim.drives(last?.wall ?? 0);
    const isLast = (c: DriveCommand) =>
      c.tick === last?.tick && c.wall === last.wall && c.what === last.what && c.moving === last.moving;
    this.drives.push(...commands.slice(commands.findLastIndex(isLast) + 1));
  }

  describeLast(): string {
    const kill = this.kills.at(-1);
    const stop = stopsAfter(this.kills, this.drives).at(-1);
    if (kill === undefined || stop === undefined) return '';
    const motion = stop.wasMoving ? `stopped after ${stop.ms ?? '?'} ms` : 'stood still';
    return `kill ${this.kills.length}/${this.#deps.planned + this.#early}  ${kill.target} in ${kill.step}, ${kill.moment}: ${motion}, ready after ${kill.readyMs} ms`;
  }

  /** The daemon dies by itself, at a commit that comes. */
  async #atCommit({ depth }: PlannedKill): Promise<Target> {
    const die = pick(['before-commit', 'inside-commit', 'after-commit'] as const, () => depth);
    return this.#dieAtCommit(die, depth, '');
  }

  /** Events pile up while the broker is away; the daemon dies when it publishes them. */
  async #inReplay({ depth }: PlannedKill): Promise<Target> {
    const { load, troubles } = this.#deps;
    load.burst();
    await troubles.without(() => sleep(BACKLOG_MS + depth * BACKLOG_MS));
    return this.#dieAtCommit(
      depth < 0.5 ? 'before-commit' : 'inside-commit',
      (depth * 7) % 1,
      ' of a replay',
    );
  }

  async #dieAtCommit(die: Death, depth: number, when: string): Promise<Target> {
    const { sim, desk, load } = this.#deps;
    const pids = this.#pids();
    desk.order({ die, nth: 1 + Math.floor(depth * COMMITS), delayUs: Math.floor(depth * INSIDE_US) });
    sim.tellDaemon();
    load.burst();
    const died = () => this.#deps.desk.deaths.length > this.#deaths;
    for (let waited = 0; !died() && waited < COMMIT_MS; waited += LOOK_MS) await sleep(LOOK_MS);
    const note = desk.deaths[this.#deaths];
    this.#deaths = desk.deaths.length;
    desk.order({ die: null });
    if (note === undefined) return this.#kill('daemon', 'at random');
    this.#record('daemon', note.at, pids, `${note.where}${when}`);
    return 'daemon';
  }

  async #moment({ aim, depth }: PlannedKill, whileStarting: boolean): Promise<void> {
    const { sim, load, bell, patienceMs } = this.#deps;
    if (whileStarting) {
      await sim.newPid('daemon', this.#last?.daemon ?? null);
      await sleep(depth * STARTING_MS);
    } else if (aim === 'step') {
      const there = await bell.until(() => this.#wants(load.watch.step?.method), patienceMs);
      const step = load.watch.step?.method;
      if (there && step !== undefined) await sleep(depth * STEP_DEPTH_MS[step]);
    } else await sleep(ANY_MS.least + depth * (ANY_MS.most - ANY_MS.least));
  }

  #wants(step: MainJobStep | undefined): boolean {
    const soFar: Record<string, number> = {};
    for (const kill of this.kills) soFar[kill.step] = (soFar[kill.step] ?? 0) + 1;
    return step !== undefined && isDue(step, soFar, this.#deps.planned);
  }

  #kill(wanted: Target, moment: string): Target {
    const pids = this.#pids();
    // In the middle of a start there may be no motion process yet.
    const target = pids.rt === null ? 'daemon' : wanted;
    const at = Date.now();
    if (target !== 'daemon' && pids.rt !== null) process.kill(pids.rt, 'SIGKILL');
    if (target !== 'rt') process.kill(pids.daemon, 'SIGKILL');
    this.#record(target, at, pids, moment);
    return target;
  }

  #pids(): { daemon: number; rt: number | null } {
    const { sim } = this.#deps;
    const daemon = sim.pid('daemon');
    if (daemon === null) throw new Error('there is no daemon to kill: it died by itself');
    return { daemon, rt: sim.pid('rt') };
  }

  #record(target: Target, at: number, pids: { daemon: number; rt: number | null }, moment: string): void {
    this.#last = { target, at, ...pids };
    const step = this.#deps.load.watch.step?.method ?? 'none';
    this.kills.push({ target, at, rtAlive: pids.rt !== null, step, moment, readyMs: null });
  }
}

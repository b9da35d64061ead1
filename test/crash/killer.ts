/** Picks the moment, kills, and waits for the robot to be there again. */
import { isDue, type PlannedKill } from './kill-plan.js';
import type { Load } from './load.js';
import type { MainJobStep } from './main-job.js';
import { type DriveCommand, type KillMark, stopsAfter, type Target } from './motion.js';
import type { KillRecord } from './report.js';
import type { Simulation } from './simulation.js';
import { type Bell, sleep } from './waiting.js';

export interface KillerDeps {
  sim: Simulation;
  load: Load;
  bell: Bell;
  /** Kills that are planned in all. */
  planned: number;
  /** How long a step of the main job is waited for before a kill comes anyway, ms. */
  patienceMs: number;
}

/** How far into a step a kill comes at most, ms. */
const STEP_DEPTH_MS: Readonly<Record<MainJobStep, number>> = {
  undock: 2000,
  setMoveTo: 3000,
  startCleaning: 2500,
  setLlmTts: 1200,
  returnToStation: 6000,
};
const ANY_MS = { least: 150, most: 2500 };
/** Into a burst of commands, which the robot works off within some ten milliseconds. */
const BURST_MS = 60;
/** Into the start of a daemon: the process is there within 100 ms and ready within a second. */
const STARTING_MS = 900;

export class Killer {
  readonly kills: (KillRecord & KillMark)[] = [];
  /** What the base was told about its wheels, all the time. */
  readonly drives: DriveCommand[] = [];
  readonly #deps: KillerDeps;
  #last: { target: Target; at: number; daemon: number; rt: number | null } | null = null;

  constructor(deps: KillerDeps) {
    this.#deps = deps;
  }

  /** Waits for the moment that the plan wants, and kills. */
  async strike(planned: PlannedKill, whileStarting: boolean): Promise<Target> {
    await this.#moment(planned, whileStarting);
    if (planned.burst) {
      this.#deps.load.burst();
      await sleep(planned.depth * BURST_MS);
    }
    return this.#kill(planned.target);
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
    return `kill ${this.kills.length}/${this.#deps.planned}  ${kill.target} in ${kill.step}: ${motion}, ready after ${kill.readyMs} ms`;
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

  #kill(wanted: Target): Target {
    const { sim, load } = this.#deps;
    const daemon = sim.pid('daemon');
    const rt = sim.pid('rt');
    if (daemon === null) throw new Error('there is no daemon to kill: it died by itself');
    // In the middle of a start there may be no motion process yet.
    const target = rt === null ? 'daemon' : wanted;
    const at = Date.now();
    if (target !== 'daemon' && rt !== null) process.kill(rt, 'SIGKILL');
    if (target !== 'rt') process.kill(daemon, 'SIGKILL');
    this.#last = { target, at, daemon, rt };
    const step = load.watch.step?.method ?? 'none';
    this.kills.push({ target, at, rtAlive: rt !== null, step, readyMs: null });
    return target;
  }
}

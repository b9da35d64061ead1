/**
 * What the motion process tells the daemon by itself: its state and what it sees. Ten and four times a second while
 * something happens, and much more rarely while only time passes: a robot on its dock should cost next to nothing.
 */
import type { RobotState, Scan } from '../../config/contracts/amr.js';
import type { Pose } from '../../config/contracts/geometry.js';
import type { RtToDaemon } from '../../config/contracts/rt-protocol.js';
import { sameFacts } from './robot-state.js';

export interface ReportsOptions {
  state: () => RobotState;
  view: () => { scan: Scan | null; path: Pose[] };
  send: (message: RtToDaemon) => void;
}

/** In control cycles: how often there is a look for news, and how old a report may become without any. */
const STATE_EVERY = 2;
const QUIET_STATE_EVERY = 8;
const VIEW_EVERY = 5;
const QUIET_VIEW_EVERY = 20;

export class Reports {
  readonly #options: ReportsOptions;
  #told: RobotState | null = null;
  #toldCycle = 0;
  /** What was shown last, and where the robot was. */
  #shown: { scan: Scan | null; path: Pose[]; at: string } = { scan: null, path: [], at: '' };
  #shownCycle = 0;
  #cycle = 0;

  constructor(options: ReportsOptions) {
    this.#options = options;
  }

  /** To be called at the end of each control cycle. */
  cycle(cycle: number): void {
    this.#cycle = cycle;
    if (cycle % STATE_EVERY === 0) this.#stateIfNew();
    if (cycle % VIEW_EVERY === 0) this.#viewIfNew();
  }

  /** Tells the state now. */
  tellState(state: RobotState = this.#options.state()): void {
    this.#told = state;
    this.#toldCycle = this.#cycle;
    this.#options.send({ t: 'event', event: { type: 'state', state } });
  }

  #stateIfNew(): void {
    const state = this.#options.state();
    const due = state.action !== null || this.#cycle - this.#toldCycle >= QUIET_STATE_EVERY;
    if (due || this.#told === null || !sameFacts(this.#told, state)) this.tellState(state);
  }

  #viewIfNew(): void {
    const { scan, path } = this.#options.view();
    const { scan: shownScan, path: shownPath, at: shownAt } = this.#shown;
    const pathStays = path === shownPath || path.length + shownPath.length === 0;
    if (scan === shownScan && pathStays) return;
    const pose = this.#told?.pose ?? null;
    const at = pose === null ? '' : `${pose.x},${pose.y},${pose.theta}`;
    const due = this.#cycle - this.#shownCycle >= QUIET_VIEW_EVERY;
    if (!due && pathStays && at === shownAt) return;
    this.#shown = { scan, path, at };
    this.#shownCycle = this.#cycle;
    this.#options.send({ t: 'view', scan, path });
  }
}

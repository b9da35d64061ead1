/** What really happened in a mission, seen in the world at every step: touches, standstills, and the way driven. */
import { createHash } from 'node:crypto';
import type { Point } from '../../config/contracts/geometry.js';
import type { World } from '../../simulator/world/world.js';
import { Touches } from './touches.js';

export interface HazardStop {
  hazard: string;
  /** Until the wheels stood, ms; null: they still turned when it should have been over. */
  stopMs: number | null;
  limitMs: number;
}

/** A wheel slower than this stands, m/s. */
const STANDS = 0.003;

export class Recorder {
  travelled = 0;
  /** Somebody has put the robot down elsewhere. */
  wasCarried = false;
  readonly hazards: HazardStop[] = [];
  readonly touches: Touches;
  readonly #world: World;
  readonly #trace = createHash('sha256');
  readonly #pending: { hazard: string; at: number; limitMs: number }[] = [];
  #last: Point;

  constructor(world: World) {
    this.#world = world;
    this.#last = { ...world.body.pose };
    world.onEvent(({ tick, text }) => this.#trace.update(`${tick} ${text}\n`));
    world.attach({ after: () => this.#after() });
    this.touches = new Touches(world);
  }

  get turning(): boolean {
    const { left, right } = this.#world.body.wheels;
    return Math.abs(left) > STANDS || Math.abs(right) > STANDS;
  }

  /** From now on the wheels have so long to stand; not asked of wheels that stand already. */
  expectStop(hazard: string, limitMs: number): void {
    if (this.turning) this.#pending.push({ hazard, at: this.#world.timeMs, limitMs });
  }

  /** The robot was carried: what lies between was not driven. */
  carried(): void {
    this.wasCarried = true;
    this.touches.carried();
    this.#last = { ...this.#world.body.pose };
  }

  /** Call once, at the end. */
  trace(): string {
    return this.#trace.digest('hex').slice(0, 16);
  }

  #after(): void {
    const { body } = this.#world;
    this.travelled += Math.hypot(body.pose.x - this.#last.x, body.pose.y - this.#last.y);
    this.#last = { ...body.pose };
    this.#watchStops();
  }

  #watchStops(): void {
    const now = this.#world.timeMs;
    for (const open of this.#pending.splice(0)) {
      const { hazard, at, limitMs } = open;
      if (!this.turning) this.hazards.push({ hazard, stopMs: now - at, limitMs });
      else if (now - at > limitMs) this.hazards.push({ hazard, stopMs: null, limitMs });
      else this.#pending.push(open);
    }
  }
}

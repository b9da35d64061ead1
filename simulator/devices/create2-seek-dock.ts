/**
 * The base's own way home (`seek_dock`), as its firmware does it in outline: look for the home base's beams by
 * turning, follow them, back off and try again after a bump, stop on the contacts.
 */
import { ROBOT } from '../world/layout.js';
import type { World } from '../world/world.js';

const GREEN = 4;
const RED = 8;
const FORWARD = 0.1;
const CLOSE = 0.05;
const TURN = 0.4;
const STEER = 0.35;
const BACK = -0.1;
const BACK_MS = 2500;
/** Gives up without seeing the base, or without contact, ms. */
const PATIENCE_MS = 90_000;

export interface WheelSpeeds {
  left: number;
  right: number;
}

export class SeekDock {
  readonly #world: World;
  readonly #startedMs: number;
  #backUntilMs = 0;

  constructor(world: World) {
    this.#world = world;
    this.#startedMs = world.timeMs;
  }

  /** Wheel speeds to go on with, m/s; null when it is over: docked, or given up. */
  next(): WheelSpeeds | null {
    const world = this.#world;
    if (world.docked || world.timeMs - this.#startedMs > PATIENCE_MS) return null;
    if (world.body.bump.left || world.body.bump.right) this.#backUntilMs = world.timeMs + BACK_MS;
    if (world.timeMs < this.#backUntilMs) return { left: BACK, right: BACK };
    const ir = world.infrared();
    const seen = ir.left | ir.right;
    if (seen === 0) return curve(0, TURN);
    const speed = (seen & 1) !== 0 ? CLOSE : FORWARD;
    const red = (seen & RED) !== 0;
    const green = (seen & GREEN) !== 0;
    if (red && !green) return curve(speed, this.#towardsAxis(ir.right !== 0, STEER));
    if (green && !red) return curve(speed, this.#towardsAxis(ir.left !== 0, -STEER));
    if (ir.left !== 0 && ir.right === 0) return curve(speed / 2, STEER);
    if (ir.right !== 0 && ir.left === 0) return curve(speed / 2, -STEER);
    return curve(speed, 0);
  }

  /** Turns towards the middle while the base stays in view on the far side. */
  #towardsAxis(inView: boolean, steer: number): number {
    return inView ? steer : -steer;
  }
}

function curve(v: number, w: number): WheelSpeeds {
  const half = ROBOT.wheelBase / 2;
  return { left: v - w * half, right: v + w * half };
}

/**
 * Presses the bumper of a base on a pseudo-terminal again and again, at random moments, and measures until the bytes
 * that stop the wheels have come back.
 */
import type { Clock } from '../../../config/contracts/clock.js';
import type { PtyEnd } from '../../../simulator/ports/pty.js';
import type { Create2Peer } from '../../support/rt/create2-peer.js';
import { STOP } from '../../support/rt/rig.js';
import { wait } from '../support/stats.js';

export interface Trial {
  ms: number;
  /** The wheels were being driven when the bumper was pressed. */
  driving: boolean;
}

/** A press without stop bytes for this long has failed. */
const LOST_MS = 400;
/** A base that was told nothing for this long stands, and nothing but the press will make it be told anything. */
const QUIET_MS = 150;
/** A drive command this fresh means that the wheels are being driven. */
const DRIVEN_MS = 60;
/** How long the bumper stays pressed, and how long one side rests before it is pressed again: both count anew. */
const PRESSED_MS = 35;
const REST_MS = 230;
const LOOK_EVERY_MS = 0.1;

export class BumperTrials {
  readonly #line: PtyEnd;
  readonly #peer: Create2Peer;
  readonly #clock: Clock;
  readonly #releasedAt = { bumpLeft: 0, bumpRight: 0 };
  readonly #sleeper = new Int32Array(new SharedArrayBuffer(4));

  constructor(line: PtyEnd, peer: Create2Peer, clock: Clock) {
    this.#line = line;
    this.#peer = peer;
    this.#clock = clock;
  }

  /** One press at a random moment. Throws when no stop comes. */
  async press(side: 'bumpLeft' | 'bumpRight'): Promise<Trial> {
    await wait(Math.max(0, this.#releasedAt[side] + REST_MS - this.#clock.mono()));
    await wait(Math.random() * 60);
    const driving = await this.#settled();
    const ms = this.#pressNow(side);
    await wait(PRESSED_MS);
    this.#peer.flags[side] = false;
    this.#releasedAt[side] = this.#clock.mono();
    return { ms, driving };
  }

  /** Waits until the wheels are either being driven or have long been told nothing; true when they are driven. */
  async #settled(): Promise<boolean> {
    for (;;) {
      this.#line.poll();
      const last = this.#peer.received.at(-1);
      const age = this.#clock.mono() - (last?.mono ?? 0);
      const driven = last?.command.startsWith('drive ') === true && last.command !== STOP;
      if (driven && age < DRIVEN_MS) return true;
      if (!driven && age > QUIET_MS) return false;
      await wait(2);
    }
  }

  /** Nothing else runs in this process meanwhile, so that only the robot is measured. */
  #pressNow(side: 'bumpLeft' | 'bumpRight'): number {
    const { received, flags } = this.#peer;
    const before = received.length;
    const began = performance.now();
    flags[side] = true;
    this.#peer.sendFrame();
    for (;;) {
      this.#line.poll();
      const now = performance.now();
      if (received.slice(before).some(({ command }) => command === STOP)) return now - began;
      if (now - began > LOST_MS) throw new Error(`no stop bytes within ${LOST_MS} ms of a pressed bumper`);
      Atomics.wait(this.#sleeper, 0, 0, LOOK_EVERY_MS);
    }
  }
}

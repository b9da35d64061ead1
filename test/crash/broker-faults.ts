/**
 * What a broker does to the two that talk through it: it goes away for a while and comes back with its sessions, or,
 * now and then, without. One that loses its sessions loses what it had acknowledged and not delivered; nobody can get
 * that back but the one who sent it, so the cloud sends again what was not answered once the robot listens again.
 */
import type { CommandBook } from './command-book.js';
import type { Simulation } from './simulation.js';
import { type Bell, sleep } from './waiting.js';

export interface BrokerFaultsDeps {
  sim: Simulation;
  commands: CommandBook;
  bell: Bell;
  random: () => number;
  publish(text: string): void;
}

/** A restart comes about this often, and the broker is away for this long, ms. */
const EVERY_MS = 9000;
const AWAY_MS = { least: 100, most: 1500 };
/** A dying process has said its last when the broker forgets what it knew, ms. */
const LAST_WORDS_MS = 150;
/** From `online` until the robot's subscription has reached the broker, ms. */
export const SUBSCRIBED_MS = 500;

export class BrokerFaults {
  restarts = 0;
  /** Of them, without sessions. */
  forgot = 0;
  readonly #deps: BrokerFaultsDeps;
  /** Commands that the broker may have lost. */
  readonly #suspects = new Set<string>();
  /** From the loss until the robot listens again everything may be lost. */
  #losing = false;
  #busy = false;

  constructor(deps: BrokerFaultsDeps) {
    this.#deps = deps;
  }

  /** Every now and then the broker is away for a while, until `signal`. */
  async restartNowAndThen(signal: AbortSignal): Promise<void> {
    const { sim, bell, random } = this.#deps;
    while (!signal.aborted) {
      await bell.until(() => signal.aborted, EVERY_MS * (0.5 + random()));
      if (signal.aborted || this.#busy) continue;
      this.#busy = true;
      await sim.inject('broker', 'stop');
      await sleep(AWAY_MS.least + random() * (AWAY_MS.most - AWAY_MS.least));
      await sim.inject('broker', 'start');
      this.restarts += 1;
      this.#busy = false;
    }
  }

  /** Starts the broker afresh. Only while the robot is down: what it publishes meanwhile would be lost. */
  async forgetEverything(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    await sleep(LAST_WORDS_MS);
    await this.#deps.sim.inject('broker', 'restart');
    this.#losing = true;
    this.#suspectTheUnanswered();
    this.restarts += 1;
    this.forgot += 1;
    this.#busy = false;
  }

  /** To be called when the robot says that it is there. */
  async online(): Promise<void> {
    if (!this.#losing && this.#suspects.size === 0) return;
    await sleep(SUBSCRIBED_MS);
    if (this.#losing) this.#suspectTheUnanswered();
    this.#losing = false;
    for (const { id, text } of this.#deps.commands.unanswered) {
      if (this.#suspects.has(id)) this.#deps.publish(text);
    }
  }

  #suspectTheUnanswered(): void {
    for (const { id } of this.#deps.commands.unanswered) this.#suspects.add(id);
  }
}

/**
 * What goes wrong around a robot while it works: the broker goes away and comes back with its sessions or without, the
 * network is cut, slow or silent, the clock is set, the disk is full. A broker that loses its sessions loses what it
 * had acknowledged and not delivered; nobody can get that back but the one who sent it, so the cloud sends again what
 * was not answered once the robot listens again.
 */
import type { CrashBroker } from './brokers.js';
import type { CommandBook } from './command-book.js';
import type { FaultDesk } from './fault-orders.js';
import { pick } from './pick.js';
import type { Simulation } from './simulation.js';
import type { SmallDisk } from './small-disk.js';
import { type Bell, sleep } from './waiting.js';

export interface BrokerFaultsDeps {
  sim: Simulation;
  broker: CrashBroker;
  desk: FaultDesk;
  /** Null where none could be mounted. */
  disk: SmallDisk | null;
  commands: CommandBook;
  bell: Bell;
  random: () => number;
  publish(text: string): void;
}

export const TROUBLES = ['restart', 'cut', 'slow', 'half_open', 'clock', 'full_disk'] as const;
export type Trouble = (typeof TROUBLES)[number];

/** Trouble comes about this often, ms. */
const EVERY_MS = 4000;
const AWAY_MS = { least: 100, most: 1500 };
/** How late each packet is on a slow line, and for how long it is slow; ms. */
const SLOW_MS = { late: 150, most: 2500 };
const SILENT_MS = { least: 500, most: 2500 };
const CLOCK_JUMPS_MS = [3_600_000, -3_600_000, 86_400_000, -30_000] as const;
const JUMPED_MS = 1500;
const FULL_MS = 900;
/** A dying process has said its last when the broker forgets what it knew, ms. */
const LAST_WORDS_MS = 150;
/** From `online` until the robot's subscription has reached the broker, ms. */
export const SUBSCRIBED_MS = 500;

export class BrokerFaults {
  restarts = 0;
  /** Of them, without sessions. */
  forgot = 0;
  readonly counts: Record<Trouble, number> = {
    restart: 0,
    cut: 0,
    slow: 0,
    half_open: 0,
    clock: 0,
    full_disk: 0,
  };
  readonly #deps: BrokerFaultsDeps;
  /** Commands that the broker may have lost. */
  readonly #suspects = new Set<string>();
  /** From the loss until the robot listens again everything may be lost. */
  #losing = false;
  #busy = false;

  constructor(deps: BrokerFaultsDeps) {
    this.#deps = deps;
  }

  /** One trouble after the other, with pauses, until `signal`. */
  async comeAndGo(signal: AbortSignal): Promise<void> {
    const { bell, random, disk } = this.#deps;
    const possible = TROUBLES.filter((trouble) => trouble !== 'full_disk' || disk !== null);
    while (!signal.aborted) {
      await bell.until(() => signal.aborted, EVERY_MS * (0.5 + random()));
      if (signal.aborted || this.#busy) continue;
      const trouble = pick(possible, random);
      this.#busy = true;
      try {
        await this.#bring(trouble);
        this.counts[trouble] += 1;
      } finally {
        this.#busy = false;
      }
    }
  }

  /** Starts the broker afresh. Only while the robot is down: what it publishes meanwhile would be lost. */
  async forgetEverything(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    await sleep(LAST_WORDS_MS);
    await this.#deps.broker.forget();
    this.#losing = true;
    this.#suspectTheUnanswered();
    this.restarts += 1;
    this.forgot += 1;
    this.#busy = false;
  }

  /** The network is away while `fn` runs; for a backlog. */
  async without(fn: () => Promise<void>): Promise<void> {
    if (this.#busy) return fn();
    this.#busy = true;
    try {
      await this.#deps.broker.stop();
      await fn();
    } finally {
      await this.#deps.broker.start();
      this.restarts += 1;
      this.#busy = false;
    }
  }

  /** To be called when the robot says that it is there. */
  async online(): Promise<void> {
    if (!this.#losing && this.#suspects.size === 0) return;
    await sleep(SUBSCRIBED_MS);
    if (this.#losing) this.#suspectTheUnanswered();
    this.#losing = false;
    for (const { id, text } of this.#deps.commands.unanswered) {
      if (text !== null && this.#suspects.has(id)) this.#deps.publish(text);
    }
  }

  async #bring(trouble: Trouble): Promise<void> {
    const { broker, random, disk, desk, sim } = this.#deps;
    const between = (least: number, most: number) => least + random() * (most - least);
    switch (trouble) {
      case 'restart':
        await broker.stop();
        await sleep(between(AWAY_MS.least, AWAY_MS.most));
        await broker.start();
        this.restarts += 1;
        return;
      case 'cut':
        broker.network.cut();
        return;
      case 'slow':
        broker.network.setDelay(SLOW_MS.late);
        await sleep(between(0, SLOW_MS.most));
        broker.network.setDelay(0);
        return;
      case 'half_open':
        broker.network.setSilent(true);
        await sleep(between(SILENT_MS.least, SILENT_MS.most));
        broker.network.setSilent(false);
        return;
      case 'clock':
        desk.order({ clockMs: pick(CLOCK_JUMPS_MS, random) });
        sim.tellDaemon();
        await sleep(JUMPED_MS);
        desk.order({ clockMs: 0 });
        sim.tellDaemon();
        return;
      case 'full_disk':
        disk?.fill();
        await sleep(FULL_MS);
        disk?.empty();
        return;
    }
  }

  #suspectTheUnanswered(): void {
    for (const { id } of this.#deps.commands.unanswered) this.#suspects.add(id);
  }
}

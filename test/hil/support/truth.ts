/** A diary of the world, tick by tick: what really was, which neither robot nor cloud can see or fake. */
import type { Pose } from '../../../config/contracts/geometry.js';
import type { WorldEvent } from '../../../simulator/types.js';
import type { Home } from '../../support/home.js';

export interface Truth {
  /** Since the world began, ms. */
  timeMs: number;
  pose: Pose;
  /** Of the wheels over ground, m/s. */
  wheels: { left: number; right: number };
  /** What the base was last told, m/s. */
  command: { left: number; right: number };
  rpm: number;
  docked: boolean;
  charging: boolean;
  room: string | null;
  percent: number;
  touching: boolean;
}

export class Diary {
  readonly #home: Home;
  readonly #pages: Truth[] = [];
  readonly #told: WorldEvent[] = [];

  constructor(home: Home) {
    this.#home = home;
    const { world } = home.session;
    world.onEvent((event) => this.#told.push(event));
    world.attach({ flush: () => this.#pages.push(this.now) });
    this.#pages.push(this.now);
  }

  get now(): Truth {
    const { world } = this.#home.session;
    const { body, battery } = world;
    return {
      timeMs: world.timeMs,
      pose: { ...body.pose },
      wheels: { ...body.wheels },
      command: { ...body.command },
      rpm: world.fan.rpm,
      docked: world.docked,
      charging: battery.charging,
      room: world.layout.rooms[world.room]?.id ?? null,
      percent: battery.percent,
      touching: body.touching && !body.seated,
    };
  }

  /** The newest page not younger than `timeMs`. */
  at(timeMs: number): Truth {
    const page = this.#pages.findLast((one) => one.timeMs <= timeMs) ?? this.#pages[0];
    if (page === undefined) throw new Error('the diary is empty');
    return page;
  }

  /** Pages from `fromMs` to `toMs`, both included. */
  between(fromMs: number, toMs = Number.POSITIVE_INFINITY): Truth[] {
    return this.#pages.filter((page) => page.timeMs >= fromMs && page.timeMs <= toMs);
  }

  /** What the world told since `fromMs`, e.g. `collision`. */
  told(text: string, fromMs = 0): WorldEvent[] {
    return this.#told.filter((event) => event.timeMs >= fromMs && event.text === text);
  }

  /** Metres that the robot's middle has really gone. */
  travelled(fromMs: number, toMs = Number.POSITIVE_INFINITY): number {
    const pages = this.between(fromMs, toMs);
    let metres = 0;
    for (let i = 1; i < pages.length; i++) {
      const [a, b] = [pages[i - 1]?.pose, pages[i]?.pose];
      if (a !== undefined && b !== undefined) metres += Math.hypot(b.x - a.x, b.y - a.y);
    }
    return metres;
  }

  /** World time since which the wheels stand still and are told to; null while they turn. */
  stillSince(): number | null {
    const moving = this.#pages.findLastIndex((page) => turning(page));
    return this.#pages[moving + 1]?.timeMs ?? null;
  }

  /** Touches of walls, furniture or people so far. */
  get collisions(): number {
    return this.told('collision').length;
  }
}

/** Whether the wheels turn, or would if they could. */
export function turning({ wheels, command }: Truth): boolean {
  return wheels.left !== 0 || wheels.right !== 0 || command.left !== 0 || command.right !== 0;
}

/**
 * What the base was told about its wheels, command by command, as its serial line received it, with the world's time
 * and the wall's: whoever kills a process at a wall time can see here when the robot was stopped.
 */
import type { Received } from '../types.js';

export interface DriveCommand {
  tick: number;
  /** Simulated milliseconds since the world began. */
  world_ms: number;
  /** Wall time at which the base took the command in, epoch ms. */
  wall: number;
  /** Wall time before which it cannot have been written: everything older had been read then. */
  earliest_wall: number;
  /** E.g. `drive_direct`; `start` and the like are in here because leaving the drive modes stops the wheels. */
  what: string;
  /** Whether it asks for anything but standing still. */
  moving: boolean;
}

/** Commands with wheel speeds: how many of their values are speeds. */
const SPEEDS: Readonly<Record<string, number>> = { drive: 1, drive_direct: 2, drive_pwm: 2, base_control: 1 };
const MOVES: readonly string[] = ['seek_dock'];
/** `watchdog` is not a command: the base stopped because it heard none. */
const STOPS: readonly string[] = ['start', 'stop', 'power', 'reset', 'watchdog'];
/** At 20 commands a second more than a minute. */
const KEEP = 2000;

export class DriveRecord {
  readonly #wall: () => number;
  readonly #commands: DriveCommand[] = [];
  #stepBegan: number;
  #stepBefore: number;

  /** `wall`: epoch ms. */
  constructor(wall: () => number) {
    this.#wall = wall;
    this.#stepBegan = wall();
    this.#stepBefore = this.#stepBegan;
  }

  /** To be called ahead of each step of the world, which empties the base's line first of all. */
  stepBegins(): void {
    this.#stepBefore = this.#stepBegan;
    this.#stepBegan = this.#wall();
  }

  /** A command that the base understood; those that do not concern the wheels are left out. */
  note({ tick, timeMs, what, values }: Received): void {
    const speeds = SPEEDS[what];
    if (speeds === undefined && !MOVES.includes(what) && !STOPS.includes(what)) return;
    const moving =
      speeds === undefined ? MOVES.includes(what) : values.slice(0, speeds).some((value) => value !== 0);
    this.#commands.push({
      tick,
      world_ms: timeMs,
      wall: this.#wall(),
      earliest_wall: this.#stepBefore,
      what,
      moving,
    });
    if (this.#commands.length > KEEP) this.#commands.splice(0, KEEP / 2);
  }

  /** Commands taken in at or after `wall`, oldest first, and the last one before it. */
  since(wall: number): DriveCommand[] {
    const first = this.#commands.findIndex((command) => command.wall >= wall);
    if (first < 0) return this.#commands.slice(-1);
    return this.#commands.slice(Math.max(0, first - 1));
  }
}

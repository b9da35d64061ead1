/**
 * The world: steps the robot's body, the people, the air and the parts attached to it, and tells what
 * happened. It owns no clock: whoever runs it says how much time passes. The same seed and the same calls give
 * the same world.
 */
import type { Pose } from '../../config/contracts/geometry.js';
import { relativeTo } from '../../config/contracts/geometry.js';
import type { WorldEvent, WorldPart, WorldView } from '../types.js';
import { HomeAir } from './air.js';
import { Battery } from './battery.js';
import { type Infrared, mirrored, NO_INFRARED, receiveInfrared } from './beacon.js';
import { Body } from './body.js';
import { Fan } from './fan.js';
import { type Layout, ROBOT, roomAt } from './layout.js';
import { LidarSensor } from './lidar.js';
import { type Random, randomStream } from './random.js';
import { Watcher } from './trace.js';
import { Visitors } from './visitors.js';

/** Longest sub-step, ms: the robot moves less than 3 mm in it. */
const SUB_STEP = 5;
/** How often the air is mixed, ms. */
const AIR_STEP = 500;
/** Contacts meet within this offset to the side, gap and heading (m, m, rad). */
const CONTACT = { side: 0.03, gap: 0.012, heading: 0.14 } as const;
const TRACE_LIMIT = 200_000;

export interface WorldOptions {
  /** Whole number; default 1. */
  seed?: number;
  /** Distance of the robot's wheels, m; default: the reference robot's. */
  wheelBase?: number;
}

export class World {
  readonly layout: Layout;
  readonly seed: number;
  readonly body: Body;
  readonly lidar: LidarSensor;
  readonly battery = new Battery();
  readonly fan: Fan;
  readonly air: HomeAir;
  readonly visitors: Visitors;
  readonly darkRooms = new Set<string>();
  /**
   * The home base: whether it has mains power, whether its contacts conduct, and what becomes of its beams: something
   * shiny beside it shows them the wrong way round.
   */
  readonly station: { powered: boolean; contacts: boolean; infrared: 'on' | 'off' | 'mirrored' } = {
    powered: true,
    contacts: true,
    infrared: 'on',
  };
  /** Whether the base takes the current that the dock offers; the base's firmware decides. */
  chargerWanted = true;
  /** Calls of `step` so far. */
  tick = 0;
  /** Simulated milliseconds since the world began. */
  timeMs = 0;
  docked: boolean;
  /** Index of the room the robot is in, −1 between rooms. */
  room: number;

  readonly #parts: WorldPart[] = [];
  readonly #listeners: ((event: WorldEvent) => void)[] = [];
  readonly #events: WorldEvent[] = [];
  readonly #watcher: Watcher;
  #airDueMs = 0;

  constructor(layout: Layout, options: WorldOptions = {}) {
    this.layout = layout;
    this.seed = options.seed ?? 1;
    this.body = new Body(layout, this.random('body'), options.wheelBase);
    this.lidar = new LidarSensor(layout, this.random('lidar'));
    this.fan = new Fan(layout.maxRpm);
    this.air = new HomeAir(layout);
    this.visitors = new Visitors(layout);
    this.docked = this.#contactsMeet();
    this.room = roomAt(layout, this.body.pose.x, this.body.pose.y);
    this.battery.charging = this.contactsLive;
    this.body.seated = this.docked;
    this.#watcher = new Watcher(this, (text) => this.tell(text));
  }

  /** A stream of randomness of its own for whoever asks by this name. */
  random(name: string): Random {
    return randomStream(this.seed, name);
  }

  /** Lets `dtMs` milliseconds pass. */
  step(dtMs: number): void {
    if (!(dtMs > 0 && Number.isFinite(dtMs)))
      throw new RangeError(`step: found ${dtMs}; it must be positive`);
    this.tick += 1;
    const subSteps = Math.ceil(dtMs / SUB_STEP);
    const sub = dtMs / subSteps;
    for (const part of this.#parts) part.begin?.();
    for (let i = 0; i < subSteps; i++) this.#subStep(sub);
    for (const part of this.#parts) part.flush?.();
  }

  /** Lets a part take part in every step; the returned function takes it out again. */
  attach(part: WorldPart): () => void {
    this.#parts.push(part);
    return () => {
      const i = this.#parts.indexOf(part);
      if (i >= 0) this.#parts.splice(i, 1);
    };
  }

  onEvent(listener: (event: WorldEvent) => void): () => void {
    this.#listeners.push(listener);
    return () => {
      const i = this.#listeners.indexOf(listener);
      if (i >= 0) this.#listeners.splice(i, 1);
    };
  }

  /** Records that something happened; `text` without ids or wall times. */
  tell(text: string): void {
    const event = { tick: this.tick, timeMs: this.timeMs, text };
    if (this.#events.length >= TRACE_LIMIT) this.#events.splice(0, TRACE_LIMIT / 2);
    this.#events.push(event);
    for (const listener of this.#listeners) listener(event);
  }

  /** What happened so far, one line each: tick, a space, what. Bounded: the oldest go first. */
  trace(): string[] {
    return this.#events.map((e) => `${e.tick} ${e.text}`);
  }

  /** Whether the charging contacts carry current: the robot stands on them, and the station is in order. */
  get contactsLive(): boolean {
    return this.docked && this.station.powered && this.station.contacts;
  }

  /** What the robot's infrared receivers get now. */
  infrared(): Infrared {
    const { powered, infrared } = this.station;
    if (!this.body.powered || !powered || infrared === 'off') return NO_INFRARED;
    const received = receiveInfrared(this.layout, this.body, this.visitors.things);
    return infrared === 'on' ? received : mirrored(received);
  }

  /** The robot is carried away: put down at `pose`, which nobody told it. */
  place(pose: Pose): void {
    this.body.pose = { ...pose };
    this.body.before = this.body.pose;
    this.#settlePlace();
  }

  view(): WorldView {
    const { body, battery, fan, visitors } = this;
    return {
      tick: this.tick,
      timeMs: this.timeMs,
      pose: { ...body.pose },
      room: this.layout.rooms[this.room]?.id ?? null,
      docked: this.docked,
      battery: { percent: battery.percent, charging: battery.charging },
      airByRoom: Object.fromEntries(
        this.layout.rooms.map((r, i) => [r.id, { ...(this.air.rooms[i] ?? r.air) }]),
      ),
      fan: { setPointPercent: fan.setPointPercent, rpm: fan.rpm },
      people: visitors.people.map((p) => ({ id: p.id, x: p.x, y: p.y, room: this.#roomId(p.x, p.y) })),
      obstacles: visitors.obstacles.map((o) => ({ id: o.id, x: o.x, y: o.y, radius: o.radius })),
      darkRooms: [...this.darkRooms],
      command: { ...body.command },
      bump: { ...body.bump },
    };
  }

  #subStep(dtMs: number): void {
    this.timeMs += dtMs;
    for (const part of this.#parts) part.before?.(dtMs);
    this.visitors.step(dtMs, this.body.pose);
    this.body.step(dtMs, this.visitors.things);
    this.#settlePlace();
    this.fan.step(dtMs);
    this.#stepPower(dtMs);
    this.#stepAir(dtMs);
    this.#watcher.look(this);
    for (const part of this.#parts) part.after?.(dtMs);
  }

  #settlePlace(): void {
    this.docked = this.#contactsMeet();
    this.body.seated = this.docked;
    this.room = roomAt(this.layout, this.body.pose.x, this.body.pose.y);
  }

  #stepPower(dtMs: number): void {
    const { wheels } = this.body;
    this.battery.step(dtMs, {
      wheels: (Math.abs(wheels.left) + Math.abs(wheels.right)) / (2 * ROBOT.maxWheelSpeed),
      fan: this.fan.share,
      charger: this.contactsLive && this.chargerWanted,
    });
    this.body.powered = !this.battery.empty;
  }

  #stepAir(dtMs: number): void {
    this.#airDueMs += dtMs;
    if (this.#airDueMs < AIR_STEP) return;
    this.air.step(this.#airDueMs, {
      timeMs: this.timeMs,
      robotRoom: this.room,
      fan: this.fan.share,
      people: (room) => this.#peopleIn(room),
    });
    this.#watcher.lookAtAir(this, this.#airDueMs);
    this.#airDueMs = 0;
  }

  #peopleIn(room: number): number {
    return this.visitors.people.filter((p) => roomAt(this.layout, p.x, p.y) === room).length;
  }

  #roomId(x: number, y: number): string | null {
    return this.layout.rooms[roomAt(this.layout, x, y)]?.id ?? null;
  }

  #contactsMeet(): boolean {
    if (this.layout.dock === null) return false;
    const off = relativeTo(this.layout.dock.station, this.body.pose);
    return (
      Math.abs(off.x) <= CONTACT.gap &&
      Math.abs(off.y) <= CONTACT.side &&
      Math.abs(off.theta) <= CONTACT.heading
    );
  }
}

/** What a Create 2 reports of the world: the number behind each of its sensor packets. */
import { CAPACITY } from '../world/battery.js';
import type { Infrared } from '../world/beacon.js';
import { ROBOT } from '../world/layout.js';
import { nearestThing } from '../world/lidar.js';
import type { World } from '../world/world.js';

/** What the firmware knows beside its sensors. */
export interface FirmwareState {
  mode: number;
  buttons: number;
  streamPackets: number;
  charging: number;
  song: number;
  /** mm/s and mm as last requested. */
  requested: { velocity: number; radius: number; left: number; right: number };
  /** Taken since the last report: mm and degrees. */
  takeDistance(): number;
  takeAngle(): number;
}

/** Cliff signal over a floor and over a drop; strength units of the specification, 0…4095. */
const FLOOR = 2700;
const DROP = 12;
/** Bearings of the light bumper's sensors, rad, from left to right; packets 46…51. */
const LIGHT_BUMPERS = [1.13, 0.66, 0.23, -0.23, -0.66, -1.13] as const;
/** They see this far from the hull, m, and say that something is there from this strength on. */
const LIGHT_REACH = 0.25;
const LIGHT_THRESHOLD = 300;
const WALL_BEARING = -1.2;
const DEG = 180 / Math.PI;

/** Numbers of one report; infrared is looked up once. */
export function sensorReader(world: World, firmware: FirmwareState): (packet: number) => number {
  let infrared: Infrared | null = null;
  const ir = () => {
    infrared ??= world.infrared();
    return infrared;
  };
  return (packet) => readPacket(world, firmware, packet, ir);
}

function readPacket(world: World, firmware: FirmwareState, packet: number, ir: () => Infrared): number {
  const { body, battery } = world;
  switch (packet) {
    case 7:
      return bits(body.bump.right, body.bump.left, body.wheelDrop.right, body.wheelDrop.left);
    case 8:
      return light(world, WALL_BEARING) > LIGHT_THRESHOLD ? 1 : 0;
    case 9:
      return body.cliff.left ? 1 : 0;
    case 10:
      return body.cliff.frontLeft ? 1 : 0;
    case 11:
      return body.cliff.frontRight ? 1 : 0;
    case 12:
      return body.cliff.right ? 1 : 0;
    case 14:
      return bits(false, false, false, body.overcurrent.right, body.overcurrent.left);
    case 17:
      return ir().omni;
    case 18:
      return firmware.buttons;
    case 19:
      return firmware.takeDistance();
    case 20:
      return firmware.takeAngle();
    case 21:
      return firmware.charging;
    case 22:
      return battery.voltage;
    case 23:
      return battery.current;
    case 24:
      return 26;
    case 25:
      return battery.charge;
    case 26:
      return CAPACITY;
    case 27:
      return light(world, WALL_BEARING) / 4;
    case 28:
      return body.cliff.left ? DROP : FLOOR;
    case 29:
      return body.cliff.frontLeft ? DROP : FLOOR;
    case 30:
      return body.cliff.frontRight ? DROP : FLOOR;
    case 31:
      return body.cliff.right ? DROP : FLOOR;
    case 34:
      return world.contactsLive ? 2 : 0;
    case 35:
      return firmware.mode;
    case 36:
      return firmware.song;
    case 38:
      return firmware.streamPackets;
    case 39:
      return firmware.requested.velocity;
    case 40:
      return firmware.requested.radius;
    case 41:
      return firmware.requested.right;
    case 42:
      return firmware.requested.left;
    case 43:
      return body.encoder('left');
    case 44:
      return body.encoder('right');
    case 45:
      return bits(...LIGHT_BUMPERS.map((bearing) => light(world, bearing) > LIGHT_THRESHOLD));
    case 52:
      return ir().left;
    case 53:
      return ir().right;
    case 54:
      return motorCurrent(world, 'left');
    case 55:
      return motorCurrent(world, 'right');
    case 58:
      return rolling(world) ? 1 : 0;
    default:
      return packet >= 46 && packet <= 51 ? light(world, LIGHT_BUMPERS[packet - 46] ?? 0) : 0;
  }
}

/** Strength of the light bumper's echo in a direction: strong close to the hull, nothing beyond its reach. */
function light(world: World, bearing: number): number {
  const { pose } = world.body;
  const dx = Math.cos(pose.theta + bearing);
  const dy = Math.sin(pose.theta + bearing);
  const wall = world.layout.solid.cast(pose.x, pose.y, dx, dy, ROBOT.radius + LIGHT_REACH);
  const range = nearestThing(pose.x, pose.y, dx, dy, world.visitors.things, wall);
  const gap = Math.max(0, range - ROBOT.radius);
  return gap >= LIGHT_REACH ? 0 : Math.round(4095 * (1 - gap / LIGHT_REACH) ** 2);
}

/** mA: a little when turning, a lot when held fast. */
function motorCurrent(world: World, side: 'left' | 'right'): number {
  const { body } = world;
  if (body.wheelStates[side].motor === 'dead') return 0;
  if (body.isBlocked(side) && Math.abs(body.command[side]) > 0.01)
    return 1900 * Math.sign(body.command[side]);
  const speed = body.wheels[side];
  return speed === 0 ? 0 : Math.sign(speed) * (90 + 300 * Math.abs(speed)) * (body.touching ? 2.5 : 1);
}

/** The front caster's stasis: it turns while the robot makes way forward. */
function rolling(world: World): boolean {
  const { pose, before, wheels } = world.body;
  const ahead = (pose.x - before.x) * Math.cos(pose.theta) + (pose.y - before.y) * Math.sin(pose.theta);
  return ahead > 1e-5 && wheels.left + wheels.right > 0;
}

function bits(...flags: boolean[]): number {
  return flags.reduce((sum, on, i) => sum + (on ? 1 << i : 0), 0);
}

/** Distance and angle since last asked, from the encoders; what does not make a whole unit stays for next time. */
export class TripMeter {
  readonly #world: World;
  #left = 0;
  #right = 0;
  #distance = 0;
  #angle = 0;

  constructor(world: World) {
    this.#world = world;
  }

  takeDistance(): number {
    this.#update();
    const whole = Math.trunc(this.#distance);
    this.#distance -= whole;
    return whole;
  }

  takeAngle(): number {
    this.#update();
    const whole = Math.trunc(this.#angle);
    this.#angle -= whole;
    return whole;
  }

  #update(): void {
    const { left, right } = this.#world.body.turned;
    const l = (left - this.#left) * 1000;
    const r = (right - this.#right) * 1000;
    this.#left = left;
    this.#right = right;
    this.#distance += (l + r) / 2;
    this.#angle += ((r - l) / (ROBOT.wheelBase * 1000)) * DEG;
  }
}

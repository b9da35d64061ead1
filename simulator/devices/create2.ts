/**
 * An iRobot Create 2 as seen from its serial port, after iRobot's "Create 2 Open Interface (OI) Specification
 * based on the iRobot Roomba 600": 115200 baud, modes Off, Passive, Safe and Full, the falls back to Passive in
 * Safe mode, sensor queries and the 15 ms stream. Cleaning, songs, lights and schedules are understood and
 * recorded, and do nothing. Charging ends while the base is in Safe or Full mode, as the specification says.
 */
import type { DeviceEnd } from '../types.js';
import { ROBOT } from '../world/layout.js';
import type { World } from '../world/world.js';
import { type BaseDevice, WATCHDOG_STOPS } from './base-device.js';
import { encodePacket, encodeStream, packetBytes } from './create2-packets.js';
import { Create2Parser, OPCODES } from './create2-parser.js';
import { SeekDock } from './create2-seek-dock.js';
import { type FirmwareState, sensorReader, TripMeter } from './create2-sensors.js';
import { LineDevice } from './line-device.js';

const BAUD = 115_200;
const STREAM_MS = 15;
const STREAM_LIMIT = 172;
const BOOT_MS = 3000;
/** What the boot loader of a Roomba prints is text, which a host has to get past. */
const BOOT_TEXT = 'bl-start\r\nSTR730\r\nbootloader id: #x47186549 82ECCFFF\r\nRoomba by iRobot!\r\n';

const OFF = 0;
const PASSIVE = 1;
const SAFE = 2;
const FULL = 3;
const MODE_NAMES = ['off', 'passive', 'safe', 'full'] as const;
export type OiMode = (typeof MODE_NAMES)[number];

const NOT_CHARGING = 0;
const CHARGING = 2;
const TRICKLE = 3;
const TRICKLE_FROM = 99.5;

/** Bits of the buttons packet. */
const BUTTONS = {
  clean: 1,
  spot: 2,
  dock: 4,
  minute: 8,
  hour: 16,
  day: 32,
  schedule: 64,
  clock: 128,
} as const;
export type Button = keyof typeof BUTTONS;

export interface Create2Options {
  /**
   * Stops the wheels when no byte came for so long while they turn, ms. A real Create 2 has no such watchdog:
   * null, the default.
   */
  watchdogMs?: number | null;
  /** Whether touching the home base counts as "charger plugged in" and ends Safe mode. Default false. */
  dockEndsSafeMode?: boolean;
}

export class Create2Device extends LineDevice implements BaseDevice {
  readonly name = 'base';
  /** Stream frames left out because the one before was still on the line. */
  skippedFrames = 0;
  readonly #world: World;
  readonly #options: Required<Create2Options>;
  readonly #parser = new Create2Parser();
  readonly #trip: TripMeter;
  readonly #firmware: FirmwareState;
  #mode = OFF;
  #stream: number[] = [];
  #streaming = false;
  #streamDueMs = 0;
  #bootUntilMs = 0;
  #lastByteMs = 0;
  #seek: SeekDock | null = null;
  readonly #buttonUntilMs = new Map<number, number>();
  /** What opcodes do; those that are missing are recorded and do nothing. */
  readonly #handlers: Readonly<Record<number, (data: readonly number[]) => void>> = {
    7: () => this.#reset(),
    128: () => this.#setMode(PASSIVE),
    130: () => this.#setMode(SAFE),
    131: () => this.#setMode(SAFE),
    132: () => this.#setMode(FULL),
    133: () => this.#setMode(PASSIVE),
    134: () => this.#setMode(PASSIVE),
    135: () => this.#setMode(PASSIVE),
    136: () => this.#setMode(PASSIVE),
    137: (data) => this.#request(137, data),
    140: (data) => {
      this.#firmware.song = data[0] ?? 0;
    },
    142: (data) => this.#query(data),
    143: () => {
      this.#setMode(PASSIVE);
      this.#seek = new SeekDock(this.#world);
    },
    145: (data) => this.#request(145, data),
    146: (data) => this.#request(146, data),
    148: (data) => this.#startStream(data.slice(1)),
    149: (data) => this.#query(data.slice(1)),
    150: (data) => {
      this.#streaming = data[0] === 1 && this.#stream.length > 0;
    },
    173: () => this.#setMode(OFF),
  };

  constructor(world: World, end: DeviceEnd, options: Create2Options = {}) {
    super(world, end, BAUD, 'create2-line');
    this.#world = world;
    this.#options = { watchdogMs: null, dockEndsSafeMode: false, ...options };
    this.#trip = new TripMeter(world);
    this.#firmware = {
      mode: OFF,
      buttons: 0,
      streamPackets: 0,
      charging: NOT_CHARGING,
      song: 0,
      requested: { velocity: 0, radius: 0, left: 0, right: 0 },
      takeDistance: () => this.#trip.takeDistance(),
      takeAngle: () => this.#trip.takeAngle(),
    };
  }

  get mode(): OiMode {
    return MODE_NAMES[this.#mode] ?? 'off';
  }

  /** Holds a button down for `ms`. */
  press(button: Button, ms: number): void {
    this.#buttonUntilMs.set(BUTTONS[button], this.#world.timeMs + ms);
  }

  pressStop(ms: number): void {
    this.press('clean', ms);
  }

  /** Only the cable is pulled: the base keeps its mode, and goes on driving as it was told. */
  override unplug(): void {
    this.#parser.reset();
    super.unplug();
  }

  before(dtMs: number): void {
    if (!this.#world.body.powered) this.#setMode(OFF);
    this.#firmware.buttons = this.#buttonsDown();
    this.#firmware.charging = this.#chargingState();
    this.line.takeIn(dtMs, (byte) => this.#take(byte));
    this.#watchdog();
    this.#safety();
    this.#drive();
  }

  after(dtMs: number): void {
    const { timeMs } = this.#world;
    this.#firmware.charging = this.#chargingState();
    if (this.#streaming && timeMs >= this.#streamDueMs && this.#awake()) {
      this.#streamDueMs = Math.max(this.#streamDueMs + STREAM_MS, timeMs);
      if (this.line.backlog > 0) this.skippedFrames += 1;
      else this.line.send(encodeStream(this.#stream, sensorReader(this.#world, this.#firmware)));
    }
    this.line.giveOut(dtMs);
  }

  #awake(): boolean {
    return this.#world.body.powered && this.#world.timeMs >= this.#bootUntilMs;
  }

  #take(byte: number): void {
    this.#lastByteMs = this.#world.timeMs;
    if (!this.#awake()) {
      this.#parser.reset();
      return;
    }
    this.#parser.push(byte, (opcode, data) => this.#command(opcode, data));
  }

  #command(opcode: number, data: readonly number[]): void {
    const name = OPCODES[opcode] ?? 'unknown';
    if (this.#mode === OFF && opcode !== 128 && opcode !== 7) return;
    if (!this.line.note(name, valuesOf(opcode, data))) return;
    this.#handlers[opcode]?.(data);
  }

  #reset(): void {
    this.#setMode(OFF);
    this.#bootUntilMs = this.#world.timeMs + BOOT_MS;
    this.line.clear();
    this.line.send(new TextEncoder().encode(BOOT_TEXT), BOOT_MS / 3);
  }

  #setMode(mode: number): void {
    if (mode !== this.#mode) this.#world.tell(`mode ${MODE_NAMES[mode]}`);
    this.#mode = mode;
    this.#firmware.mode = mode;
    this.#world.chargerWanted = mode === OFF || mode === PASSIVE;
    this.#seek = null;
    if (mode === OFF) {
      this.#streaming = false;
      this.#stream = [];
      this.#firmware.streamPackets = 0;
    }
    if (mode === OFF || mode === PASSIVE) this.#halt();
  }

  #halt(): void {
    this.#firmware.requested = { velocity: 0, radius: 0, left: 0, right: 0 };
  }

  #query(ids: readonly number[]): void {
    const out: number[] = [];
    const read = sensorReader(this.#world, this.#firmware);
    for (const id of ids) encodePacket(id, read, out);
    if (out.length > 0) this.line.send(Uint8Array.from(out));
  }

  #startStream(ids: readonly number[]): void {
    const known = ids.filter((id) => packetBytes(id) > 0);
    const bytes = known.reduce((sum, id) => sum + 1 + packetBytes(id), 0);
    if (bytes > STREAM_LIMIT) return;
    this.#stream = known;
    this.#streaming = known.length > 0;
    this.#streamDueMs = this.#world.timeMs;
    this.#firmware.streamPackets = known.length;
  }

  #request(opcode: number, data: readonly number[]): void {
    if (this.#mode !== SAFE && this.#mode !== FULL) return;
    const values = valuesOf(opcode, data);
    const [first = 0, second = 0] = values;
    if (opcode === 137) {
      const wheels = arc(clamp(first, 500), second);
      this.#firmware.requested = { velocity: first, radius: second, ...wheels };
      return;
    }
    const scale = opcode === 146 ? 500 / 255 : 1;
    this.#firmware.requested = {
      velocity: 0,
      radius: 0,
      right: clamp(first * scale, 500),
      left: clamp(second * scale, 500),
    };
  }

  #watchdog(): void {
    const { watchdogMs } = this.#options;
    const { left, right } = this.#firmware.requested;
    if (watchdogMs === null || (left === 0 && right === 0)) return;
    if (this.#world.timeMs - this.#lastByteMs <= watchdogMs) return;
    this.#world.tell(WATCHDOG_STOPS);
    this.#halt();
  }

  /** In Safe mode some conditions stop everything and end the mode. */
  #safety(): void {
    if (this.#mode !== SAFE) return;
    const { wheelDrop, cliff } = this.#world.body;
    const { left, right } = this.#firmware.requested;
    const forward = left + right > 0;
    const tightBackwards = left + right < 0 && Math.abs(left - right) > Math.abs(left + right);
    const overDrop = cliff.left || cliff.frontLeft || cliff.frontRight || cliff.right;
    const fall = wheelDrop.left || wheelDrop.right || (overDrop && (forward || tightBackwards));
    if (fall || (this.#options.dockEndsSafeMode && this.#world.docked)) this.#setMode(PASSIVE);
  }

  #drive(): void {
    const { command } = this.#world.body;
    if (this.#seek !== null) {
      const speeds = this.#seek.next();
      if (speeds === null) this.#seek = null;
      command.left = speeds?.left ?? 0;
      command.right = speeds?.right ?? 0;
      return;
    }
    const { left, right } = this.#firmware.requested;
    command.left = Math.max(-ROBOT.maxWheelSpeed, Math.min(ROBOT.maxWheelSpeed, left / 1000));
    command.right = Math.max(-ROBOT.maxWheelSpeed, Math.min(ROBOT.maxWheelSpeed, right / 1000));
  }

  #buttonsDown(): number {
    let down = 0;
    for (const [bit, until] of this.#buttonUntilMs) if (this.#world.timeMs <= until) down |= bit;
    return down;
  }

  #chargingState(): number {
    const { battery } = this.#world;
    if (!battery.charging) return NOT_CHARGING;
    return battery.percent >= TRICKLE_FROM ? TRICKLE : CHARGING;
  }
}

/** A command's data as the numbers it stands for. */
function valuesOf(opcode: number, data: readonly number[]): number[] {
  if (opcode !== 137 && opcode !== 145 && opcode !== 146) return [...data];
  return [signed(data[0], data[1]), signed(data[2], data[3])];
}

/** Wheel speeds (mm/s) of `drive`: radius in mm to the left, with the specification's special values. */
function arc(velocity: number, radius: number): { left: number; right: number } {
  if (radius === -32_768 || radius === 32_767) return { left: velocity, right: velocity };
  if (radius === 1) return { left: -velocity, right: velocity };
  if (radius === -1) return { left: velocity, right: -velocity };
  const bounded = clamp(radius, 2000);
  if (bounded === 0) return { left: velocity, right: velocity };
  const half = (ROBOT.wheelBase * 1000) / 2;
  return { left: velocity * (1 - half / bounded), right: velocity * (1 + half / bounded) };
}

function clamp(value: number, limit: number): number {
  return Math.max(-limit, Math.min(limit, value));
}

function signed(high = 0, low = 0): number {
  return (((high << 8) | low) << 16) >> 16;
}

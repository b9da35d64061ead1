/**
 * Driver of an iRobot Create 2 (Roomba 600) over its Open Interface. Protocol and the reasons for the order of
 * commands: docs/protocols/create2-open-interface.md.
 *
 * The base has no watchdog: it keeps the last wheel speeds until it hears otherwise. So the first bytes on a
 * fresh connection stop it, a stop goes ahead of everything queued, and a speed that is not renewed within
 * `commandTtlMs` is taken back.
 */
import type { CancelTimer } from '../../../config/contracts/clock.js';
import { Deadman } from '../deadman.js';
import { SerialDriverBase, type SerialDriverOptions } from '../driver-base.js';
import type { BaseAbout, BaseDetails, BaseDriver, BaseFrame } from '../types.js';
import { driveDirect, FULL, SAFE, START, STOP_INTERFACE, STOP_WHEELS, stream } from './commands.js';
import {
  batteryPercent,
  type Create2Sensors,
  decodeSensors,
  type EncoderOrder,
  isCharging,
} from './decode.js';
import { EncoderUnwrapper } from './encoders.js';
import { ModeKeeper } from './mode-keeper.js';
import { P, type PacketValues } from './packets.js';
import { OiStreamParser, type StreamItem } from './stream-parser.js';

export interface Create2Geometry {
  /** Wheel diameter, m. */
  wheelDiameter: number;
  countsPerRev: number;
  /** Fastest a wheel may turn, m/s; the base itself stops at 0.5. */
  maxWheelSpeed: number;
}

export interface Create2Options extends SerialDriverOptions {
  geometry?: Partial<Create2Geometry>;
  /** In `safe` the base itself stops at cliffs and wheel drops; `full` leaves that to the host. */
  mode?: 'safe' | 'full';
  encoderOrder?: EncoderOrder;
  /** The wheels are stopped when a speed was not renewed for this long, ms. */
  commandTtlMs?: number;
}

/** Figures of the Create 2: 72 mm wheels, 508.8 counts a turn, 0.5 m/s. */
const CREATE2: Create2Geometry = { wheelDiameter: 0.072, countsPerRev: 508.8, maxWheelSpeed: 0.5 };

/** What is streamed: 69 bytes each 15 ms, two fifths of what the line carries. */
export const STREAMED: readonly number[] = [
  P.bumpsWheelDrops,
  P.cliffLeft,
  P.cliffFrontLeft,
  P.cliffFrontRight,
  P.cliffRight,
  P.overcurrents,
  P.irOmni,
  P.buttons,
  P.chargingState,
  P.voltage,
  P.current,
  P.batteryCharge,
  P.batteryCapacity,
  P.chargingSources,
  P.oiMode,
  P.encoderA,
  P.encoderB,
  P.irLeft,
  P.irRight,
  P.stasis,
  P.temperature,
  P.cliffLeftSignal,
  P.cliffFrontLeftSignal,
  P.cliffFrontRightSignal,
  P.cliffRightSignal,
  P.leftMotorCurrent,
  P.rightMotorCurrent,
];

/** The base sends every 15 ms; this is twenty frames. */
const SILENCE_MS = 300;
/** The interface may miss a command that follows a mode command sooner than 20 ms. */
const SETTLE_MS = 25;
/** No wheel turns further between two frames that are worth adding up, s at full speed. */
const LONGEST_GAP_S = 2;

export class Create2Base extends SerialDriverBase implements BaseDriver {
  readonly #parser = new OiStreamParser(STREAMED);
  readonly #frameListeners: ((frame: BaseFrame) => void)[] = [];
  readonly #metresPerCount: number;
  readonly #maxWheelSpeed: number;
  readonly #encoderOrder: EncoderOrder;
  readonly #deadman: Deadman;
  readonly #left: EncoderUnwrapper;
  readonly #right: EncoderUnwrapper;
  readonly #mode: ModeKeeper;
  #sensors: Create2Sensors | null = null;
  /** When wheels were last counted, `mono` ms, and whether the port was closed since. */
  #countedAt = 0;
  #reopened = false;
  #cancelStartup: CancelTimer = () => {};

  constructor(options: Create2Options) {
    super(options, {
      name: 'base',
      silenceMs: SILENCE_MS,
      silencesBeforeReopen: 10,
      counters: [
        'frames',
        'checksum_errors',
        'layout_errors',
        'discarded_bytes',
        'stream_restarts',
        'mode_lost',
        'mode_requests',
        'encoder_jumps',
        'drives_refused',
        'deadman_stops',
      ],
    });
    const geometry = { ...CREATE2, ...options.geometry };
    this.#metresPerCount = (Math.PI * geometry.wheelDiameter) / geometry.countsPerRev;
    this.#maxWheelSpeed = Math.min(geometry.maxWheelSpeed, CREATE2.maxWheelSpeed);
    this.#encoderOrder = options.encoderOrder ?? 'left_first';
    const ttl = options.commandTtlMs ?? 500;
    this.#deadman = new Deadman(this.clock, ttl, () => {
      this.count('deadman_stops');
      this.log('error', `${this.name}: wheel speeds not renewed for ${ttl} ms; stopped`);
      this.stopNow();
    });
    const maxStep = Math.ceil((LONGEST_GAP_S * CREATE2.maxWheelSpeed) / this.#metresPerCount);
    this.#left = new EncoderUnwrapper(maxStep);
    this.#right = new EncoderUnwrapper(maxStep);
    this.#mode = new ModeKeeper(options.mode ?? 'safe');
  }

  onFrame(listener: (frame: BaseFrame) => void): void {
    this.#frameListeners.push(listener);
  }

  /** The last report in full; null before the first one of a connection. */
  sensors(): Create2Sensors | null {
    return this.#sensors;
  }

  about(): BaseAbout {
    return {
      chip: 'create2',
      firmwareWatchdogMs: null,
      infraredDock: true,
      cutsDrive: true,
      hardwareVersion: null,
      firmwareVersion: null,
    };
  }

  details(): BaseDetails {
    const s = this.#sensors;
    const magnitude = (value: number | null | undefined) => (value == null ? null : Math.abs(value));
    return {
      motorCurrentLeftMa: magnitude(s?.motorLeftMa),
      motorCurrentRightMa: magnitude(s?.motorRightMa),
      gyroHeading: null,
      gyroRate: null,
      temperature: s?.temperatureC ?? null,
      cliffSignals: s?.cliffSignals ?? null,
    };
  }

  driveWheels(left: number, right: number): boolean {
    if (!Number.isFinite(left) || !Number.isFinite(right)) {
      this.count('drives_refused');
      this.stopNow();
      return false;
    }
    if (left === 0 && right === 0) return this.stopNow();
    if (!this.#mode.enabled) {
      this.count('drives_refused');
      return false;
    }
    // Both wheels are slowed by the same factor, so that the robot stays on its curve.
    const scale = Math.min(1, this.#maxWheelSpeed / Math.max(Math.abs(left), Math.abs(right)));
    const sent = this.send(driveDirect(toMmS(left * scale), toMmS(right * scale)));
    if (sent) this.#deadman.renew();
    this.#mode.driven(this.clock.mono());
    this.#tendMode();
    return sent;
  }

  stopNow(): boolean {
    this.#deadman.stand();
    return this.send(STOP_WHEELS, { ahead: true });
  }

  disable(): void {
    this.#mode.disable(this.clock.mono());
    this.stopNow();
    this.#sendMode(START);
  }

  enable(): void {
    this.#mode.enable();
    this.#tendMode();
  }

  protected override beforeInput(): void {
    this.stopNow();
  }

  protected override onOpen(): void {
    this.#startInterface();
  }

  protected override onBytes(bytes: Uint8Array): void {
    for (const item of this.#parser.push(bytes)) this.#take(item);
  }

  protected override onSilent(): void {
    this.count('stream_restarts');
    this.stopNow();
    this.#startInterface();
  }

  protected override beforeStop(): void {
    this.stopNow();
    this.send(STOP_INTERFACE);
  }

  protected override onClosed(): void {
    this.#cancelStartup();
    this.#deadman.stand();
    this.#parser.reset();
    this.#mode.unknown();
    this.#sensors = null;
    this.#reopened = true;
  }

  /** Passive mode and the stream; the first frame then tells whether a drive mode is called for. */
  #startInterface(): void {
    this.#cancelStartup();
    this.#mode.unknown();
    this.send(START);
    this.#cancelStartup = this.clock.after(SETTLE_MS, () => this.send(stream(STREAMED)));
  }

  #take(item: StreamItem): void {
    if (item.kind === 'frame') this.#takeFrame(item.values);
    else if (item.kind === 'discarded') this.count('discarded_bytes', item.bytes);
    else this.count(item.why === 'checksum' ? 'checksum_errors' : 'layout_errors');
  }

  #takeFrame(values: PacketValues): void {
    this.count('frames');
    const sensors = decodeSensors(values, this.#encoderOrder);
    this.#sensors = sensors;
    this.#countWheels(sensors);
    this.heard();
    const frame = this.#frame(sensors);
    for (const listener of this.#frameListeners) listener(frame);
    // After the listeners: what they do about a cliff comes before a mode in which the base drives again.
    this.#tendMode();
  }

  /**
   * Across a port that closed and opened again the wheels are counted on while the base cannot have been switched off
   * meanwhile: its counters begin anew then, and starting up alone takes it longer.
   */
  #countWheels(sensors: Create2Sensors): void {
    const mono = this.clock.mono();
    if (this.#reopened && mono - this.#countedAt > LONGEST_GAP_S * 1000) {
      this.#left.forget();
      this.#right.forget();
    }
    this.#reopened = false;
    this.#countedAt = mono;
    const left = this.#left.update(sensors.encoderLeft ?? 0);
    const right = this.#right.update(sensors.encoderRight ?? 0);
    if (!left || !right) this.count('encoder_jumps');
  }

  #frame(s: Create2Sensors): BaseFrame {
    return {
      at: this.clock.now(),
      mono: this.clock.mono(),
      bumpLeft: s.bumpLeft === true,
      bumpRight: s.bumpRight === true,
      wheelDropLeft: s.wheelDropLeft === true,
      wheelDropRight: s.wheelDropRight === true,
      cliffLeft: s.cliffLeft === true,
      cliffFrontLeft: s.cliffFrontLeft === true,
      cliffFrontRight: s.cliffFrontRight === true,
      cliffRight: s.cliffRight === true,
      overcurrentLeft: s.overcurrentLeft === true,
      overcurrentRight: s.overcurrentRight === true,
      buttons: s.buttons ?? 0,
      irOmni: s.irOmni ?? 0,
      irLeft: s.irLeft ?? 0,
      irRight: s.irRight ?? 0,
      charging: isCharging(s.chargingState),
      docked: s.homeBase === true,
      batteryPercent: batteryPercent(s),
      voltageMv: s.voltageMv ?? 0,
      currentMa: s.currentMa ?? 0,
      wheelLeft: this.#left.total * this.#metresPerCount,
      wheelRight: this.#right.total * this.#metresPerCount,
      driveEnabled: s.mode === 'safe' || s.mode === 'full',
    };
  }

  #tendMode(): void {
    if (this.#sensors === null) return;
    const step = this.#mode.next(this.#sensors, this.clock.mono());
    if (step.lost !== null) {
      this.count('mode_lost');
      this.log('warn', `${this.name}: left its drive mode: ${step.lost}`);
    }
    if (step.request !== null) this.#sendMode({ passive: START, safe: SAFE, full: FULL }[step.request]);
  }

  #sendMode(command: Uint8Array): void {
    this.count('mode_requests');
    this.send(command);
  }
}

function toMmS(metresPerSecond: number): number {
  return Math.round(metresPerSecond * 1000);
}

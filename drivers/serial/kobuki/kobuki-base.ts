/**
 * Driver of a Yujin Kobuki base (the base of a TurtleBot 2) over its serial protocol. It reports by itself fifty
 * times a second and has no modes. Protocol: docs/protocols/kobuki.md.
 *
 * No watchdog of its firmware is documented, so none is relied upon: the first bytes on a fresh connection stop it,
 * and a speed that is not renewed within `commandTtlMs` is taken back. Nor has it a command that takes the drive's
 * power away: `disable` stops it and refuses to drive.
 */
import { EncoderUnwrapper } from '../create2/encoders.js';
import { Deadman } from '../deadman.js';
import { SerialDriverBase, type SerialDriverOptions } from '../driver-base.js';
import type { BaseAbout, BaseDetails, BaseDriver, BaseFrame } from '../types.js';
import { ASK_VERSIONS, arcOf, baseControl, STOP } from './commands.js';
import { beaconCharacter } from './docking-ir.js';
import { decodeReport, type KobukiReport } from './feedback.js';
import { type KobukiItem, KobukiParser } from './frame-parser.js';
import { isCharging, isDocked, isOnCable, percentOf } from './power.js';

export interface KobukiGeometry {
  /** Wheel diameter, m. */
  wheelDiameter: number;
  countsPerRev: number;
  /** Fastest a wheel may turn, m/s; the base itself stops at 0.7. */
  maxWheelSpeed: number;
}

export interface KobukiOptions extends SerialDriverOptions {
  geometry?: Partial<KobukiGeometry>;
  /** The wheels are stopped when a speed was not renewed for this long, ms. */
  commandTtlMs?: number;
}

/** 70 mm wheels and 11724.41 counts a metre; 0.7 m/s. */
export const KOBUKI: KobukiGeometry = { wheelDiameter: 0.07, countsPerRev: 2578.33, maxWheelSpeed: 0.7 };
/** Distance of the wheels that the firmware reckons with, m. */
const BIAS = 0.23;

/** It reports every 20 ms; this is fifteen reports. */
const SILENCE_MS = 300;
/** Between two reports in a row the chip's own clock goes on by 20 ms; a few may be lost. */
const LONGEST_STEP_MS = 2000;
const TIMESTAMP_MASK = 0xffff;
/** No wheel turns further between two reports that are worth adding up, s at full speed. */
const LONGEST_GAP_S = 2;
/** A motor that starts pulls the voltage down for moments; the charge is judged by what lasts, ms. */
const VOLTAGE_TIME_MS = 10_000;
/** Versions are asked for again until they came, ms. */
const ASK_EVERY_MS = 2000;
const MAX_ASKS = 5;
/** The digital inputs stand behind the three buttons in the mask; a button to ground pulls one down. */
const INPUTS_AT = 3;
const INPUTS = 0x0f;

export class KobukiBase extends SerialDriverBase implements BaseDriver {
  readonly #parser = new KobukiParser();
  readonly #frameListeners: ((frame: BaseFrame) => void)[] = [];
  readonly #metresPerCount: number;
  readonly #maxWheelSpeed: number;
  readonly #left: EncoderUnwrapper;
  readonly #right: EncoderUnwrapper;
  readonly #deadman: Deadman;
  #enabled = true;
  #report: KobukiReport | null = null;
  #lastTimestamp: number | null = null;
  #countedAt = 0;
  #reopened = false;
  #decivolts: number | null = null;
  #voltageAt = 0;
  #hardware: string | null = null;
  #firmware: string | null = null;
  #asks = 0;
  #askedAt = 0;

  constructor(options: KobukiOptions) {
    super(options, {
      name: 'base',
      silenceMs: SILENCE_MS,
      silencesBeforeReopen: 10,
      counters: [
        'frames',
        'checksum_errors',
        'layout_errors',
        'value_errors',
        'timestamp_jumps',
        'discarded_bytes',
        'encoder_jumps',
        'drives_refused',
        'deadman_stops',
      ],
    });
    const geometry = { ...KOBUKI, ...options.geometry };
    this.#metresPerCount = (Math.PI * geometry.wheelDiameter) / geometry.countsPerRev;
    this.#maxWheelSpeed = Math.min(geometry.maxWheelSpeed, KOBUKI.maxWheelSpeed);
    const maxStep = Math.ceil((LONGEST_GAP_S * KOBUKI.maxWheelSpeed) / this.#metresPerCount);
    this.#left = new EncoderUnwrapper(maxStep);
    this.#right = new EncoderUnwrapper(maxStep);
    const ttl = options.commandTtlMs ?? 500;
    this.#deadman = new Deadman(this.clock, ttl, () => {
      this.count('deadman_stops');
      this.log('error', `${this.name}: wheel speeds not renewed for ${ttl} ms; stopped`);
      this.stopNow();
    });
  }

  onFrame(listener: (frame: BaseFrame) => void): void {
    this.#frameListeners.push(listener);
  }

  about(): BaseAbout {
    return {
      chip: 'kobuki',
      firmwareWatchdogMs: null,
      infraredDock: true,
      cutsDrive: false,
      hardwareVersion: this.#hardware,
      firmwareVersion: this.#firmware,
    };
  }

  details(): BaseDetails {
    const report = this.#report;
    return {
      motorCurrentLeftMa: report?.currentLeft ?? null,
      motorCurrentRightMa: report?.currentRight ?? null,
      gyroHeading: report === null ? null : (report.heading * Math.PI) / 18_000,
      gyroRate: report === null ? null : (report.headingRate * Math.PI) / 18_000,
      temperature: null,
      cliffSignals:
        report === null ? null : [report.cliffAdc.left, report.cliffAdc.center, report.cliffAdc.right],
    };
  }

  driveWheels(left: number, right: number): boolean {
    if (!Number.isFinite(left) || !Number.isFinite(right)) {
      this.count('drives_refused');
      this.stopNow();
      return false;
    }
    if (left === 0 && right === 0) return this.stopNow();
    if (!this.#mayDrive) {
      this.count('drives_refused');
      return false;
    }
    // Both wheels are slowed by the same factor, so that the robot stays on its curve.
    const scale = Math.min(1, this.#maxWheelSpeed / Math.max(Math.abs(left), Math.abs(right)));
    const sent = this.send(baseControl(arcOf(left * scale, right * scale, BIAS)));
    if (sent) this.#deadman.renew();
    return sent;
  }

  stopNow(): boolean {
    this.#deadman.stand();
    return this.send(STOP, { ahead: true });
  }

  disable(): void {
    this.#enabled = false;
    this.stopNow();
  }

  enable(): void {
    this.#enabled = true;
  }

  protected override beforeInput(): void {
    this.stopNow();
  }

  protected override onOpen(): void {
    this.#asks = 0;
    this.#askVersions();
  }

  protected override onBytes(bytes: Uint8Array): void {
    for (const item of this.#parser.push(bytes)) this.#take(item);
  }

  protected override onSilent(): void {
    this.stopNow();
  }

  protected override beforeStop(): void {
    this.stopNow();
  }

  protected override onClosed(): void {
    this.#deadman.stand();
    this.#parser.reset();
    this.#report = null;
    this.#lastTimestamp = null;
    this.#reopened = true;
  }

  get #mayDrive(): boolean {
    return this.#enabled && (this.#report === null || !isOnCable(this.#report.charger));
  }

  #take(item: KobukiItem): void {
    if (item.kind === 'frame') this.#takePayload(item.payload);
    else if (item.kind === 'discarded') this.count('discarded_bytes', item.bytes);
    else this.count(item.why === 'checksum' ? 'checksum_errors' : 'layout_errors');
  }

  #takePayload(payload: Uint8Array): void {
    const report = decodeReport(payload);
    if (report === null) this.count('value_errors');
    else if (this.#follows(report)) this.#takeReport(report);
    else this.count('timestamp_jumps');
  }

  /**
   * Whether the report can come after the one before, by the chip's clock. A base that was restarted is believed with
   * its second report; so is the first that follows on one that was not.
   */
  #follows(report: KobukiReport): boolean {
    const last = this.#lastTimestamp;
    this.#lastTimestamp = report.timestamp;
    if (last === null) return true;
    const step = (report.timestamp - last) & TIMESTAMP_MASK;
    return step > 0 && step <= LONGEST_STEP_MS;
  }

  #takeReport(report: KobukiReport): void {
    this.count('frames');
    this.#report = report;
    this.#hardware = report.hardwareVersion ?? this.#hardware;
    this.#firmware = report.firmwareVersion ?? this.#firmware;
    this.#countWheels(report);
    this.#weighVoltage(report.batteryDecivolts);
    this.heard();
    const frame = this.#frame(report);
    for (const listener of this.#frameListeners) listener(frame);
    if (this.#firmware === null && this.clock.mono() - this.#askedAt >= ASK_EVERY_MS) this.#askVersions();
  }

  #askVersions(): void {
    if (this.#asks >= MAX_ASKS) return;
    this.#asks += 1;
    this.#askedAt = this.clock.mono();
    this.send(ASK_VERSIONS);
  }

  /** Across a port that closed and opened the wheels are counted on while the base cannot have been restarted. */
  #countWheels(report: KobukiReport): void {
    const mono = this.clock.mono();
    if (this.#reopened && mono - this.#countedAt > LONGEST_GAP_S * 1000) {
      this.#left.forget();
      this.#right.forget();
    }
    this.#reopened = false;
    this.#countedAt = mono;
    const left = this.#left.update(report.encoderLeft);
    const right = this.#right.update(report.encoderRight);
    if (!left || !right) this.count('encoder_jumps');
  }

  #weighVoltage(decivolts: number): void {
    const mono = this.clock.mono();
    const share = 1 - Math.exp(-(mono - this.#voltageAt) / VOLTAGE_TIME_MS);
    this.#voltageAt = mono;
    if (percentOf(decivolts) === null) return;
    this.#decivolts =
      this.#decivolts === null ? decivolts : this.#decivolts + share * (decivolts - this.#decivolts);
  }

  #frame(r: KobukiReport): BaseFrame {
    const pulled = ~r.digitalInputs & INPUTS;
    return {
      at: this.clock.now(),
      mono: this.clock.mono(),
      bumpLeft: r.bumpLeft || r.bumpCenter,
      bumpRight: r.bumpRight || r.bumpCenter,
      wheelDropLeft: r.wheelDropLeft,
      wheelDropRight: r.wheelDropRight,
      cliffLeft: r.cliffLeft,
      cliffFrontLeft: r.cliffCenter,
      cliffFrontRight: r.cliffCenter,
      cliffRight: r.cliffRight,
      overcurrentLeft: r.overcurrentLeft,
      overcurrentRight: r.overcurrentRight,
      buttons: r.buttons | (pulled << INPUTS_AT),
      irOmni: beaconCharacter(r.dockingIr.center),
      irLeft: beaconCharacter(r.dockingIr.left),
      irRight: beaconCharacter(r.dockingIr.right),
      charging: isCharging(r.charger),
      docked: isDocked(r.charger),
      batteryPercent: this.#decivolts === null ? null : percentOf(this.#decivolts),
      voltageMv: 100 * r.batteryDecivolts,
      currentMa: -(r.currentLeft + r.currentRight),
      wheelLeft: this.#left.total * this.#metresPerCount,
      wheelRight: this.#right.total * this.#metresPerCount,
      driveEnabled: this.#mayDrive,
    };
  }
}

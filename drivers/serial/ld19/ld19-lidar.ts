/**
 * Driver of an LDROBOT LD19 or LD06 lidar: 360° ten times a second. The device sends by itself as soon as its
 * motor turns and takes no commands. Protocol: docs/protocols/ld19.md.
 */
import type { Scan } from '../../../config/contracts/amr.js';
import { SerialDriverBase, type SerialDriverOptions } from '../driver-base.js';
import { CENTRED } from '../lidar-mount.js';
import type { LidarAbout, LidarDriver } from '../types.js';
import { Ld19Parser } from './frame-parser.js';
import { type Revolution, RevolutionAssembler, type RevolutionOptions } from './revolution.js';

export interface Ld19Options extends SerialDriverOptions, Partial<RevolutionOptions> {}

/**
 * One bin a degree: at the usual 450 points a turn every bin gets one. Range as in the data sheet, from 5 cm;
 * intensity as reflections from anything solid stay well above.
 */
export const LD19_DEFAULTS: RevolutionOptions = {
  bins: 360,
  mount: CENTRED,
  rangeMin: 0.05,
  rangeMax: 12,
  minIntensity: 15,
};

const SILENCE_MS = 500;
/** Less of a turn than this is worth a count, though the scan is used. */
const COMPLETE = 0.98;

export class Ld19Lidar extends SerialDriverBase implements LidarDriver {
  readonly #options: RevolutionOptions;
  readonly #parser: Ld19Parser;
  readonly #assembler: RevolutionAssembler;
  readonly #scanListeners: ((scan: Scan) => void)[] = [];

  constructor(options: Ld19Options) {
    super(options, {
      name: 'lidar',
      silenceMs: SILENCE_MS,
      silencesBeforeReopen: 6,
      counters: ['scans', 'scans_incomplete', 'revolutions_dropped'],
    });
    const { bins, mount, rangeMin, rangeMax, minIntensity } = { ...LD19_DEFAULTS, ...options };
    this.#options = { bins, mount, rangeMin, rangeMax, minIntensity };
    this.#assembler = new RevolutionAssembler(this.#options);
    this.#parser = new Ld19Parser((bytes, at) => {
      const done = this.#assembler.add(bytes, at);
      if (done !== null) this.#revolved(done);
    });
  }

  onScan(listener: (scan: Scan) => void): void {
    this.#scanListeners.push(listener);
  }

  /** The device takes no commands, so that it cannot be asked. */
  about(): LidarAbout {
    return { chip: 'ld19', model: null, hardwareVersion: null, firmwareVersion: null, health: null };
  }

  override counters(): Record<string, number> {
    const { frames, crc, speed, angle, discarded } = this.#parser.stats;
    return {
      ...super.counters(),
      frames,
      crc_errors: crc,
      speed_errors: speed,
      angle_errors: angle,
      discarded_bytes: discarded,
    };
  }

  protected override onOpen(): void {
    this.#assembler.reset();
  }

  protected override onBytes(bytes: Uint8Array): void {
    const before = this.#parser.stats.frames;
    this.#parser.push(bytes);
    if (this.#parser.stats.frames !== before) this.heard();
  }

  protected override onSilent(): void {
    this.#assembler.reset();
  }

  protected override onClosed(): void {
    this.#parser.reset();
    this.#assembler.reset();
  }

  #revolved(revolution: Revolution): void {
    if (revolution.kind === 'dropped') {
      this.count('revolutions_dropped');
      return;
    }
    this.count('scans');
    if (revolution.coverage < COMPLETE) this.count('scans_incomplete');
    const { bins, rangeMin, rangeMax } = this.#options;
    const scan: Scan = {
      at: this.clock.now(),
      angleMin: -Math.PI,
      angleIncrement: (2 * Math.PI) / bins,
      rangeMin,
      rangeMax,
      ranges: revolution.ranges,
    };
    for (const listener of this.#scanListeners) listener(scan);
  }
}

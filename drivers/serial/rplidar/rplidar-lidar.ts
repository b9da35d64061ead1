/**
 * Driver of a Slamtec RPLIDAR A1 in its standard scan: one node of five bytes for each measurement, five to ten turns
 * a second. Its motor hangs on the DTR line of the maker's USB adapter. Protocol: docs/protocols/rplidar.md.
 */
import type { Scan } from '../../../config/contracts/amr.js';
import type { CancelTimer } from '../../../config/contracts/clock.js';
import { SerialDriverBase, type SerialDriverOptions } from '../driver-base.js';
import { CENTRED } from '../lidar-mount.js';
import type { LidarAbout, LidarDriver } from '../types.js';
import { ANSWER, type DeviceInfo, decodeHealth, decodeInfo, REQUEST } from './protocol.js';
import { RplidarParser } from './stream-parser.js';
import { type Turn, TurnCollector, type TurnOptions } from './turn.js';

export interface RplidarOptions extends SerialDriverOptions, Partial<TurnOptions> {}

/** Range as in the data sheet of the A1M8: 15 cm to 12 m. */
export const RPLIDAR_DEFAULTS: TurnOptions = {
  bins: 360,
  mount: CENTRED,
  rangeMin: 0.15,
  rangeMax: 12,
  minQuality: 1,
};

const SILENCE_MS = 700;
/** A stop is obeyed within a millisecond and a reset within two; an adapter's buffer takes longer to run dry. */
const AFTER_STOP_MS = 20;
const AFTER_RESET_MS = 1000;
/** Without an answer to a question for this long the next step is taken. */
const ANSWER_MS = 300;
/** Points of two turns would be mixed after a gap of this much, ms. */
const GAP_MS = 150;
/** Less of a turn than this is worth a count, though the scan is used. */
const COMPLETE = 0.98;
const MODELS: Readonly<Record<number, string>> = { 24: 'RPLIDAR A1' };

/** From opening to scanning; each waits for its answer, or for its time to be over. */
type Step = 'stopping' | 'info' | 'health' | 'starting' | 'scanning' | 'resetting';

export class RplidarLidar extends SerialDriverBase implements LidarDriver {
  readonly #options: TurnOptions;
  readonly #parser: RplidarParser;
  readonly #turns: TurnCollector;
  readonly #scanListeners: ((scan: Scan) => void)[] = [];
  #step: Step = 'stopping';
  #cancelStep: CancelTimer = () => {};
  #heardAt = 0;
  #info: DeviceInfo | null = null;
  #health: LidarAbout['health'] = null;

  constructor(options: RplidarOptions) {
    super(options, {
      name: 'lidar',
      silenceMs: SILENCE_MS,
      silencesBeforeReopen: 8,
      counters: [
        'scans',
        'scans_incomplete',
        'revolutions_dropped',
        'specks',
        'resets',
        'unanswered',
        'health_errors',
      ],
    });
    const { bins, mount, rangeMin, rangeMax, minQuality } = { ...RPLIDAR_DEFAULTS, ...options };
    this.#options = { bins, mount, rangeMin, rangeMax, minQuality };
    this.#turns = new TurnCollector(this.#options);
    this.#parser = new RplidarParser({
      onAnswer: (type, data) => this.#answered(type, data),
      onScanStart: () => this.#enter('scanning'),
      onNode: (bytes, at) => {
        const done = this.#turns.add(bytes, at);
        if (done !== null) this.#turned(done);
      },
    });
  }

  onScan(listener: (scan: Scan) => void): void {
    this.#scanListeners.push(listener);
  }

  about(): LidarAbout {
    return {
      chip: 'rplidar_a1',
      model:
        this.#info === null
          ? null
          : (MODELS[this.#info.model] ?? `RPLIDAR 0x${this.#info.model.toString(16)}`),
      hardwareVersion: this.#info?.hardware ?? null,
      firmwareVersion: this.#info?.firmware ?? null,
      health: this.#health,
    };
  }

  override counters(): Record<string, number> {
    const { nodes, broken, discarded, answers } = this.#parser.stats;
    return {
      ...super.counters(),
      nodes,
      answers,
      broken_nodes: broken,
      discarded_bytes: discarded,
    };
  }

  protected override onOpen(): void {
    this.#enter('stopping');
  }

  protected override onBytes(bytes: Uint8Array): void {
    const mono = this.clock.mono();
    if (mono - this.#heardAt > GAP_MS) this.#turns.reset();
    this.#heardAt = mono;
    const before = this.#parser.stats.nodes;
    this.#parser.push(bytes);
    if (this.#parser.stats.nodes !== before) this.heard();
  }

  /** It may have lost its power for a moment, and does not scan by itself: asked again, and at last reset. */
  protected override onSilent(nth: number): void {
    if (nth % 3 === 0) this.#enter('resetting');
    else if (this.#step === 'scanning') this.#enter('stopping');
  }

  protected override beforeStop(): void {
    this.send(REQUEST.stop);
    this.setDtr(true);
  }

  protected override onClosed(): void {
    this.#cancelStep();
    this.#parser.reset();
    this.#turns.reset();
  }

  #enter(step: Step): void {
    this.#cancelStep();
    this.#step = step;
    const after = (ms: number, then: () => void) => {
      this.#cancelStep = this.clock.after(ms, then);
    };
    // The wait begins first: on a line in memory the answer is there before the question has been handed over.
    const ask = (request: Uint8Array, next: Step) => {
      after(ANSWER_MS, () => {
        this.count('unanswered');
        this.#enter(next);
      });
      this.send(request);
    };
    switch (step) {
      case 'stopping':
        this.#forget();
        // Low turns the motor on: the adapter has it the other way round.
        this.setDtr(false);
        this.send(REQUEST.stop);
        after(AFTER_STOP_MS, () => this.#enter(this.#info === null ? 'info' : 'health'));
        break;
      case 'info':
        this.#forget();
        ask(REQUEST.info, 'health');
        break;
      case 'health':
        ask(REQUEST.health, 'starting');
        break;
      case 'starting':
        ask(REQUEST.scan, 'stopping');
        break;
      case 'resetting':
        this.count('resets');
        this.#forget();
        this.send(REQUEST.reset);
        after(AFTER_RESET_MS, () => this.#enter('info'));
        break;
      case 'scanning':
        this.#turns.reset();
    }
  }

  #forget(): void {
    this.#parser.reset();
    this.#turns.reset();
  }

  #answered(type: number, data: Uint8Array): void {
    if (type === ANSWER.info && this.#step === 'info') {
      this.#info = decodeInfo(data);
      this.#enter('health');
    } else if (type === ANSWER.health && this.#step === 'health') this.#judgeHealth(data);
  }

  /** A device that protects itself does not scan; a reset is what its maker advises. */
  #judgeHealth(data: Uint8Array): void {
    const health = decodeHealth(data);
    const before = this.#health;
    this.#health = health?.status ?? null;
    if (health?.status !== 'error') {
      this.#enter('starting');
      return;
    }
    this.count('health_errors');
    if (before !== 'error') {
      this.log('error', `${this.name}: its self-test reports error ${health.code}; it is reset`);
    }
    this.#enter('resetting');
  }

  #turned(turn: Turn): void {
    if (turn.kind === 'dropped') {
      this.count('revolutions_dropped');
      return;
    }
    this.count('scans');
    if (turn.specks > 0) this.count('specks', turn.specks);
    if (turn.coverage < COMPLETE) this.count('scans_incomplete');
    const { bins, rangeMin, rangeMax } = this.#options;
    const scan: Scan = {
      at: this.clock.now(),
      angleMin: -Math.PI,
      angleIncrement: (2 * Math.PI) / bins,
      rangeMin,
      rangeMax,
      ranges: turn.ranges,
    };
    for (const listener of this.#scanListeners) listener(scan);
  }
}

/**
 * Driver of a Winsen ZPHS01B air sensor: asks at a fixed period, believes nothing while the module warms up.
 * Protocol: docs/protocols/zphs01b.md.
 */
import type { CancelTimer } from '../../../config/contracts/clock.js';
import { SerialDriverBase, type SerialDriverOptions } from '../driver-base.js';
import type { AirReading, AirSensorDriver } from '../types.js';
import { AnswerParser, QUERY, type Zphs01bAnswer } from './answer.js';
import { implausible, toReading } from './reading.js';

export interface Zphs01bOptions extends SerialDriverOptions {
  /** How often the module is asked, ms. */
  pollMs?: number;
  /** An answer that takes longer is missing, ms. */
  timeoutMs?: number;
  /**
   * How long the module is not believed after it was powered, ms; the manual asks for three minutes. When it was
   * powered is not known, so it counts from the first answer on a fresh port and after a long silence.
   */
  warmUpMs?: number;
  /** In tenths of a degree; depends on the edition of the module, see `answer.ts`. */
  temperatureOffset?: number;
}

/** A module that was silent for so long may have lost its power, ms. */
const COLD_AFTER_MS = 10_000;

export class Zphs01bSensor extends SerialDriverBase implements AirSensorDriver {
  readonly #pollMs: number;
  readonly #timeoutMs: number;
  readonly #warmUpMs: number;
  readonly #parser: AnswerParser;
  readonly #listeners: ((reading: AirReading) => void)[] = [];
  #cancelPoll: CancelTimer = () => {};
  #cancelTimeout: CancelTimer = () => {};
  /** `mono` times; null before the first answer. */
  #warmSince: number | null = null;
  #answeredAt: number | null = null;

  constructor(options: Zphs01bOptions) {
    const pollMs = options.pollMs ?? 1000;
    super(options, {
      name: 'air',
      silenceMs: Math.max(5000, 3 * pollMs),
      silencesBeforeReopen: 6,
      counters: [
        'queries',
        'answers',
        'timeouts',
        'checksum_errors',
        'discarded_bytes',
        'implausible_values',
      ],
    });
    this.#pollMs = pollMs;
    this.#timeoutMs = Math.min(options.timeoutMs ?? 500, pollMs);
    this.#warmUpMs = options.warmUpMs ?? 180_000;
    this.#parser = new AnswerParser(options.temperatureOffset);
  }

  onReading(listener: (reading: AirReading) => void): void {
    this.#listeners.push(listener);
  }

  protected override onOpen(): void {
    this.#warmSince = null;
    this.#ask();
    this.#cancelPoll = this.clock.every(this.#pollMs, () => this.#ask());
  }

  protected override onBytes(bytes: Uint8Array): void {
    for (const item of this.#parser.push(bytes)) {
      if (item.kind === 'answer') this.#take(item.answer);
      else if (item.kind === 'discarded') this.count('discarded_bytes', item.bytes);
      else this.count('checksum_errors');
    }
  }

  protected override onClosed(): void {
    this.#cancelPoll();
    this.#cancelTimeout();
    this.#parser.reset();
  }

  #ask(): void {
    this.#cancelTimeout();
    if (!this.send(QUERY)) return;
    this.count('queries');
    this.#cancelTimeout = this.clock.after(this.#timeoutMs, () => this.count('timeouts'));
  }

  #take(answer: Zphs01bAnswer): void {
    this.#cancelTimeout();
    this.count('answers');
    const mono = this.clock.mono();
    const gap = this.#answeredAt === null ? 0 : mono - this.#answeredAt;
    this.#answeredAt = mono;
    if (this.#warmSince === null || gap > COLD_AFTER_MS) this.#warmSince = mono;
    const warmingUp = mono - this.#warmSince < this.#warmUpMs;
    const reading = toReading(answer, this.clock.now(), warmingUp);
    this.count('implausible_values', implausible(reading));
    this.heard();
    for (const listener of this.#listeners) listener(reading);
  }
}

/**
 * Driver of a fan with a Modbus RTU interface. What stands in which register differs from maker to maker and is
 * configuration. Protocol: docs/protocols/modbus-fan.md.
 */
import type { CancelTimer } from '../../../config/contracts/clock.js';
import { TaskFailure } from '../../../config/contracts/errors.js';
import { FenceGate } from '../../fence-gate.js';
import { SerialDriverBase, type SerialDriverOptions } from '../driver-base.js';
import type { FanDriver, FanReading } from '../types.js';
import { readRequest, writeMultipleRequest, writeSingleRequest } from './rtu.js';
import { RtuClient, RtuError } from './rtu-client.js';

/** Register addresses are those on the wire, from 0. */
export interface FanRegisters {
  /** Holding register of the set-point, and its raw value at 100 %. */
  setPoint: number;
  setPointFull: number;
  /** Input register of the speed, and revolutions per minute for one count. */
  rpm: number;
  rpmPerCount: number;
  /** Input register that is not 0 while the fan reports a fault; null when there is none. */
  fault: number | null;
}

export interface ModbusFanOptions extends SerialDriverOptions {
  registers: FanRegisters;
  /** 1…247. */
  unitId: number;
  /** Of the line; sets the pause between frames. */
  baudRate?: number;
  /** Some fans take only function 16. */
  writeWith?: 'single' | 'multiple';
  /** How often speed and set-point are read, ms. */
  pollMs?: number;
  /** How often the set-point is written again while the fan runs, ms: some fans stop without it. */
  keepAliveMs?: number;
  /** How long one answer may take, ms, and how often a request is repeated. */
  timeoutMs?: number;
  retries?: number;
}

export class ModbusFan extends SerialDriverBase implements FanDriver {
  readonly #registers: FanRegisters;
  readonly #unitId: number;
  readonly #writeWith: 'single' | 'multiple';
  readonly #pollMs: number;
  readonly #keepAliveMs: number;
  readonly #fences = new FenceGate('fan');
  readonly #client: RtuClient;
  readonly #listeners: ((reading: FanReading) => void)[] = [];
  #cancelPoll: CancelTimer = () => {};
  #polling = false;
  /** Raw set-point the fan should have; null until somebody asked for one. */
  #wanted: number | null = null;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #writing = 0;

  constructor(options: ModbusFanOptions) {
    const pollMs = options.pollMs ?? 1000;
    super(options, {
      name: 'fan',
      silenceMs: Math.max(5000, 4 * pollMs),
      silencesBeforeReopen: 6,
      counters: [
        'requests',
        'timeout_errors',
        'crc_errors',
        'mismatch_errors',
        'exception_errors',
        'queue_full_errors',
        'poll_failures',
        'keep_alives',
        'set_point_lost',
        'stale_fences',
      ],
    });
    this.#registers = options.registers;
    this.#unitId = options.unitId;
    this.#writeWith = options.writeWith ?? 'single';
    this.#pollMs = pollMs;
    this.#keepAliveMs = options.keepAliveMs ?? 5000;
    this.#client = new RtuClient({
      clock: options.clock,
      send: (bytes) => this.send(bytes),
      onFault: (fault) => this.count(`${fault}_errors`),
      timeoutMs: options.timeoutMs ?? 300,
      retries: options.retries ?? 2,
      baudRate: options.baudRate ?? 19_200,
    });
  }

  onReading(listener: (reading: FanReading) => void): void {
    this.#listeners.push(listener);
  }

  /**
   * What was asked for last stands: it is written again after the fan lost it or was away. When it cannot be
   * delivered the call fails, and what stands is "off": the fan must not start later by itself.
   */
  async setSpeed(percent: number, fence?: number): Promise<void> {
    if (!(percent >= 0 && percent <= 100))
      throw new TaskFailure('INVALID_PARAMS', `fan speed: found ${percent}; allowed: 0…100 percent`);
    if (percent > 0) this.#admit(fence);
    const raw = Math.round((percent / 100) * this.#registers.setPointFull);
    this.#wanted = raw;
    try {
      await this.#write(raw);
    } catch (error) {
      if (this.#wanted === raw) this.#wanted = 0;
      throw asFailure(error);
    }
  }

  #admit(fence: number | undefined): void {
    try {
      this.#fences.admit(fence);
    } catch (error) {
      this.count('stale_fences');
      throw error;
    }
  }

  async read(): Promise<FanReading> {
    try {
      return await this.#read();
    } catch (error) {
      throw asFailure(error);
    }
  }

  protected override onOpen(): void {
    void this.#poll();
    this.#cancelPoll = this.clock.every(this.#pollMs, () => void this.#poll());
  }

  protected override onBytes(bytes: Uint8Array): void {
    this.#client.receive(bytes);
  }

  protected override onClosed(): void {
    this.#cancelPoll();
    this.#client.closed();
  }

  /** Reads the fan, and sees to it that its set-point is the one asked for. */
  async #poll(): Promise<void> {
    if (this.#polling) return;
    this.#polling = true;
    const asked = this.clock.mono();
    try {
      await this.#tend(await this.#read(), asked);
    } catch (error) {
      if (!(error instanceof RtuError)) throw error;
      this.count('poll_failures');
    } finally {
      this.#polling = false;
    }
  }

  /** `asked`: when the reading was asked for; one from before a write says nothing about it. */
  async #tend(reading: FanReading, asked: number): Promise<void> {
    const wanted = this.#wanted;
    if (wanted === null || this.#writing > 0 || this.#writtenAt >= asked) return;
    const found = Math.round((reading.setPointPercent / 100) * this.#registers.setPointFull);
    const lost = found !== wanted;
    // The next poll would be too late.
    const due = wanted > 0 && this.clock.mono() + this.#pollMs - this.#writtenAt > this.#keepAliveMs;
    if (!lost && !due) return;
    this.count(lost ? 'set_point_lost' : 'keep_alives');
    if (lost) this.log('warn', `${this.name}: set-point is ${found}, not ${wanted}; writing it again`);
    await this.#write(wanted);
  }

  async #read(): Promise<FanReading> {
    const { setPoint, setPointFull, rpm, rpmPerCount, fault } = this.#registers;
    const raw = await this.#readOne('readHolding', setPoint, 'fan set-point');
    const speed = await this.#readOne('readInput', rpm, 'fan speed');
    const faults = fault === null ? 0 : await this.#readOne('readInput', fault, 'fan fault');
    const reading: FanReading = {
      at: this.clock.now(),
      rpm: speed * rpmPerCount,
      setPointPercent: (raw / setPointFull) * 100,
      fault: faults !== 0,
    };
    for (const listener of this.#listeners) listener(reading);
    return reading;
  }

  async #readOne(kind: 'readHolding' | 'readInput', address: number, what: string): Promise<number> {
    const [value] = await this.#request(readRequest(this.#unitId, kind, address, 1), what);
    if (value === undefined) throw new RtuError('mismatch', `${what}: empty answer`);
    return value;
  }

  async #write(raw: number): Promise<void> {
    const address = this.#registers.setPoint;
    const request =
      this.#writeWith === 'single'
        ? writeSingleRequest(this.#unitId, address, raw)
        : writeMultipleRequest(this.#unitId, address, [raw]);
    this.#writing += 1;
    try {
      await this.#request(request, 'fan set-point');
      this.#writtenAt = this.clock.mono();
    } finally {
      this.#writing -= 1;
    }
  }

  async #request(request: Uint8Array, what: string): Promise<number[]> {
    this.count('requests');
    const registers = await this.#client.request(request, what);
    this.heard();
    return registers;
  }
}

function asFailure(error: unknown): unknown {
  return error instanceof RtuError ? new TaskFailure('HARDWARE_FAULT', error.message) : error;
}

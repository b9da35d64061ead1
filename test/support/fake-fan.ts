/** A fan that needs time to spin up and down, can be blocked, unplugged, and reports its speed every second. */
import type { Clock } from '../../config/contracts/clock.js';
import { TaskFailure } from '../../config/contracts/errors.js';
import type { FanDriver, FanReading } from '../../drivers/serial/types.js';

const FULL_RPM = 2400;
const STEP_MS = 250;

export class FakeFan implements FanDriver {
  connected = true;
  readonly opening = false;
  blocked = false;
  fault = false;
  /** Keeps turning whatever it is told. */
  runaway = false;
  rpm = 0;
  percent = 0;
  readonly log: number[] = [];
  readonly #clock: Clock;
  readonly #listeners: ((reading: FanReading) => void)[] = [];
  #ticks = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    clock.every(STEP_MS, () => this.#step());
  }

  start(): void {}
  async stop(): Promise<void> {}
  onLink(): void {}
  counters() {
    return {};
  }
  portCounts() {
    return { rx: 0, tx: 0, opens: 1 };
  }
  onReading(listener: (reading: FanReading) => void): void {
    this.#listeners.push(listener);
  }
  async setSpeed(percent: number): Promise<void> {
    if (!this.connected) throw new TaskFailure('HARDWARE_FAULT', 'the fan does not answer');
    this.log.push(percent);
    this.percent = percent;
  }
  async read(): Promise<FanReading> {
    if (!this.connected) throw new TaskFailure('HARDWARE_FAULT', 'the fan does not answer');
    return this.#reading();
  }

  #step(): void {
    const target = this.blocked ? 0 : this.runaway ? this.rpm : (FULL_RPM * this.percent) / 100;
    const step = (FULL_RPM * STEP_MS) / 1000 / 3;
    if (this.rpm < target) this.rpm = Math.min(target, this.rpm + step);
    else this.rpm = Math.max(target, this.rpm - step);
    this.#ticks++;
    if (this.#ticks % 4 !== 0 || !this.connected) return;
    for (const listener of [...this.#listeners]) listener(this.#reading());
  }

  #reading(): FanReading {
    return {
      at: this.#clock.now(),
      rpm: Math.round(this.rpm),
      setPointPercent: this.percent,
      fault: this.fault,
    };
  }
}

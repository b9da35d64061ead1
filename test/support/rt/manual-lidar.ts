/** A lidar driver that delivers a scan of an empty room ten times a second, until it is told not to. */
import type { Scan } from '../../../config/contracts/amr.js';
import type { CancelTimer, Clock } from '../../../config/contracts/clock.js';
import type { LidarAbout, LidarDriver, LinkChange } from '../../../drivers/serial/types.js';

const BEAMS = 360;

export class ManualLidar implements LidarDriver {
  delivering = true;
  readonly opening = false;
  /** Metres, for all beams; a test may put obstacles into it. */
  readonly ranges: number[] = new Array<number>(BEAMS).fill(5);
  readonly #clock: Clock;
  readonly #scanListeners: ((scan: Scan) => void)[] = [];
  #cancel: CancelTimer = () => {};
  #scans = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(): void {
    this.#cancel = this.#clock.every(100, () => {
      if (this.delivering) this.deliver();
    });
  }

  async stop(): Promise<void> {
    this.#cancel();
  }

  get connected(): boolean {
    return this.delivering;
  }

  onLink(_listener: (change: LinkChange) => void): void {}

  about(): LidarAbout {
    return { chip: 'ld19', model: null, hardwareVersion: null, firmwareVersion: null, health: null };
  }

  hold(): void {}

  fetch(): void {}

  onScan(listener: (scan: Scan) => void): void {
    this.#scanListeners.push(listener);
  }

  deliver(): void {
    this.#scans += 1;
    const scan: Scan = {
      at: this.#clock.now(),
      angleMin: -Math.PI,
      angleIncrement: (2 * Math.PI) / BEAMS,
      rangeMin: 0.02,
      rangeMax: 12,
      ranges: [...this.ranges],
    };
    for (const listener of this.#scanListeners) listener(scan);
  }

  counters(): Record<string, number> {
    return { scans: this.#scans };
  }

  portCounts() {
    return { rx: 0, tx: 0, opens: 1 };
  }
}

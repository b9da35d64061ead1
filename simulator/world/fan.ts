/** The purifier's fan: turns towards its set-point with the lag of its rotor. */

/** Time constants, s: driven up, braked down. */
const SPIN_UP = 1.2;
const SPIN_DOWN = 0.7;
/** Below this it stands, rpm. */
const STANDSTILL = 15;

export class Fan {
  /** 0…100 */
  setPointPercent = 0;
  rpm = 0;
  /** Something holds the rotor; it reports a fault. */
  blocked = false;

  constructor(readonly maxRpm: number) {}

  /** Speed as a share of the fastest. */
  get share(): number {
    return this.rpm / this.maxRpm;
  }

  step(dtMs: number): void {
    const target = this.blocked ? 0 : (this.maxRpm * this.setPointPercent) / 100;
    const time = target > this.rpm ? SPIN_UP : SPIN_DOWN;
    this.rpm += (target - this.rpm) * (1 - Math.exp(-dtMs / 1000 / time));
    if (target === 0 && this.rpm < STANDSTILL) this.rpm = 0;
  }
}

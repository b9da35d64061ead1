/** The base's battery: a Create 2 pack of four lithium cells, drained by motion, fan and electronics. */

/** mAh */
export const CAPACITY = 2696;
/** mA: electronics with computer and sensors; wheels at full speed; fan at full speed; charger. */
const IDLE = 350;
const WHEELS = 900;
const FAN = 1600;
const CHARGER = 1250;
/** Above this charge the charger only trickles, %. */
const FULL = 99.5;
const TRICKLE = 60;

export class Battery {
  /** mAh */
  charge = CAPACITY;
  charging = false;
  /** mA, negative while discharging. */
  current = -IDLE;
  /** How many times faster than a new one it runs empty. */
  wear = 1;

  get percent(): number {
    return (this.charge / CAPACITY) * 100;
  }

  /** mV: 12 V empty, 16.4 V full, a little more while charging. */
  get voltage(): number {
    return Math.round(12_000 + 44 * this.percent + (this.charging ? 300 : 0));
  }

  get empty(): boolean {
    return this.charge <= 0;
  }

  set(percent: number): void {
    this.charge = (CAPACITY * percent) / 100;
  }

  /** `wheels`, `fan`: shares of their full speed. `charger`: the base takes what the contacts offer. */
  step(dtMs: number, load: { wheels: number; fan: number; charger: boolean }): void {
    this.charging = load.charger;
    const drain = IDLE + WHEELS * load.wheels + FAN * load.fan;
    if (!load.charger) this.current = -drain;
    else this.current = this.percent >= FULL ? TRICKLE : CHARGER;
    this.charge = Math.min(
      CAPACITY,
      Math.max(0, this.charge + (this.current * (load.charger ? 1 : this.wear) * dtMs) / 3_600_000),
    );
  }
}

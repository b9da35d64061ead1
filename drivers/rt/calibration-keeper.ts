/** The calibration in force: put into the drivers, and written down before it counts as set. */
import type { Calibration, HardwareReport } from '../../config/contracts/amr.js';
import { Refusal } from '../../config/contracts/errors.js';
import type { BaseDriver, LidarDriver } from '../serial/types.js';
import type { Calibrated } from './calibrated.js';
import type { Calibrations } from './calibration-file.js';

export interface CalibrationStore {
  /** As read at the start. */
  initial: Calibrations;
  save(calibrations: Calibrations): Promise<void>;
}

export class CalibrationKeeper {
  readonly #parts: readonly Calibrated[];
  readonly #store: CalibrationStore;
  #kept: Calibrations;
  #saving = 0;

  constructor(parts: readonly Calibrated[], store: CalibrationStore) {
    this.#parts = parts;
    this.#store = store;
    this.#kept = store.initial;
    this.#apply(store.initial.calibration);
  }

  /** In force, and before that. */
  get kept(): Calibrations {
    return this.#kept;
  }

  /** Writes under way, for the lock-step barrier. */
  get busy(): number {
    return this.#saving;
  }

  /** In force at once, so that nothing is measured with another; taken back when it cannot be written. */
  async set(calibration: Calibration | null): Promise<void> {
    const before = this.#kept;
    this.#kept = { calibration, previous: before.calibration };
    this.#apply(calibration);
    this.#saving += 1;
    try {
      await this.#store.save(this.#kept);
    } catch (error) {
      this.#kept = before;
      this.#apply(before.calibration);
      const why = error instanceof Error ? error.message : String(error);
      throw new Refusal('HARDWARE_FAULT', `the calibration could not be written down: ${why}`);
    } finally {
      this.#saving -= 1;
    }
  }

  #apply(calibration: Calibration | null): void {
    for (const part of this.#parts) part.set(calibration);
  }
}

/** What the chips say of themselves now. */
export function hardwareReport(
  base: BaseDriver,
  lidar: LidarDriver | null,
  { calibration, previous }: Calibrations,
  lines: HardwareReport['lines'],
): HardwareReport {
  const { chip, hardwareVersion, firmwareVersion } = base.about();
  const { temperature, cliffSignals } = base.details();
  return {
    base: { chip, hardwareVersion, firmwareVersion, temperature, cliffSignals },
    lidar: lidar === null ? null : lidar.about(),
    calibration,
    previousCalibration: previous,
    lines,
  };
}

/** Driver of an LDROBOT LD19 or LD06 lidar. */
import type { Scan } from '../../../config/contracts/amr.js';
import { SerialDriverBase, type SerialDriverOptions } from '../driver-base.js';
import type { LidarDriver } from '../types.js';

export interface Ld19Options extends SerialDriverOptions {
  /** Angle of the device's zero in `base_link`, rad, counter-clockwise. */
  mountYaw?: number;
  /** Bins of a full turn. */
  bins?: number;
  /** Shortest and longest range that is believed, m. */
  rangeMin?: number;
  rangeMax?: number;
  /** Points weaker than this are taken as no return, 0…255. */
  minIntensity?: number;
}

export declare class Ld19Lidar extends SerialDriverBase implements LidarDriver {
  constructor(options: Ld19Options);
  onScan(listener: (scan: Scan) => void): void;
  protected override onOpen(): void;
  protected override onBytes(bytes: Uint8Array): void;
  protected override onClosed(): void;
}

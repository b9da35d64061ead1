/** Driver of an iRobot Create 2 (Roomba 600) over its Open Interface. */

import { SerialDriverBase, type SerialDriverOptions } from '../driver-base.js';
import type { BaseDriver, BaseFrame } from '../types.js';

export interface Create2Geometry {
  /** Wheel diameter, m. */
  wheelDiameter: number;
  countsPerRev: number;
  /** Fastest a wheel may turn, m/s; the base itself stops at 0.5. */
  maxWheelSpeed: number;
}

export interface Create2Options extends SerialDriverOptions {
  geometry?: Partial<Create2Geometry>;
  /** In `safe` the base itself stops at cliffs and wheel drops; `full` leaves that to the host. */
  mode?: 'safe' | 'full';
}

export declare class Create2Base extends SerialDriverBase implements BaseDriver {
  constructor(options: Create2Options);
  onFrame(listener: (frame: BaseFrame) => void): void;
  driveWheels(left: number, right: number): boolean;
  stopNow(): boolean;
  disable(): void;
  enable(): void;
  protected override onOpen(): void;
  protected override onBytes(bytes: Uint8Array): void;
  protected override onClosed(): void;
}

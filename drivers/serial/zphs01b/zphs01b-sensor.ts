/** Driver of a Winsen ZPHS01B air sensor. */
import { SerialDriverBase, type SerialDriverOptions } from '../driver-base.js';
import type { AirReading, AirSensorDriver } from '../types.js';

export interface Zphs01bOptions extends SerialDriverOptions {
  /** How often the module is asked, ms. */
  pollMs?: number;
  /** Readings are not believed for this long after the module was powered, as far as that is known, ms. */
  warmUpMs?: number;
}

export declare class Zphs01bSensor extends SerialDriverBase implements AirSensorDriver {
  constructor(options: Zphs01bOptions);
  onReading(listener: (reading: AirReading) => void): void;
  protected override onOpen(): void;
  protected override onBytes(bytes: Uint8Array): void;
  protected override onClosed(): void;
}

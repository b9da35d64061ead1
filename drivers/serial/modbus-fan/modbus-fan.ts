/** Driver of a fan with a Modbus RTU interface, whatever its register map. */
import { SerialDriverBase, type SerialDriverOptions } from '../driver-base.js';
import type { FanDriver, FanReading } from '../types.js';

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
  /** How often speed and set-point are read, ms. */
  pollMs?: number;
  /** How often the set-point is written again while the fan runs, ms: some fans stop without it. */
  keepAliveMs?: number;
}

export declare class ModbusFan extends SerialDriverBase implements FanDriver {
  constructor(options: ModbusFanOptions);
  onReading(listener: (reading: FanReading) => void): void;
  setSpeed(percent: number): Promise<void>;
  read(): Promise<FanReading>;
  protected override onOpen(): void;
  protected override onBytes(bytes: Uint8Array): void;
  protected override onClosed(): void;
}

/** The drivers of base and lidar that a profile names. */
import type { Clock } from '../../config/contracts/clock.js';
import { errorText } from '../../config/contracts/errors.js';
import type { OpenPort } from '../../config/contracts/port.js';
import type { BaseConfig, LidarConfig, PortConfig } from '../../config/schema.js';
import { Create2Base } from '../serial/create2/create2-base.js';
import type { DriverLog, SerialDriverOptions } from '../serial/driver-base.js';
import { KobukiBase } from '../serial/kobuki/kobuki-base.js';
import { Ld19Lidar } from '../serial/ld19/ld19-lidar.js';
import { CaptureFile, capturing } from '../serial/ports/capture-port.js';
import { RplidarLidar } from '../serial/rplidar/rplidar-lidar.js';
import type { BaseDriver, LidarDriver } from '../serial/types.js';

export interface DriverParts {
  clock: Clock;
  random: () => number;
  log: DriverLog;
  openPort: (name: 'base' | 'lidar', port: PortConfig) => OpenPort;
  /** Where what comes in is written down; absent: nowhere. */
  capture?: string | null;
}

const CAPTURE_BYTES = 64 * 1024 * 1024;

export function createBase(base: BaseConfig, parts: DriverParts): BaseDriver {
  const options = {
    ...common('base', base.port, parts),
    geometry: {
      wheelDiameter: base.wheel_diameter,
      countsPerRev: base.counts_per_rev,
      maxWheelSpeed: base.max_wheel_speed,
    },
  };
  switch (base.driver) {
    case 'create2':
      return new Create2Base(options);
    case 'kobuki':
      return new KobukiBase(options);
  }
}

export function createLidar(lidar: LidarConfig, parts: DriverParts): LidarDriver {
  const { x, y, yaw, inverted, masks } = lidar;
  const options = { ...common('lidar', lidar.port, parts), mount: { x, y, yaw, inverted, masks } };
  switch (lidar.driver) {
    case 'ld19':
      return new Ld19Lidar(options);
    case 'rplidar_a1':
      return new RplidarLidar(options);
  }
}

function common(name: 'base' | 'lidar', port: PortConfig, parts: DriverParts): SerialDriverOptions {
  const { clock, random, log, openPort } = parts;
  const open = openPort(name, port);
  const { capture = null } = parts;
  if (capture === null) return { open, clock, random, name, log };
  const file = new CaptureFile({
    folder: capture,
    name,
    maxBytes: CAPTURE_BYTES,
    onError: (error) => log('error', `${name}: its bytes are not written down: ${errorText(error)}`),
  });
  return { open: capturing(open, file), clock, random, name, log };
}

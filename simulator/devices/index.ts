/** The devices of the simulated robot, each behind its serial line, attached to a world. */
import type { Device, DeviceEnd, DeviceName } from '../types.js';
import { DEVICE_NAMES } from '../types.js';
import type { World } from '../world/world.js';
import { Create2Device, type Create2Options } from './create2.js';
import { Ld19Device } from './ld19.js';
import { DEFAULT_FAN_OPTIONS, ModbusFanDevice, type ModbusFanOptions } from './modbus-fan.js';
import { Zphs01bDevice } from './zphs01b.js';

/** Silence after which a base with a watchdog stops its wheels, ms. */
const WATCHDOG_MS = 500;

export interface DevicesOptions {
  /** The device's end of each line. */
  ports: Readonly<Record<DeviceName, DeviceEnd>>;
  /** Whether the base's firmware stops the wheels when nobody speaks to it. A real Create 2's does not. */
  baseWatchdog?: boolean;
  base?: Create2Options;
  fan?: Partial<ModbusFanOptions>;
}

export interface Devices {
  base: Create2Device;
  lidar: Ld19Device;
  air: Zphs01bDevice;
  fan: ModbusFanDevice;
  byName: Readonly<Record<DeviceName, Device>>;
  /** Takes the devices out of the world and closes their lines. */
  close(): void;
}

/** Builds all four devices; from then on they take part in every `world.step`. */
export function createDevices(world: World, options: DevicesOptions): Devices {
  const { ports } = options;
  const base = new Create2Device(world, ports.base, {
    watchdogMs: options.baseWatchdog === true ? WATCHDOG_MS : null,
    ...options.base,
  });
  const lidar = new Ld19Device(world, ports.lidar);
  const air = new Zphs01bDevice(world, ports.air);
  const fan = new ModbusFanDevice(world, ports.fan, { ...DEFAULT_FAN_OPTIONS, ...options.fan });
  const all = { base, lidar, air, fan };
  const detach = DEVICE_NAMES.map((name) => world.attach(all[name]));
  return {
    ...all,
    byName: all,
    close: () => {
      for (const remove of detach) remove();
      for (const name of DEVICE_NAMES) all[name].end.close();
    },
  };
}

export type { Create2Device, Create2Options } from './create2.js';
export type { Behaviour } from './line.js';
export { DEFAULT_FAN_OPTIONS, type FanRegisterMap, type ModbusFanOptions } from './modbus-fan.js';

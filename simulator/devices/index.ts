/** The devices of the simulated robot, each behind its serial line, attached to a world. */
import type { Device, DeviceEnd, DeviceName } from '../types.js';
import { DEVICE_NAMES } from '../types.js';
import { ROBOT } from '../world/layout.js';
import type { World } from '../world/world.js';
import type { BaseDevice } from './base-device.js';
import { Create2Device, type Create2Options } from './create2.js';
import { KOBUKI_WHEEL_BASE, KobukiDevice } from './kobuki.js';
import { Ld19Device } from './ld19.js';
import type { LineDevice } from './line-device.js';
import { DEFAULT_FAN_OPTIONS, ModbusFanDevice, type ModbusFanOptions } from './modbus-fan.js';
import { RplidarDevice } from './rplidar.js';
import { Zphs01bDevice } from './zphs01b.js';

export const BASE_CHIPS = ['create2', 'kobuki'] as const;
export type BaseChip = (typeof BASE_CHIPS)[number];
export const LIDAR_CHIPS = ['ld19', 'rplidar_a1'] as const;
export type LidarChip = (typeof LIDAR_CHIPS)[number];

/** Silence after which a base with a watchdog stops its wheels, ms. */
const WATCHDOG_MS = 500;

/** Distance of the wheels of a robot on this base, m. */
export function wheelBaseOf(chip: BaseChip): number {
  return chip === 'kobuki' ? KOBUKI_WHEEL_BASE : ROBOT.wheelBase;
}

interface DeviceMakers<B extends BaseDevice = BaseDevice, L extends LineDevice = LineDevice> {
  /** The device's end of each line. */
  ports: Readonly<Record<DeviceName, DeviceEnd>>;
  fan?: Partial<ModbusFanOptions>;
  makeBase: (world: World, end: DeviceEnd) => B;
  makeLidar: (world: World, end: DeviceEnd) => L;
}

export interface Devices<B extends BaseDevice = BaseDevice, L extends LineDevice = LineDevice> {
  base: B;
  lidar: L;
  air: Zphs01bDevice;
  fan: ModbusFanDevice;
  byName: Readonly<Record<DeviceName, Device>>;
  /** Takes the devices out of the world and closes their lines. */
  close(): void;
}

export interface DevicesOptions extends Pick<DeviceMakers, 'ports' | 'fan'> {
  /** Whether the base's firmware stops the wheels when nobody speaks to it. A real Create 2's does not. */
  baseWatchdog?: boolean;
  base?: Create2Options;
}

/** The four devices of the reference robot; from then on they take part in every `world.step`. */
export function createDevices(world: World, options: DevicesOptions): Devices<Create2Device, Ld19Device> {
  const { baseWatchdog, base, ...rest } = options;
  return buildDevices(world, {
    ...rest,
    makeBase: (w, end) => new Create2Device(w, end, { watchdogMs: watchdog(baseWatchdog), ...base }),
    makeLidar: (w, end) => new Ld19Device(w, end),
  });
}

/** The four devices of a robot with this base and this lidar. */
export function createDevicesOf(
  world: World,
  chips: { base: BaseChip; lidar: LidarChip },
  options: DevicesOptions,
): Devices {
  const { baseWatchdog, base, ...rest } = options;
  const watchdogMs = watchdog(baseWatchdog);
  return buildDevices<BaseDevice, LineDevice>(world, {
    ...rest,
    makeBase: (w, end) =>
      chips.base === 'kobuki'
        ? new KobukiDevice(w, end, { watchdogMs })
        : new Create2Device(w, end, { watchdogMs, ...base }),
    makeLidar: (w, end) =>
      chips.lidar === 'rplidar_a1' ? new RplidarDevice(w, end) : new Ld19Device(w, end),
  });
}

function watchdog(on: boolean | undefined): number | null {
  return on === true ? WATCHDOG_MS : null;
}

function buildDevices<B extends BaseDevice, L extends LineDevice>(
  world: World,
  options: DeviceMakers<B, L>,
): Devices<B, L> {
  const { ports } = options;
  const base = options.makeBase(world, ports.base);
  const lidar = options.makeLidar(world, ports.lidar);
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

/** The devices whose ports belong to the daemon: air sensor and fan. */
import type { Clock } from '../../config/contracts/clock.js';
import { prefixed } from '../../config/contracts/counters.js';
import type { Log } from '../../config/contracts/log.js';
import type { PortCounts } from '../../config/contracts/port.js';
import type { Config } from '../../config/schema.js';
import type { DriverLog } from '../../drivers/serial/driver-base.js';
import { ModbusFan } from '../../drivers/serial/modbus-fan/modbus-fan.js';
import { type MemoryPorts, openerOf } from '../../drivers/serial/ports/open-port.js';
import type { AirSensorDriver, FanDriver, SerialDriver } from '../../drivers/serial/types.js';
import { Zphs01bSensor } from '../../drivers/serial/zphs01b/zphs01b-sensor.js';

export interface Peripherals {
  airSensor: AirSensorDriver | null;
  fan: FanDriver | null;
  start(): void;
  stop(): Promise<void>;
  /** Ports being opened, for a lock-step simulation. */
  busy(): number;
  portCounts(): Record<string, PortCounts>;
  counters(): Record<string, number>;
}

export interface PeripheralDeps {
  config: Config;
  clock: Clock;
  random: () => number;
  log: Log;
  memory: MemoryPorts | null;
}

export function createPeripherals(deps: PeripheralDeps): Peripherals {
  const { config } = deps;
  const airSensor = config.air_sensor === null ? null : createAirSensor(deps, config.air_sensor);
  const fan = config.fan === null ? null : createFan(deps, config.fan);
  const drivers: [string, SerialDriver][] = [];
  if (airSensor !== null) drivers.push(['air', airSensor]);
  if (fan !== null) drivers.push(['fan', fan]);
  return {
    airSensor,
    fan,
    start: () => {
      for (const [, driver] of drivers) driver.start();
    },
    stop: async () => {
      await Promise.all(drivers.map(([, driver]) => driver.stop()));
    },
    busy: () => drivers.filter(([, driver]) => driver.opening).length,
    portCounts: () => Object.fromEntries(drivers.map(([name, driver]) => [name, driver.portCounts()])),
    counters: () => Object.assign({}, ...drivers.map(([name, driver]) => prefixed(name, driver.counters()))),
  };
}

function createAirSensor(deps: PeripheralDeps, air: NonNullable<Config['air_sensor']>): AirSensorDriver {
  return new Zphs01bSensor({
    ...common(deps, 'air sensor'),
    open: openerOf(air.port, deps.clock, deps.memory),
    pollMs: air.poll_ms,
    warmUpMs: air.warm_up_ms,
    temperatureOffset: air.temperature_offset,
  });
}

function createFan(deps: PeripheralDeps, fan: NonNullable<Config['fan']>): FanDriver {
  const { registers } = fan;
  return new ModbusFan({
    ...common(deps, 'fan'),
    open: openerOf(fan.port, deps.clock, deps.memory),
    unitId: fan.unit_id,
    ...(fan.port.kind === 'serial' ? { baudRate: fan.port.baud_rate } : {}),
    registers: {
      setPoint: registers.set_point,
      setPointFull: registers.set_point_full,
      rpm: registers.rpm,
      rpmPerCount: registers.rpm_per_count,
      fault: registers.fault,
    },
  });
}

function common(deps: PeripheralDeps, name: string) {
  return { clock: deps.clock, random: deps.random, name, log: driverLog(deps.log) };
}

/** Drivers log with the level first. */
function driverLog(log: Log): DriverLog {
  return (level, message, data) => log[level](data ?? {}, message);
}

/** The state machines, with the effects they are given: drivers, timers and snapshots of the store, domain events. */
import type { Clock } from '../../config/contracts/clock.js';
import type { Ids } from '../../config/contracts/ids.js';
import type { Log } from '../../config/contracts/log.js';
import { createMachines, type Machines } from '../../state-machines/machines.js';
import { DEFAULT_MACHINE_SETTINGS, type MachineSettings } from '../../state-machines/settings.js';
import type { TimerEvent } from '../../state-machines/types.js';
import { Snapshots } from '../store/small-tables.js';
import type { Robot } from './robot.js';
import type { Storage } from './storage.js';

/** The kind under which the store keeps the timers of machines. */
const TIMER_KIND = 'machine';

export function createRobotMachines(
  { clock, log }: { clock: Clock; log: Log },
  ids: Ids,
  robot: Robot,
  { store, timers }: Storage,
): Machines {
  const { body, peripherals, map, bus, state } = robot;
  const machines = createMachines({
    clock,
    log,
    amr: body.amr,
    fan: peripherals.fan,
    air: state.airSource,
    timers: {
      set: (key, atMs, event) => timers.set(TIMER_KIND, key, atMs, event),
      cancel: (key) => timers.cancel(TIMER_KIND, key),
    },
    snapshots: new Snapshots(store, log),
    settings: machineSettings(robot),
    areaAt: (x, y) => map.rooms?.roomAt({ x, y })?.id ?? null,
    // While a map grows, its station is the one that the robot has found on it.
    station: () => {
      const mapping = body.amr.state()?.mapping ?? null;
      return mapping === null ? (map.rooms?.station?.pose ?? null) : mapping.station;
    },
    keeper: robot.mapKeeper,
    newId: () => ids.make('a'),
    notify: ({ type, at, areaId, attributes, operation }) =>
      bus.emit({
        type,
        at,
        areaId,
        attributes,
        ...(operation === null ? {} : { correlation: { task_id: operation } }),
      }),
  });
  timers.on(TIMER_KIND, ({ key, payload }) => machines.onTimer(key, payload as TimerEvent));
  return machines;
}

function machineSettings({ config, reserve }: Robot): MachineSettings {
  const { motion, fan } = config;
  const defaults = DEFAULT_MACHINE_SETTINGS;
  const cleaning =
    fan === null ? defaults.cleaning : { ...defaults.cleaning, percent: fan.modes, fullRpm: fan.full_rpm };
  return {
    ...defaults,
    maxSpeed: motion.max_speed,
    batteryReserve: () => reserve.value(),
    cleaning,
  };
}

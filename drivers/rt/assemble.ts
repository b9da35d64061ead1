/** Puts a motion process together from its configuration: drivers, navigator, planner, files, host. */
import { Ids } from '../../config/contracts/ids.js';
import { loadMapBundle } from '../amr/map/bundle.js';
import { GridMapper } from '../amr/mapping/grid-mapper.js';
import { DEFAULT_MAPPER } from '../amr/mapping/types.js';
import { DEFAULT_NAVIGATOR, type NavigatorConfig } from '../amr/navigator/config.js';
import { OnboardNavigator } from '../amr/navigator/navigator.js';
import { assembleNav2 } from '../ros2/assemble-nav2.js';
import type { DriverLog } from '../serial/driver-base.js';
import { type Calibrated, calibratedBase, calibratedLidar } from './calibrated.js';
import { readCalibrations, writeCalibrations } from './calibration-file.js';
import { CalibrationKeeper } from './calibration-keeper.js';
import { estopMask, hasBase, type OnboardConfig } from './config.js';
import { createBase, createLidar } from './create-drivers.js';
import { RtHost } from './host.js';
import { PoseFile } from './pose-file.js';
import { bodyOf, channelLog, fieldsFirst, type RtParts } from './rt-parts.js';
import { readSafetyFile, updateSafetyFile } from './safety/safety-file.js';

/** Longest side of a home that is mapped, m; what lies beyond is left out. */
const LARGEST_HOME = 60;

/** The host is not started yet. Reads the e-stop latch first; no port is opened before `start`. */
export function assembleRt(parts: RtParts): RtHost {
  const { config, clock, channel } = parts;
  if (config.ros2 !== null) return assembleNav2(parts, config.ros2);
  if (!hasBase(config)) throw new Error('the configuration names neither a base nor a robot with ROS 2');
  const safety = readSafetyFile(config.stateDir);
  const log = channelLog(channel);
  if (safety.unreadable !== null) {
    log('error', 'safety.json cannot be read: the e-stop is latched', { why: safety.unreadable });
  }
  const drivers = { ...parts, log, capture: config.capture };
  const base = calibratedBase(createBase(config.base, drivers));
  const lidar = config.lidar === null ? null : calibratedLidar(createLidar(config.lidar, drivers));
  const planner = parts.planner(fieldsFirst(log));
  return new RtHost({
    clock,
    channel,
    base,
    lidar,
    calibrations: calibrationsOf(config.stateDir, lidar === null ? [base] : [base, lidar], log),
    navigator: new OnboardNavigator({
      planner,
      random: parts.random,
      config: navigatorConfig(config),
      createMapper: () => new GridMapper({ ...DEFAULT_MAPPER, maxExtent: LARGEST_HOME }),
    }),
    bootId: new Ids(() => clock.now(), parts.random).make('rt'),
    pid: parts.pid,
    body: bodyOf(config.motion, config.base),
    estopButtons: estopMask(config.base),
    estop: safety.content.estop,
    saveEstop: (estop) =>
      updateSafetyFile(config.stateDir, parts.machineClock, (content) => ({ ...content, estop })),
    loadMap: loadMapBundle,
    poses: new PoseFile(config.stateDir),
    holdPorts: config.heartbeat === 'line',
    onChannelLost: parts.onChannelLost,
  });
}

function calibrationsOf(
  stateDir: string,
  calibrated: readonly Calibrated[],
  log: DriverLog,
): CalibrationKeeper {
  const { unreadable, calibration, previous } = readCalibrations(stateDir);
  if (unreadable !== null) {
    log('warn', "calibration.json cannot be read: the profile's figures are in force", { why: unreadable });
  }
  return new CalibrationKeeper(calibrated, {
    initial: { calibration, previous },
    save: (next) => writeCalibrations(stateDir, next),
  });
}

/** Turns of the lidar, ms, as far as they are known beforehand; head down it turns the other way. */
const TURN_MS = { ld19: 100, rplidar_a1: 143 } as const;

function navigatorConfig({ base, lidar, motion }: OnboardConfig): NavigatorConfig {
  const defaults = DEFAULT_NAVIGATOR;
  return {
    ...defaults,
    limits: {
      ...defaults.limits,
      maxSpeed: motion.max_speed,
      accel: motion.max_accel,
      maxTurn: motion.max_turn,
      maxWheelSpeed: base.max_wheel_speed,
      wheelBase: base.wheel_base,
    },
    ...(lidar === null
      ? {}
      : {
          scanTiming: {
            turnMs: TURN_MS[lidar.driver],
            clockwise: !lidar.inverted,
            startBearing: lidar.yaw,
          },
        }),
    inflation: { ...defaults.inflation, robotRadius: motion.radius },
  };
}

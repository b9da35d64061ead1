/** Puts a motion process together from its configuration: drivers, navigator, planner, files, host. */
import type { Clock } from '../../config/contracts/clock.js';
import { Ids } from '../../config/contracts/ids.js';
import type { Log } from '../../config/contracts/log.js';
import type { OpenPort } from '../../config/contracts/port.js';
import type { PortConfig } from '../../config/schema.js';
import { loadMapBundle } from '../amr/map/bundle.js';
import { DEFAULT_NAVIGATOR, type NavigatorConfig } from '../amr/navigator/config.js';
import { OnboardNavigator } from '../amr/navigator/navigator.js';
import type { Planner } from '../amr/types.js';
import type { DriverLog } from '../serial/driver-base.js';
import { type Calibrated, calibratedBase, calibratedLidar } from './calibrated.js';
import { readCalibrations, writeCalibrations } from './calibration-file.js';
import { CalibrationKeeper } from './calibration-keeper.js';
import type { RtEnd } from './channel.js';
import { estopMask, type RtConfig } from './config.js';
import { createBase, createLidar } from './create-drivers.js';
import { RtHost } from './host.js';
import type { MotionBody } from './motion-loop.js';
import { PoseFile } from './pose-file.js';
import { readSafetyFile, updateSafetyFile } from './safety/safety-file.js';

export interface RtParts {
  config: RtConfig;
  /** The robot's clock. */
  clock: Clock;
  /** The machine's clock, for what other processes do in real time. */
  machineClock: Clock;
  random: () => number;
  channel: RtEnd;
  pid: number;
  openPort: (name: 'base' | 'lidar', port: PortConfig) => OpenPort;
  planner: (log: Log) => Planner;
  onChannelLost: (reason: string) => void;
}

/** Braking of the control loop, m/s² and rad/s²: harder than what the navigator plans with. */
const BRAKE = 1;
const TURN_ACCEL = 4;

/** The host is not started yet. Reads the e-stop latch first; no port is opened before `start`. */
export function assembleRt(parts: RtParts): RtHost {
  const { config, clock, channel } = parts;
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
    navigator: new OnboardNavigator({ planner, random: parts.random, config: navigatorConfig(config) }),
    bootId: new Ids(() => clock.now(), parts.random).make('rt'),
    pid: parts.pid,
    body: bodyOf(config),
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

function bodyOf({ base, motion }: RtConfig): MotionBody {
  return {
    radius: motion.radius,
    wheelBase: base.wheel_base,
    maxWheelSpeed: base.max_wheel_speed,
    maxSpeed: motion.max_speed,
    maxTurn: motion.max_turn,
    maxAccel: motion.max_accel,
    maxDecel: Math.max(BRAKE, motion.max_accel),
    maxTurnAccel: TURN_ACCEL,
  };
}

/** Turns of the lidar, ms, as far as they are known beforehand; head down it turns the other way. */
const TURN_MS = { ld19: 100, rplidar_a1: 143 } as const;

function navigatorConfig({ base, lidar, motion }: RtConfig): NavigatorConfig {
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

/** Log lines of the drivers go to the daemon, which has the log. */
function channelLog(channel: RtEnd): DriverLog {
  return (level, message, data) =>
    channel.send({ t: 'log', level, message, ...(data === undefined ? {} : { data }) });
}

function fieldsFirst(log: DriverLog): Log {
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) =>
    log(level, message, { ...fields });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** What a motion process is put together from, whichever back end it gets. */
import type { Clock } from '../../config/contracts/clock.js';
import type { Log } from '../../config/contracts/log.js';
import type { OpenPort } from '../../config/contracts/port.js';
import type { PortConfig } from '../../config/schema.js';
import type { Planner } from '../amr/types.js';
import type { OpenRosbridge } from '../ros2/rosbridge/line.js';
import type { DriverLog } from '../serial/driver-base.js';
import type { RtEnd } from './channel.js';
import type { RtConfig } from './config.js';
import type { MotionBody } from './motion-loop.js';

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
  /** A rosbridge within this process, for a simulation; null: the WebSocket of the profile. */
  openRosbridge?: OpenRosbridge | null;
}

/** Braking of the control loop, m/s² and rad/s²: harder than what the navigator plans with. */
const BRAKE = 1;
const TURN_ACCEL = 4;

/** `wheel_base` and `max_wheel_speed` are those of the base that the wheels belong to. */
export function bodyOf(
  motion: RtConfig['motion'],
  wheels: { wheel_base: number; max_wheel_speed: number },
): MotionBody {
  return {
    radius: motion.radius,
    wheelBase: wheels.wheel_base,
    maxWheelSpeed: wheels.max_wheel_speed,
    maxSpeed: motion.max_speed,
    maxTurn: motion.max_turn,
    maxAccel: motion.max_accel,
    maxDecel: Math.max(BRAKE, motion.max_accel),
    maxTurnAccel: TURN_ACCEL,
  };
}

/** Log lines of the drivers go to the daemon, which has the log. */
export function channelLog(channel: RtEnd): DriverLog {
  return (level, message, data) =>
    channel.send({ t: 'log', level, message, ...(data === undefined ? {} : { data }) });
}

export function fieldsFirst(log: DriverLog): Log {
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) =>
    log(level, message, { ...fields });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Puts the motion process of a robot with ROS 2 and Nav2 together: the same host and safety layer, another body. */
import type { AmrAbilities } from '../../config/contracts/amr.js';
import { Ids } from '../../config/contracts/ids.js';
import { type Ros2Config, rosName } from '../../config/ros2.js';
import { loadMapBundle } from '../amr/map/bundle.js';
import { DEFAULT_NAVIGATOR, type NavigatorConfig } from '../amr/navigator/config.js';
import { RtHost } from '../rt/host.js';
import { bodyOf, channelLog, type RtParts } from '../rt/rt-parts.js';
import { readSafetyFile, updateSafetyFile } from '../rt/safety/safety-file.js';
import { RosLocalization } from './nav2/localization.js';
import { Nav2Goals } from './nav2/nav2-goals.js';
import { Nav2Navigator } from './nav2/navigator.js';
import { Readiness } from './nav2/readiness.js';
import { RosBase } from './nav2/ros-base.js';
import { RosLidar } from './nav2/ros-lidar.js';
import { RosMap } from './nav2/ros-map.js';
import { RosTime } from './nav2/ros-time.js';
import { RclPort } from './rclnodejs/port.js';
import { RosbridgePort } from './rosbridge/client.js';
import { openWebSocket } from './rosbridge/websocket.js';
import { TransformBuffer } from './transforms.js';
import type { RosPort } from './types.js';

/** Transforms are kept so long, and may be extrapolated so far, ms: AMCL's come ten times a second. */
const TRANSFORMS = { keepMs: 5_000, extrapolateMs: 1_500 };

/** The host is not started yet. Reads the e-stop latch first; no connection is opened before `start`. */
export function assembleNav2(parts: RtParts, ros2: Ros2Config): RtHost {
  const { config, clock, channel } = parts;
  const safety = readSafetyFile(config.stateDir);
  const log = channelLog(channel);
  if (safety.unreadable !== null) {
    log('error', 'safety.json cannot be read: the e-stop is latched', { why: safety.unreadable });
  }
  const port = portOf(parts, ros2, log);
  const time = new RosTime();
  const transforms = new TransformBuffer(TRANSFORMS);
  const common = { port, config: ros2, clock, time, transforms };
  const readiness = new Readiness(port, clock, ros2, (message) => log('info', message));
  const navigator = navigatorConfig(parts, ros2);
  const goals = new Nav2Goals({ port, clock, config: ros2, navigator, readiness, log });
  const localization = new RosLocalization(common);
  const map = new RosMap(port, ros2, log);
  const base = new RosBase({
    ...common,
    cancelGoals: () => goals.open.cancelAll(),
    started: () => {
      localization.start();
      map.start();
      goals.start();
      readiness.start();
      port.start();
    },
    stopped: () => {
      readiness.stop();
      return port.close();
    },
  });
  port.onLink(({ connected, reason }) =>
    log(connected ? 'info' : 'warn', `ROS (${port.kind}) ${connected ? 'connected' : 'lost'}: ${reason}`),
  );
  return new RtHost({
    clock,
    channel,
    base,
    lidar: new RosLidar(common),
    navigator: new Nav2Navigator({ config: navigator, localization, goals, map }),
    bootId: new Ids(() => clock.now(), parts.random).make('rt'),
    pid: parts.pid,
    body: bodyOf(config.motion, ros2),
    thresholds: { odometryStaleMs: ros2.stale.odom_ms, lidarStaleMs: ros2.stale.scan_ms },
    estopButtons: 1,
    estop: safety.content.estop,
    saveEstop: (estop) =>
      updateSafetyFile(config.stateDir, parts.machineClock, (content) => ({ ...content, estop })),
    loadMap: (mapYaml) => {
      map.reading(mapYaml);
      return loadMapBundle(mapYaml);
    },
    // Where it is the robot's own localizer remembers.
    poses: { load: () => null, save: async () => true, forget: () => {}, saveNow: () => true },
    abilities: abilitiesOf(ros2),
    onChannelLost: parts.onChannelLost,
  });
}

/** Mapping, following and calibrating are the robot's own business; so is looking for itself on the whole map. */
function abilitiesOf({ topics }: Ros2Config): AmrAbilities {
  return {
    mapping: false,
    follow: false,
    manualDrive: topics.cmd_vel !== null,
    relocalizeAnywhere: false,
    diagnostics: false,
    calibration: false,
  };
}

function portOf(
  { clock, machineClock, random, openRosbridge = null }: RtParts,
  ros2: Ros2Config,
  log: ReturnType<typeof channelLog>,
): RosPort {
  const told = (level: 'info' | 'warn', message: string) => log(level, message);
  if (ros2.via === 'rclnodejs') {
    const rosout = rosName(ros2, 'deviceagent');
    return new RclPort({ clock, machineClock, random, log: told, domainId: ros2.domain_id, node: rosout });
  }
  const open = openRosbridge ?? openWebSocket(ros2.url);
  return new RosbridgePort({ open, clock, random, log: told });
}

function navigatorConfig({ config: { motion } }: RtParts, ros2: Ros2Config): NavigatorConfig {
  const defaults = DEFAULT_NAVIGATOR;
  return {
    ...defaults,
    limits: {
      ...defaults.limits,
      maxSpeed: motion.max_speed,
      accel: motion.max_accel,
      maxTurn: motion.max_turn,
      maxWheelSpeed: ros2.max_wheel_speed,
      wheelBase: ros2.wheel_base,
    },
    obstacles: { ...defaults.obstacles, staleMs: ros2.stale.scan_ms },
    inflation: { ...defaults.inflation, robotRadius: motion.radius },
  };
}

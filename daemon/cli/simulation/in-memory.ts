import type { LoadedConfig } from '../../../config/load.js';
import type { PortConfig } from '../../../config/schema.js';
import type { RosbridgeConnection } from '../../../drivers/ros2/rosbridge/line.js';
import type { SimSession } from '../../../simulator/session/session.js';

/** A connection to the rosbridge of a simulated robot. Throws an Error where it has none, or refuses. */
export function rosbridgeOf(session: SimSession): RosbridgeConnection {
  if (session.ros === null) throw new Error('this simulated robot has no ROS');
  return session.ros.bridge.connect();
}

/** The simulated home's profile with its lines in memory instead of on device files. */
export function inMemory(loaded: LoadedConfig): LoadedConfig {
  const { config } = loaded;
  const line = (name: 'base' | 'lidar' | 'air' | 'fan'): { port: PortConfig } => ({
    port: { kind: 'memory', name },
  });
  return {
    ...loaded,
    config: {
      ...config,
      base: config.base === null ? null : { ...config.base, ...line('base') },
      lidar: config.lidar === null ? null : { ...config.lidar, ...line('lidar') },
      air_sensor: config.air_sensor === null ? null : { ...config.air_sensor, ...line('air') },
      fan: config.fan === null ? null : { ...config.fan, ...line('fan') },
    },
  };
}

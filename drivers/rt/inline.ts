/** The motion process within another process: the same code, its messages handed across directly. */
import type { Clock } from '../../config/contracts/clock.js';
import type { OpenPort } from '../../config/contracts/port.js';
import type { PortConfig } from '../../config/schema.js';
import { InlinePlanner } from '../amr/planner/inline-planner.js';
import type { OpenRosbridge } from '../ros2/rosbridge/line.js';
import { assembleRt } from './assemble.js';
import { type DaemonEnd, memoryChannel } from './channel.js';
import type { RtConfig } from './config.js';
import type { RtHost } from './host.js';

export interface InlineRtOptions {
  config: RtConfig;
  /** The robot's clock as the motion process sees it. */
  clock: Clock;
  machineClock: Clock;
  random: () => number;
  pid: number;
  openPort: (name: 'base' | 'lidar', port: PortConfig) => OpenPort;
  openRosbridge?: OpenRosbridge | null;
}

/**
 * Attach `channel` to an `RtClient`, then call `host.start()`. When the channel is closed the host stops the base
 * and lets go of its ports.
 */
export function hostInline(options: InlineRtOptions): { host: RtHost; channel: DaemonEnd } {
  const channel = memoryChannel();
  const host: RtHost = assembleRt({
    ...options,
    channel: channel.rt,
    planner: () => new InlinePlanner(),
    onChannelLost: (reason) => void host.shutdown(reason),
  });
  return { host, channel: channel.daemon };
}

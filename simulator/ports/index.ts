/** The serial lines between the simulated devices and whoever drives them: PTYs or memory. */
import type { OpenPort } from '../../config/contracts/port.js';
import type { DeviceEnd, DeviceName } from '../types.js';
import { memoryPorts } from './memory.js';
import { ptyPorts } from './pty.js';

export type SimPorts =
  | {
      transport: 'pty';
      ends: Record<DeviceName, DeviceEnd>;
      /** What a host opens, per device. */
      paths: Record<DeviceName, string>;
      close(): void;
    }
  | {
      transport: 'memory';
      ends: Record<DeviceName, DeviceEnd>;
      open: Record<DeviceName, OpenPort>;
      close(): void;
    };

/** PTYs are linked as `<stateDir>/dev/base|lidar|air|fan`. */
export function createPorts(transport: 'pty' | 'memory', stateDir: string): SimPorts {
  if (transport === 'pty') return { transport, ...ptyPorts(stateDir) };
  const { ends, open } = memoryPorts();
  return {
    transport,
    ends,
    open,
    close: () => {
      for (const end of Object.values(ends)) end.close();
    },
  };
}

export { type MemoryPort, memoryPort, memoryPorts } from './memory.js';
export { PtyEnd, ptyPort, ptyPorts } from './pty.js';

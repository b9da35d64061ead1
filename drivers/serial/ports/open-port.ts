/** Turns the ports of a profile into openers. */
import type { Clock } from '../../../config/contracts/clock.js';
import type { OpenPort } from '../../../config/contracts/port.js';
import type { PortConfig } from '../../../config/schema.js';
import { serialPort } from './serial-port.js';
import { tcpPort } from './tcp-port.js';

/** Lines that live in this process, by the name a profile gives them; a simulation provides them. */
export type MemoryPorts = Readonly<Record<'base' | 'lidar' | 'air' | 'fan', OpenPort>>;

/** `memory` null: there is no simulation in this process, and a line in memory cannot be opened. */
export function openerOf(port: PortConfig, clock: Clock, memory: MemoryPorts | null): OpenPort {
  switch (port.kind) {
    case 'serial':
      return serialPort({ path: port.path, baudRate: port.baud_rate, clock });
    case 'tcp':
      return tcpPort({ host: port.host, port: port.port });
    case 'memory': {
      const open = memory?.[port.name];
      if (open !== undefined) return open;
      return async () => {
        throw new Error(`${port.name}: a line in memory exists only in the process of its simulation`);
      };
    }
  }
}

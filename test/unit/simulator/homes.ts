/** Small worlds for tests: an empty square room with a dock on its left wall. */
import {
  type Create2Device,
  createDevices,
  type Devices,
  type DevicesOptions,
} from '../../../simulator/devices/index.js';
import type { Ld19Device } from '../../../simulator/devices/ld19.js';
import { type MemoryPorts, memoryPorts } from '../../../simulator/ports/memory.js';
import { worldFromText } from '../../../simulator/world/index.js';
import type { World } from '../../../simulator/world/world.js';

/** 4 m × 4 m inside (walls' centre lines at 0 and 4.1, 0.1 m thick, so free from 0.05 to 4.05). */
export function squareRoom(extra = ''): string {
  return `
version: 1
name: square
walls:
  - {id: outer, line: [[0, 0], [4.1, 0], [4.1, 4.1], [0, 4.1], [0, 0]]}
rooms:
  - {id: "1", name: 방, aliases: [room], polygon: [[0, 0], [4.1, 0], [4.1, 4.1], [0, 4.1]], goal: [2, 2, 0]}
dock: {at: [0.05, 2.05], facing: 0}
${extra}`;
}

/** The square room with the robot at the given pose instead of on its dock. */
export function squareWorld(pose: [number, number, number], extra = '', seed = 1): World {
  return worldFromText(squareRoom(`start: [${pose.join(', ')}]\n${extra}`), { seed });
}

export interface Rig {
  world: World;
  devices: Devices<Create2Device, Ld19Device>;
  ports: MemoryPorts;
}

/** Devices on memory ports, attached to the world. */
export function rigOf(world: World, options: Omit<DevicesOptions, 'ports'> = {}): Rig {
  const ports = memoryPorts();
  return { world, ports, devices: createDevices(world, { ports: ports.ends, ...options }) };
}

/** A host that has one port open: what it sends and all it has received. */
export interface Host {
  write(...bytes: number[]): void;
  received: number[];
  closed: string | null;
}

export async function hostOn(rig: Rig, name: 'base' | 'lidar' | 'air' | 'fan'): Promise<Host> {
  const connection = await rig.ports.open[name]();
  const host: Host = {
    received: [],
    closed: null,
    write: (...bytes) => {
      connection.write(Uint8Array.from(bytes));
    },
  };
  connection.onData((bytes) => host.received.push(...bytes));
  connection.onClose((reason) => {
    host.closed = reason;
  });
  return host;
}

/** Lets the world run for `ms` in ticks of `tickMs`. */
export function run(world: World, ms: number, tickMs = 15): void {
  for (let t = 0; t < ms; t += tickMs) world.step(tickMs);
}

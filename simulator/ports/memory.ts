/** Serial lines in memory: the host's end is an `OpenPort`, the device's end a `DeviceEnd`. */
import { memoryLine, type OpenPort } from '../../config/contracts/port.js';
import { DEVICE_NAMES, type DeviceEnd, type DeviceName } from '../types.js';

export interface MemoryPort {
  open: OpenPort;
  end: DeviceEnd;
}

/** One line; delivery is synchronous both ways. */
export function memoryPort(name: DeviceName): MemoryPort {
  const { open, device } = memoryLine(name);
  let sent = 0;
  let received = 0;
  let dropped = 0;
  let session = 1;
  let plugged = true;
  let listener: (bytes: Uint8Array) => void = () => {};
  device.onData((bytes) => {
    received += bytes.length;
    listener(bytes);
  });
  const setPlugged = (now: boolean) => {
    if (plugged === now) return;
    plugged = now;
    session += 1;
    sent = 0;
    received = 0;
    if (now) device.plug();
    else device.unplug();
  };
  const end: DeviceEnd = {
    name,
    write: (bytes) => {
      if (!device.hostConnected) {
        dropped += bytes.length;
        return;
      }
      sent += bytes.length;
      device.write(bytes);
    },
    onData: (next) => {
      listener = next;
    },
    poll: () => {},
    unplug: () => setPlugged(false),
    plug: () => setPlugged(true),
    get plugged() {
      return plugged;
    },
    get hostConnected() {
      return device.hostConnected;
    },
    sent: () => sent,
    received: () => received,
    session: () => session,
    dropped: () => dropped,
    close: () => setPlugged(false),
  };
  return { open, end };
}

export interface MemoryPorts {
  open: Record<DeviceName, OpenPort>;
  ends: Record<DeviceName, DeviceEnd>;
}

/** A line for each device. */
export function memoryPorts(): MemoryPorts {
  const lines = DEVICE_NAMES.map((name) => memoryPort(name));
  const byName = <T>(pick: (line: MemoryPort) => T) =>
    Object.fromEntries(lines.map((line) => [line.end.name, pick(line)])) as Record<DeviceName, T>;
  return { open: byName((line) => line.open), ends: byName((line) => line.end) };
}

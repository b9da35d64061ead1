/**
 * The first act of a motion process: stop the base, before most of the program has been loaded. A predecessor may
 * have been killed while it drove, and a base without a watchdog drives on until somebody tells it otherwise.
 * Imports as little as it can.
 */
import type { Clock } from '../../config/contracts/clock.js';
import type { PortConnection } from '../../config/contracts/port.js';
import { STOP_WHEELS } from '../serial/create2/commands.js';
import type { CountedOpenPort } from '../serial/ports/counts.js';
import { serialPort } from '../serial/ports/serial-port.js';

/** What of the configuration is needed; the whole of it is validated later. */
interface BasePort {
  path: string;
  baudRate: number;
}

/**
 * Opens the base's serial port (waiting for a predecessor to let go of it) and sends the stop. Returns an opener
 * that hands out this connection first; null when the base is not on a serial port or could not be opened, which
 * is then the driver's business. Never throws.
 */
export async function stopBaseFirst(
  argument: string | undefined,
  clock: Clock,
): Promise<CountedOpenPort | null> {
  const port = basePortOf(argument);
  if (port === null) return null;
  const open = serialPort({ path: port.path, baudRate: port.baudRate, clock });
  try {
    const connection = await open();
    connection.write(STOP_WHEELS, { ahead: true });
    return handingOver(connection, open);
  } catch {
    return null;
  }
}

function handingOver(first: PortConnection, open: CountedOpenPort): CountedOpenPort {
  let waiting: PortConnection | null = first;
  const next = async (signal?: AbortSignal): Promise<PortConnection> => {
    const connection = waiting ?? (await open(signal));
    waiting = null;
    return connection;
  };
  return Object.assign(next, { counts: open.counts });
}

function basePortOf(argument: string | undefined): BasePort | null {
  try {
    const config: unknown = JSON.parse(argument ?? '');
    const port = field(field(config, 'base'), 'port');
    const path = field(port, 'path');
    const baudRate = field(port, 'baud_rate');
    if (field(port, 'kind') !== 'serial' || typeof path !== 'string' || typeof baudRate !== 'number')
      return null;
    return { path, baudRate };
  } catch {
    return null;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

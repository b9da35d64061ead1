/** The daemon's log: lines of JSON, to standard output or a file. */
import { type Logger, pino } from 'pino';

export interface LogOptions {
  level: string;
  /** A file; null: standard output. */
  file: string | null;
}

/** Lines that cannot be written wait up to this many bytes; what comes after them is left out. */
const MAX_WAITING_BYTES = 256 * 1024;

/**
 * A log that cannot be written (a full disk) costs lines, never the process: a robot does not lose its daemon, and
 * with it the way to stop it, to its own log. What waits is written once there is room again.
 */
export function createLog({ level, file }: LogOptions): Logger {
  const destination = pino.destination({
    dest: file ?? 1,
    mkdir: true,
    sync: true,
    maxLength: MAX_WAITING_BYTES,
  });
  // Without a listener a failed write is an uncaught error.
  destination.on('error', () => undefined);
  return pino({ level, base: null }, destination);
}

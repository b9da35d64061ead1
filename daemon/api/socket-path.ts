/** Where the local API's Unix socket lies; for the daemon that listens and the command that calls. */
import { join } from 'node:path';

export function socketPath(stateDir: string): string {
  return join(stateDir, 'api.sock');
}

/** Stands in every answer of the local API: who answers on the socket is the daemon and not something else. */
export const DAEMON_HEADER = 'x-deviceagent';

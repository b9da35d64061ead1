/** Where the local API's Unix socket lies; for the daemon that listens and the command that calls. */
import { join } from 'node:path';

export function socketPath(stateDir: string): string {
  return join(stateDir, 'api.sock');
}

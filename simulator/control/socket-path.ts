/** Where a simulation's control socket lies; for the simulation that listens and the command that calls. */
import { join } from 'node:path';

export function controlSocketPath(stateDir: string): string {
  return join(stateDir, 'sim.sock');
}

/** Where a robot keeps what it knows when nobody says otherwise. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { socketPath } from '../api/socket-path.js';

/** `$DEVICEAGENT_STATE_DIR`, else `$XDG_STATE_HOME/deviceagent`, else `~/.local/state/deviceagent`. */
export function defaultStateDir(env: NodeJS.ProcessEnv = process.env): string {
  if (env.DEVICEAGENT_STATE_DIR) return env.DEVICEAGENT_STATE_DIR;
  return join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'deviceagent');
}

/** The simulated robot's own: it starts empty with every simulation. */
export function simStateDir(env: NodeJS.ProcessEnv = process.env): string {
  return join(defaultStateDir(env), 'sim');
}

/** The one a command means that names none: the robot's, or a simulation's when only that one is running. */
export function runningStateDir(env: NodeJS.ProcessEnv = process.env): string {
  const robot = defaultStateDir(env);
  const simulation = simStateDir(env);
  const runs = (dir: string) => existsSync(socketPath(dir));
  return !runs(robot) && runs(simulation) ? simulation : robot;
}

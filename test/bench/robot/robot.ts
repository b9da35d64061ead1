/** A robot as it is run: `deviceagent run` in a process of its own, beside a simulated home. */
import { closeSync, openSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { profilePath } from '../../../config/profiles.js';
import { socketPath } from '../../../daemon/api/socket-path.js';
import { ALLOCATOR_ENV, NODE_FLAGS } from '../../../daemon/cli/start-flags.js';
import { Child } from '../support/children.js';
import { wait } from '../support/stats.js';
import { homeReady } from './messages.js';

export interface SimulatedHome {
  mqttUrl: string;
  stop(): Promise<void>;
}

export async function startHome(stateDir: string): Promise<SimulatedHome> {
  const child = Child.start(import.meta.url, './home-process.js', { args: [JSON.stringify({ stateDir })] });
  const { mqttUrl } = await child.next(homeReady, 'its broker', 30_000);
  return { mqttUrl, stop: () => child.stop() };
}

export interface RunningRobot {
  pid: number;
  /** From starting the process to `GET /ready` = 200, ms. */
  readyMs: number;
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

const READY_MS = 30_000;
const ASK_EVERY_MS = 4;

/** Starts the daemon as its unit does (`docs/operations.md`) and waits until it is ready. */
export async function startRobot(stateDir: string, home: SimulatedHome): Promise<RunningRobot> {
  const logFile = join(stateDir, 'daemon.log');
  const output = openSync(logFile, 'a', 0o600);
  const began = performance.now();
  const child = Child.start(import.meta.url, '../../../daemon/cli/main.js', {
    args: ['run', '--config', profilePath('sim'), '--state-dir', stateDir],
    execArgv: NODE_FLAGS,
    env: {
      ...process.env,
      ...ALLOCATOR_ENV,
      DEVICEAGENT_MQTT_URL: home.mqttUrl,
      DEVICEAGENT_API_PORT: '0',
    },
    output,
  });
  closeSync(output);
  const stop = (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') => child.stop(signal);
  while ((await askReady(stateDir)) !== 200) {
    if (performance.now() - began > READY_MS) {
      await stop('SIGKILL');
      const last = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-3).join('\n');
      throw new Error(`the daemon was not ready within ${READY_MS} ms; its log ends with\n${last}`);
    }
    await wait(ASK_EVERY_MS);
  }
  return { pid: child.pid, readyMs: performance.now() - began, stop };
}

/** Status of `GET /ready` over the Unix socket; null while nobody listens. */
function askReady(stateDir: string): Promise<number | null> {
  return new Promise((resolve) => {
    const asked = request({ socketPath: socketPath(stateDir), path: '/ready', agent: false }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? null));
    });
    asked.once('error', () => resolve(null));
    asked.end();
  });
}

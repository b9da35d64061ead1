/** `deviceagent run`: the daemon of one robot, in this process. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { PROFILES, profilePath } from '../../config/profiles.js';
import { HeldMotionProcess } from '../rt-client/rt-process.js';
import { defaultStateDir } from './default-state-dir.js';
import { tuneForLoading } from './engine.js';
import type { Translate } from './language.js';

interface RunOptions {
  config: string;
  stateDir?: string;
  rt: string;
}

/** Set by a simulation, so that the same seed gives the same run. */
export const SEED_ENV = 'DEVICEAGENT_SEED';

export function registerRun(program: Command, t: Translate): void {
  program
    .command('run')
    .description(t('cmdRun'))
    .requiredOption('--config <file>', t('runConfig', { names: PROFILES.join(', ') }))
    .option('--state-dir <dir>', t('runStateDir'))
    .option('--rt <where>', t('runRt'), 'process')
    .action((options: RunOptions) => run(options));
}

/** A bundled profile by its name, or a file. */
function configFile(nameOrFile: string): string {
  const bundled = PROFILES.find((name) => name === nameOrFile);
  return bundled === undefined || existsSync(nameOrFile) ? resolve(nameOrFile) : profilePath(bundled);
}

/** The motion process loads its program while this one loads the rest of the daemon. */
async function run(options: RunOptions): Promise<void> {
  tuneForLoading();
  const ahead = options.rt === 'inline' ? null : new HeldMotionProcess(process.env);
  try {
    const { runDaemon } = await import('./serve.js');
    await runDaemon({
      configFile: configFile(options.config),
      stateDir: resolve(options.stateDir ?? defaultStateDir()),
      ahead,
      seed: seedOf(process.env),
    });
  } finally {
    ahead?.discard();
  }
}

function seedOf(env: NodeJS.ProcessEnv): number | null {
  const text = env[SEED_ENV];
  if (text === undefined || text === '') return null;
  const seed = Number(text);
  if (!Number.isInteger(seed) || seed < 0)
    throw new Error(`${SEED_ENV} is "${text}": allowed is a whole number`);
  return seed;
}

/** Starts motion processes: when they are needed, or ahead of that. */
import { type ChildProcess, fork } from 'node:child_process';
import { entryPath } from '../../config/contracts/entry.js';
import type { RtConfig } from '../../drivers/rt/config.js';
import { HELD, type HeldConfig } from '../../drivers/rt/held.js';

/**
 * Node flags of a motion process. Its garbage is collected by the thread that makes it: helpers of ordinary
 * priority, which that thread would have to wait for, get no turn on a busy machine. A small nursery keeps each
 * collection well under a millisecond, and the process small; so does one thread for compiling instead of four.
 */
const FLAGS = ['--single-threaded-gc', '--max-semi-space-size=1', '--v8-pool-size=1'];
/** One heap of glibc for all threads: the others would keep what loading left behind. */
const ALLOCATOR_ENV = { MALLOC_ARENA_MAX: '1' };

export function startMotionProcess(config: RtConfig, env: NodeJS.ProcessEnv): ChildProcess {
  return forkWith(JSON.stringify(config), env);
}

/**
 * A motion process that was started while the rest of the daemon is still being loaded. It loads its own program
 * meanwhile and touches nothing, no port and no file, before it is given its configuration; it ends with the daemon.
 */
export class HeldMotionProcess {
  #child: ChildProcess | null;

  constructor(env: NodeJS.ProcessEnv) {
    const child = forkWith(HELD, env);
    this.#child = child;
    // It must not keep a daemon alive that cannot start.
    child.unref();
    child.channel?.unref();
    const gone = () => {
      if (this.#child === child) this.#child = null;
    };
    child.once('exit', gone);
    child.once('error', gone);
  }

  /** Gives it its configuration. Null when it has died, or was taken before. */
  take(config: RtConfig): ChildProcess | null {
    const child = this.#child;
    this.#child = null;
    if (child === null || !child.connected) return null;
    child.ref();
    child.channel?.ref();
    const message: HeldConfig = { t: 'config', text: JSON.stringify(config) };
    child.send(message);
    return child;
  }

  /** Nobody needs it. */
  discard(): void {
    this.#child?.kill('SIGKILL');
    this.#child = null;
  }
}

function forkWith(argument: string, env: NodeJS.ProcessEnv): ChildProcess {
  return fork(entryPath(import.meta.url, '../../drivers/rt/main.js'), [argument], {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: FLAGS,
    env: { ...env, ...ALLOCATOR_ENV },
  });
}

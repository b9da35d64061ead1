/** What V8 is told from within the daemon's process. `start-flags.ts` has what must be said before it starts. */
import { setFlagsFromString } from 'node:v8';

/**
 * Before the daemon is loaded. Code that runs once is not worth optimising: leaving it saves a tenth of the start, and
 * the memory of the compiler, which is not given back. And V8 doubles the space for new objects, up to 32 MB, when
 * much of it survives, as it does while modules are loaded, and keeps it; at the size it starts with, a collection is
 * short as well.
 */
export function tuneForLoading(): void {
  setFlagsFromString('--no-opt');
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Once the daemon is ready: what runs often from now on is optimised. */
export function tuneForRunning(): void {
  setFlagsFromString('--opt');
}

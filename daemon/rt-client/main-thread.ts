/** What Linux says of this process's main thread; proc(5). */
import { readFileSync } from 'node:fs';
import type { ThreadSeen } from './liveness.js';

/** The main thread has the number of its process. */
const TASK = `/proc/self/task/${process.pid}`;

/** Null where the system has no such files. To be called from any thread. */
export function seeMainThread(): ThreadSeen | null {
  if (process.platform !== 'linux') return null;
  try {
    // `schedstat`: nanoseconds on a processor, nanoseconds waiting for one (once it is over), time slices.
    const ranNs = Number(readFileSync(`${TASK}/schedstat`, 'latin1').split(' ', 1)[0]);
    // `stat`: number, name in brackets (with whatever characters), state, …
    const stat = readFileSync(`${TASK}/stat`, 'latin1');
    const state = stat.charAt(stat.lastIndexOf(')') + 2);
    return Number.isFinite(ranNs) ? { runnable: state === 'R', ranMs: ranNs / 1e6 } : null;
  } catch {
    return null;
  }
}

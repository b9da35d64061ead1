/**
 * Lets a process's main thread go before others on a busy machine: a stop must not wait for its turn. Needs a
 * privilege (CAP_SYS_NICE); without it things stay as they are, and what is lost is a margin on an overloaded machine.
 */
import { execFile } from 'node:child_process';
import { constants, setPriority } from 'node:os';

/**
 * Real-time priorities, below what the kernel itself runs at. The threads of the JavaScript engine that are there
 * already come along, lower: the main thread has to wait for them now and then, and must not wait for their turn.
 */
const MAIN_THREAD = 20;
const ENGINE_THREADS = 10;
const TIMEOUT_MS = 2000;

/**
 * First a better ordinary priority, then real-time scheduling (round robin), for which Linux's own tool is used: Node
 * cannot ask for it. An ordinary priority alone does little, because Linux shares the processor out between sessions
 * and control groups first. Threads that are started later, such as the planner's, run as everybody does
 * (`--reset-on-fork`). A thread gone wild leaves room for the daemon, which ends it: the kernel holds real-time threads
 * down to 95 % of the time (`sched_rt_runtime_us`).
 */
export function goBeforeOthers(): void {
  try {
    setPriority(constants.priority.PRIORITY_HIGH);
  } catch {
    // Not allowed: as it is.
  }
  realTime(['--all-tasks'], ENGINE_THREADS, () => realTime([], MAIN_THREAD, () => {}));
}

/** Calls `done` only when it was allowed. */
function realTime(whom: readonly string[], priority: number, done: () => void): void {
  const request = [...whom, '--reset-on-fork', '--rr', '--pid', String(priority), String(process.pid)];
  execFile('chrt', request, { timeout: TIMEOUT_MS }, (error) => {
    if (error === null) done();
  });
}

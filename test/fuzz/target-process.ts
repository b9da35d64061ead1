/** One target in a process of its own: what kills it, or stops it, is a finding of the process that watches. */
import { fuzzTarget } from './fuzz-target.js';
import { TARGETS } from './targets/all.js';
import type { Finding, TargetReport } from './types.js';

export interface Assignment {
  target: string;
  cases: number;
  seed: number;
  from: number;
}

export type Message =
  | { type: 'case'; n: number }
  | { type: 'finding'; n: number; finding: Finding }
  | { type: 'report'; report: TargetReport };

/** A case is told at most so often, ms; the watcher's patience is far longer. */
const TELL_MS = 200;

process.once('message', (assignment: Assignment) => {
  void work(assignment).then(() => process.disconnect());
});

async function work({ target: name, ...run }: Assignment): Promise<void> {
  const target = TARGETS.find((one) => one.name === name);
  if (target === undefined) throw new Error(`there is no target ${name}`);
  let told = 0;
  const report = await fuzzTarget(target, {
    ...run,
    onCase: (n) => {
      const now = performance.now();
      if (now - told < TELL_MS) return;
      told = now;
      tell({ type: 'case', n });
    },
    onFinding: (finding, n) => tell({ type: 'finding', n, finding }),
  });
  tell({ type: 'report', report });
}

function tell(message: Message): void {
  process.send?.(message);
}

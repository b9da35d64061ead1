/** What a step costs more than the same task submitted alone. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../report.js';
import { Child } from '../support/children.js';
import { median, round, spread } from '../support/stats.js';
import { workflowMeasured } from './messages.js';

const STEPS = 64;

export const workflowBench: Bench = {
  groups: ['workflow'],
  method:
    'A no-op method, 64 times in turn, every task durable before the next: as a chain of 64 steps from its submission to the ' +
    'durable end of the workflow, and as 64 tasks of which each is submitted when the one before it is over. The two ' +
    'alternate; the difference of each pair, by step.',
  async run({ quick, dir, progress }) {
    const own = join(dir, 'workflow');
    mkdirSync(own);
    const options = { dir: own, steps: STEPS, trials: quick ? 20 : 60 };
    const child = Child.start(import.meta.url, './workflow-process.js', { args: [JSON.stringify(options)] });
    try {
      const { asStepsMs, aloneMs } = await child.next(workflowMeasured, 'its figures', 120_000);
      const added = asStepsMs.map((ms, i) => (ms - (aloneMs[i] ?? Number.NaN)) / STEPS);
      progress(`${round(median(added), 3)} ms a step`);
      const perStep = (ms: readonly number[]) => round(median(ms) / STEPS, 3);
      return {
        figures: { workflow: { steps: STEPS, added_ms_per_step: round(median(added), 3) } },
        notes: [
          `added per step ${spread(added, 3)} ms in ${added.length} pairs; a step takes ${perStep(asStepsMs)} ms, a task alone ${perStep(aloneMs)} ms`,
        ],
      };
    } finally {
      await child.stop();
    }
  },
};

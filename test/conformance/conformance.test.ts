import { describe, it, vi } from 'vitest';
import { BEHAVIOURS } from './behaviours.js';
import { BACK_ENDS, Bench } from './bench.js';

// Simulated time costs real time, more of it on a machine that is busy with other things.
vi.setConfig({ testTimeout: 300_000 });

describe.each(BACK_ENDS)('a robot with the back end %s', (backEnd) => {
  it.each(BEHAVIOURS.map((behaviour) => [behaviour.name, behaviour] as const))(
    '%s',
    async (_name, { run }) => {
      const bench = await Bench.start(backEnd);
      try {
        await run(bench);
      } finally {
        await bench.close();
      }
    },
  );
});

/** What the engine does after it was told so from within: in a process of its own, for flags concern all of it. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { entryPath } from '../../../config/contracts/entry.js';

const engine = entryPath(import.meta.url, '../../../daemon/cli/engine.js');

/** Prints what `code` gives; `hot` is optimised code (V8's status bit 4) or not. */
function evaluated(code: string): string {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { tuneForLoading, tuneForRunning } from ${JSON.stringify(engine)};
    const work = (n) => { let sum = 0; for (let i = 0; i < n; i++) sum += Math.sqrt(i % 7); return sum; };
    const exercise = () => { for (let i = 0; i < 300; i++) work(20_000); };
    const hot = () => { exercise(); return (%GetOptimizationStatus(work) & 16) !== 0; };
    ${code}`;
  const args = ['--allow-natives-syntax', '--input-type=module', '-e', script];
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim();
}

describe.skipIf(!existsSync(engine))('the engine', () => {
  it('optimises nothing while the daemon is loaded, and what runs often once it is ready', () => {
    expect(
      evaluated('tuneForLoading(); const before = hot(); tuneForRunning(); console.log(before, hot());'),
    ).toBe('false true');
  });

  it('keeps the space for new objects as small as it was, however much survives', () => {
    const grown = `
      let kept = [];
      for (let i = 0; i < 2e6; i++) { kept.push({ i }); if (kept.length > 50_000) kept = []; }
      const space = getHeapSpaceStatistics().find((s) => s.space_name === 'new_space');
      console.log(space.physical_space_size <= 4 * 2 ** 20);`;
    expect(evaluated(`tuneForLoading(); ${grown}`)).toBe('true');
  });
});

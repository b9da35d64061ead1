import { describe, expect, it } from 'vitest';
import { cycles, importsOf, readGraph, wrongDirections } from '../../../scripts/imports.mjs';

describe('the rule of the folders', () => {
  it.each([
    ['drivers/a.ts', 'daemon/b.ts'],
    ['state-machines/a.ts', 'executors/b.ts'],
    ['executors/a.ts', 'daemon/b.ts'],
    ['config/a.ts', 'drivers/b.ts'],
    ['daemon/cloud/a.ts', 'simulator/b.ts'],
    ['simulator/a.ts', 'drivers/b.ts'],
    ['simulator/a.ts', 'config/load.ts'],
  ])('%s may not import %s', (from, to) => {
    expect(wrongDirections(new Map([[from, [to]]]))).toHaveLength(1);
  });

  it.each([
    ['daemon/a.ts', 'executors/b.ts'],
    ['executors/a.ts', 'drivers/b.ts'],
    ['daemon/cli/sim.ts', 'simulator/b.ts'],
    ['simulator/a.ts', 'config/contracts/b.ts'],
    ['test/a.ts', 'simulator/b.ts'],
  ])('%s may import %s', (from, to) => {
    expect(wrongDirections(new Map([[from, [to]]]))).toEqual([]);
  });

  it('finds a module that reaches itself through others', () => {
    const graph = new Map([
      ['a.ts', ['b.ts']],
      ['b.ts', ['c.ts']],
      ['c.ts', ['a.ts']],
    ]);
    expect(cycles(graph)).toEqual([['a.ts', 'b.ts', 'c.ts', 'a.ts']]);
  });

  it('sees type, re-export, side-effect and dynamic imports, not comments', () => {
    const text = `import type { A } from './a.js';\nexport * from '../b.js';\nimport './c.js';
      // import x from './no.js'\nconst d = await import('./d.js');\nimport {\n  e,\n} from './e.js';`;
    expect(importsOf('x/y.ts', text)).toEqual(['x/a.ts', 'b.ts', 'x/c.ts', 'x/d.ts', 'x/e.ts']);
  });

  it('holds for this repository', () => {
    const graph = readGraph();
    expect(wrongDirections(graph)).toEqual([]);
    expect(cycles(graph)).toEqual([]);
  });
});

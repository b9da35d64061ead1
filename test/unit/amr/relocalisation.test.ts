import { describe, expect, it } from 'vitest';
import { loadMapBundle } from '../../../drivers/amr/map/bundle.js';
import type { MapBundle } from '../../../drivers/amr/types.js';
import { anywhere, type Finding, findItself, WRONG } from '../../support/finding-itself.js';
import { itWithShared } from '../../support/shared-data.js';
import { flat } from './support/grids.js';

async function findAll(bundle: MapBundle, count: number): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const [i, at] of anywhere(bundle, count, 11).entries()) {
    found.push(await findItself(bundle, at, 100 + i));
  }
  return found;
}

const wrong = (all: readonly Finding[]) => all.filter(({ error }) => error !== null && error > WRONG);
const sure = (all: readonly Finding[]) => all.filter(({ afterMs }) => afterMs !== null);

describe('a robot without any idea of its place', () => {
  it('finds it in a flat from wherever it is put, and is never sure of a wrong one', async () => {
    const all = await findAll(flat(), 8);
    expect(wrong(all)).toEqual([]);
    expect(sure(all).length).toBeGreaterThanOrEqual(7);
  }, 120_000);

  it('in a home with two halves alike never says which one it is in', async () => {
    const all = await findAll(twice(flat()), 6);
    expect(sure(all)).toEqual([]);
  }, 120_000);

  itWithShared(
    'finds it in a real house, and is never sure of a wrong one',
    'maps/aws_small_house/map.yaml',
    async (path) => {
      const all = await findAll(loadMapBundle(path), 8);
      expect(wrong(all)).toEqual([]);
      expect(sure(all).length).toBeGreaterThanOrEqual(7);
    },
    120_000,
  );
});

/** The same home once more beside it, turned by half a turn: whatever is seen fits two places. */
function twice(bundle: MapBundle): MapBundle {
  const { grid } = bundle;
  const { width, height } = grid;
  const cells = new Int8Array(2 * width * height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const value = grid.cells[row * width + column] ?? -1;
      cells[row * 2 * width + column] = value;
      cells[(height - 1 - row) * 2 * width + (2 * width - 1 - column)] = value;
    }
  }
  return { ...bundle, id: 'm-twice', grid: { ...grid, width: 2 * width, cells } };
}

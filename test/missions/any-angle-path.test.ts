import { describe, expect, it } from 'vitest';
import { AnyAnglePaths, type OpenGround } from '../support/any-angle-path.js';

/** Rows from the top, `#` closed; cells of one metre. */
function ground(...rows: string[]): OpenGround {
  const width = rows[0]?.length ?? 0;
  const closed = Uint8Array.from([...rows].reverse().join(''), (c) => (c === '#' ? 1 : 0));
  return { width, height: rows.length, resolution: 1, x: 0, y: 0, closed };
}

describe('the shortest way at any angle', () => {
  it('is the straight line where nothing is between', () => {
    const way = new AnyAnglePaths(ground('.....', '.....')).shortest({ x: 0.5, y: 0.5 }, { x: 4.5, y: 1.5 });
    expect(way?.metres).toBeCloseTo(Math.hypot(4, 1), 6);
    expect(way?.points).toHaveLength(2);
  });

  it('bends at the corners of what is between', () => {
    const way = new AnyAnglePaths(ground('.....', '..#..', '..#..')).shortest(
      { x: 0.5, y: 0.5 },
      { x: 4.5, y: 0.5 },
    );
    // Over (2, 2) and (3, 2).
    expect(way?.metres).toBeCloseTo(2 * Math.hypot(1.5, 1.5) + 1, 1);
    expect(way?.points).toHaveLength(4);
  });

  it('does not squeeze between two closed cells that touch at a corner', () => {
    const paths = new AnyAnglePaths(ground('.#', '#.'));
    expect(paths.shortest({ x: 0.5, y: 1.5 }, { x: 1.5, y: 0.5 })).toBeNull();
  });

  it('does not exist into closed ground', () => {
    expect(new AnyAnglePaths(ground('.#.')).shortest({ x: 0.5, y: 0.5 }, { x: 2.5, y: 0.5 })).toBeNull();
  });
});

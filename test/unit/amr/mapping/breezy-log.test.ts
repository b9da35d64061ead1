import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MapError } from '../../../../drivers/amr/map/map-error.js';
import {
  BREEZY_ROBOT,
  BreezyLog,
  checkBreezyLog,
  type LogRecord,
} from '../../../../drivers/amr/mapping/breezy-log.js';
import { breezyLine } from './breezy-line.js';

const records = (text: string): LogRecord[] =>
  [...new BreezyLog(text, 'drive.dat').entries()].map(({ record }) => record);

function problem(text: string): string {
  try {
    checkBreezyLog(text, 'drive.dat');
  } catch (error) {
    expect(error).toBeInstanceOf(MapError);
    return (error as MapError).message;
  }
  throw new Error('nothing was refused');
}

const GOOD = [
  breezyLine({ time: 1_000_000, left: 0, right: 0 }),
  breezyLine({ time: 1_100_000, left: 2000, right: -500 }),
];

describe('logs of the BreezySLAM examples', () => {
  it('reads times, wheels and ranges as the format has them', () => {
    const [first, second] = records(GOOD.join('\n'));
    expect(first).toMatchObject({ mono: 1000, wheels: { mono: 1000, left: 0, right: 0 } });
    const turn = 2 * Math.PI * BREEZY_ROBOT.wheelRadius;
    expect(second?.wheels.left).toBeCloseTo(turn, 9);
    expect(second?.wheels.right).toBeCloseTo(-turn / 4, 9);
    expect(second?.scan.ranges).toHaveLength(682);
    expect(second?.scan.ranges[10]).toBe(2);
    // 682 steps of 360/1024 degrees, as many to the right as to the left.
    expect(second?.scan.angleMin).toBeCloseTo((-340.5 * 2 * Math.PI) / 1024, 9);
  });

  it('takes what the lidar did not see, and the codes of its errors, for nothing seen', () => {
    const ranges = Array.from({ length: 682 }, (_, i) => [0, 7, 19, 59, 60, 5599, 5600, 65_535][i % 8] ?? 0);
    const [record] = records(breezyLine({ time: 1, left: 0, right: 0, ranges }));
    expect(record?.scan.ranges.slice(0, 8)).toEqual([NaN, NaN, NaN, NaN, 0.06, 5.599, NaN, NaN]);
  });

  it('reads lines that end with blanks, with carriage returns, and a file without a last line end', () => {
    expect(records(GOOD.map((line) => `  ${line} \r`).join('\n'))).toEqual(records(GOOD.join('\n')));
    expect(records(`${GOOD.join('\n')}\n\n`)).toEqual(records(GOOD.join('\n')));
  });

  it('says how long a log is, and leaves out a last line that was cut off', () => {
    const cut = breezyLine({ time: 1_200_000, left: 0, right: 0 }).slice(0, 300);
    const text = [...GOOD, cut].join('\n');
    expect(checkBreezyLog(text, 'drive.dat')).toEqual({ scans: 2, duration: 0.1, cutOff: 1 });
  });

  it('names the file, the line, the field, what was found and what is allowed', () => {
    const [a = '', b = ''] = GOOD;
    expect(problem('')).toBe('drive.dat: line 1: the file has no lines; a scan a line is needed');
    expect(problem([a, b.replace('1100000', '11x')].join('\n'))).toContain(
      'drive.dat: line 2: time: found 11x; a whole number from 0',
    );
    expect(problem([b, a].join('\n'))).toBe(
      'drive.dat: line 2: time: found 1000000 µs, which is before the line above (1100000)',
    );
    expect(problem([a, b.replace(' -500 ', ' 1e9 ')].join('\n'))).toContain(
      'line 2: ticks of the right wheel: found 1e9',
    );
    const ranges = Array.from({ length: 682 }, (_, i) => (i === 5 ? -3 : 100));
    expect(problem(breezyLine({ time: 1, left: 0, right: 0, ranges }))).toBe(
      'drive.dat: line 1: range 5: found -3; a whole number from 0 to 65535 is needed',
    );
    expect(problem([a, `${b} 1 2`, a].join('\n'))).toContain(
      'line 2: numbers: found 708; the lines above have 706',
    );
    expect(problem([a, '', b].join('\n'))).toContain('line 2: numbers: found 1');
    expect(problem('not a log at all')).toContain('line 1: numbers: found 5; 24 and then 32 to 4096 ranges');
  });

  it('never does worse than a MapError, whatever is in the file', () => {
    const [good = ''] = GOOD;
    const damaged = fc
      .record({ at: fc.nat({ max: good.length - 1 }), text: fc.string({ unit: 'binary', maxLength: 12 }) })
      .map(({ at, text }) => good.slice(0, at) + text + good.slice(at + text.length));
    fc.assert(
      fc.property(fc.oneof(damaged, fc.string({ unit: 'binary', maxLength: 200 })), (text) => {
        try {
          checkBreezyLog(`${good}\n${text}\n${good}`, 'drive.dat');
        } catch (error) {
          expect(error).toBeInstanceOf(MapError);
        }
      }),
    );
  });
});

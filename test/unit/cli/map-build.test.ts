import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadMapBundle } from '../../../drivers/amr/map/bundle.js';
import { decodePng } from '../../../drivers/amr/map/png.js';
import { run } from '../../support/cli/fake-io.js';
import { itWithShared } from '../../support/shared-data.js';
import { breezyLine } from '../amr/mapping/breezy-line.js';

const dir = mkdtempSync(join(tmpdir(), 'da-map-build-'));
const log = join(dir, 'drive.dat');
afterAll(() => rmSync(dir, { recursive: true }));

/** Half a metre along the middle of a room of 4 × 3 m; the lidar 0.145 m in front of the axle. */
beforeAll(() => {
  const perTick = (2 * Math.PI * 0.077) / 2000;
  const lines = Array.from({ length: 26 }, (_, i) => {
    const x = 0.02 * i;
    const ticks = Math.round(x / perTick);
    const ranges = Array.from({ length: 682 }, (_, k) => {
      const bearing = ((k - 340.5) * 2 * Math.PI) / 1024;
      const [c, s] = [Math.cos(bearing), Math.sin(bearing)];
      const ahead = (c > 0 ? 2 - x - 0.145 : -2 - x - 0.145) / c;
      return Math.round(1000 * Math.min(ahead, 1.5 / Math.abs(s)));
    });
    return breezyLine({ time: 1e6 + 1e5 * i, left: ticks, right: ticks, ranges });
  });
  writeFileSync(log, lines.join('\n'));
});

describe('map build', () => {
  it('makes a map, its rooms and a picture, tells how far it is, and says what was measured', async () => {
    const out = join(dir, 'made');
    const ran = await run(['map', 'build', '--log', log, '--out', out, '--json']);
    const made = JSON.parse(ran.out);
    expect(made.quality).toMatchObject({ scans: 26, unmatched: 0, duration_s: 2.5, loops_closed: 0 });
    expect(made.quality.way_m).toBeGreaterThan(0.35);
    expect(made.quality.mean_score).toBeGreaterThan(0.8);
    expect(made.quality.wall_thickness_m).toBeLessThan(0.11);
    expect(readdirSync(out).sort()).toEqual(['areas.yaml', 'map.pgm', 'map.png', 'map.yaml', 'quality.json']);
    const bundle = loadMapBundle(join(out, 'map.yaml'));
    expect(bundle.id).toBe(made.map);
    expect(bundle.areas.rooms.map((room) => [room.id, room.name])).toEqual([['1', '방 1']]);
    // The wall ahead is 2 m from the start, those beside 1.5 m; behind the robot the lidar sees nothing.
    const { origin, width, height, resolution } = bundle.grid;
    expect(Math.abs(origin.x + width * resolution - 2)).toBeLessThan(0.12);
    expect(Math.abs(height * resolution - 3)).toBeLessThan(0.22);
    expect(decodePng(readFileSync(made.files.picture), 'map.png').channels).toBe(3);
    expect(JSON.parse(readFileSync(made.files.quality, 'utf8'))).toEqual(made.quality);
  });

  it('does without the wheels, and without rooms, when told so', async () => {
    const out = join(dir, 'bare');
    const ran = await run(['map', 'build', '--log', log, '--out', out, '--no-odometry', '--no-rooms']);
    expect([ran.code, ran.err]).toEqual([0, expect.not.stringContaining('deviceagent:')]);
    expect(ran.out).toContain(`map written: ${join(out, 'map.yaml')}`);
    expect(loadMapBundle(join(out, 'map.yaml')).areas.rooms).toEqual([]);
  });

  it('finds out before the work that nothing can be written there, also where no folder can be', async () => {
    const file = join(dir, 'a-file');
    writeFileSync(file, '');
    for (const out of [file, join(file, 'below'), '/proc/no-folder']) {
      const ran = await run(['map', 'build', '--log', log, '--out', out]);
      expect([ran.code, ran.out]).toEqual([1, '']);
      expect(ran.err).toMatch(/^deviceagent: .*(EEXIST|ENOTDIR|ENOENT)[^\n]*\n$/);
    }
  });

  it('refuses a log that is not there, one that is none, and options out of range, each in one line', async () => {
    const none = join(dir, 'none.dat');
    const build = (...args: string[]) => run(['map', 'build', '--log', ...args, '--out', join(dir, 'no')]);
    expect(await build(none)).toMatchObject({ code: 2, err: `deviceagent: there is no file ${none}\n` });
    writeFileSync(none, 'hello\n');
    expect(await build(none)).toMatchObject({
      code: 1,
      err: `deviceagent: ${none}: line 1: numbers: found 1; 24 and then 32 to 4096 ranges are needed\n`,
    });
    writeFileSync(none, breezyLine({ time: 1, left: 0, right: 0, ranges: Array(682).fill(0) }));
    expect(await build(none)).toMatchObject({ code: 1, err: expect.stringContaining('no scan in it sees') });
    expect(await build(log, '--resolution', '5')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--resolution'),
    });
    expect(readdirSync(dir)).not.toContain('no');
  });

  itWithShared(
    'makes one closed map of a whole recorded drive, and the same with worse wheels',
    'lidar_logs/breezyslam/exp1.dat',
    async (path) => {
      const build = async (name: string, ...args: string[]) => {
        const ran = await run(['map', 'build', '--log', path, '--out', join(dir, name), '--json', ...args]);
        return JSON.parse(ran.out);
      };
      const made = await build('exp1');
      expect(made.quality).toMatchObject({ scans: 756, unmatched: 0, points_left_out: 0 });
      // The wheels of the log turn for 46 m.
      expect(made.quality.way_m).toBeGreaterThan(44);
      expect(made.quality.way_m).toBeLessThan(47);
      expect(made.quality.mean_score).toBeGreaterThan(0.8);
      expect(made.quality.loops_closed).toBeGreaterThan(0);
      expect(made.quality.wall_thickness_m).toBeLessThan(0.12);
      // A scale that is wrong by half is corrected by what the scans say.
      const wrong = await build('wrong', '--ticks-per-turn', '4000');
      expect(Math.abs(wrong.quality.way_m - made.quality.way_m)).toBeLessThan(1.5);
      expect(wrong.quality.unmatched).toBe(0);
    },
    60_000,
  );
});

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mapBundle, saveMapBundle } from '../../../drivers/amr/map/bundle.js';
import { decodePng } from '../../../drivers/amr/map/png.js';
import { run } from '../../support/cli/fake-io.js';
import { itWithShared } from '../../support/shared-data.js';

const dir = mkdtempSync(join(tmpdir(), 'da-map-plan-'));
const map = join(dir, 'map.yaml');
afterAll(() => rmSync(dir, { recursive: true }));

/** 4 × 3 m inside walls; a wall with a gap of 0.8 m at its upper end stands across it at x = 2 m. */
beforeAll(() => {
  const [width, height] = [80, 60];
  const cells = new Int8Array(width * height);
  for (let i = 0; i < width; i++) cells[i] = cells[(height - 1) * width + i] = 100;
  for (let j = 0; j < height; j++) cells[j * width] = cells[j * width + width - 1] = 100;
  for (let j = 0; j < 43; j++) cells[j * width + 40] = 100;
  const polygon = [
    { x: 2.1, y: 0.1 },
    { x: 3.9, y: 0.1 },
    { x: 3.9, y: 2.9 },
    { x: 2.1, y: 2.9 },
  ];
  const room = { id: '1', name: '거실', aliases: ['living room'], polygon, goal: { x: 3, y: 0.6, theta: 0 } };
  const grid = { width, height, resolution: 0.05, origin: { x: 0, y: 0, theta: 0 }, cells };
  saveMapBundle(map, mapBundle(grid, { rooms: [room], station: null, keepout: [], speedAreas: [] }));
});

describe('map plan', () => {
  it('finds the way round a wall without a daemon, and says how long and how narrow it is', async () => {
    const ran = await run(['map', 'plan', map, '--from', '1,0.6', '--to', 'living room', '--json']);
    const way = JSON.parse(ran.out);
    expect(way).toMatchObject({ ok: true, straight: 2, picture: null });
    // Over the end of the wall, 0.21 m clear of it, the shortest way is 4.2 m.
    expect(way.length).toBeGreaterThan(4.1);
    expect(way.length).toBeLessThan(4.8);
    expect(way.clearance).toBeGreaterThanOrEqual(0.21);
    expect(way.path.at(-1)).toMatchObject({ x: 3, y: 0.6 });
  });

  it('draws it', async () => {
    const png = join(dir, 'way.png');
    const ran = await run(['map', 'plan', map, '--from', '1,0.6', '--to', '3,0.6', '--png', png]);
    expect(ran.out).toContain(`picture written: ${png}`);
    expect(decodePng(readFileSync(png), png)).toMatchObject({ width: 960, height: 720, channels: 3 });
  });

  it('has no way for a robot that does not fit, and exits 1', async () => {
    const wide = await run(['map', 'plan', map, '--from', '1,0.6', '--to', '3,0.6', '--radius', '0.4']);
    expect([wide.code, wide.err]).toEqual([1, expect.stringContaining('no way from (1.00, 0.60)')]);
  });

  it('refuses what is no place, no room and no radius, with what is allowed', async () => {
    const from = async (place: string) => run(['map', 'plan', map, '--from', place, '--to', '거실']);
    expect(await from('1,2,x')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--from: found 1,2,x'),
    });
    expect(await from('kitchen')).toMatchObject({ code: 1, err: expect.stringContaining('--from') });
    expect(await from('1..2,3')).toMatchObject({ code: 2 });
    const radius = await run(['map', 'plan', map, '--from', '1,1', '--to', '거실', '--radius', '3']);
    expect([radius.code, radius.err]).toEqual([2, expect.stringContaining('0.05 to 1')]);
  });

  itWithShared('plans and draws on maps that others made', 'maps', async (maps) => {
    const cases = [
      ['aws_small_house/map.yaml', '0,0', '5,1'],
      ['nav2_bringup/warehouse.yaml', '-5,-12', '5,20'],
      ['nav2_bringup/tb3_sandbox.yaml', '-2,-0.5', '2,0.5'],
    ] as const;
    for (const [name, from, to] of cases) {
      const png = join(dir, 'other.png');
      const line = ['map', 'plan', join(maps, name), `--from=${from}`, `--to=${to}`, '--png', png];
      const way = JSON.parse((await run([...line, '--json'])).out);
      expect(way.length).toBeGreaterThanOrEqual(way.straight);
      expect(way.clearance).toBeGreaterThan(0.2);
      expect(decodePng(readFileSync(png), png).width).toBeGreaterThan(600);
    }
  });
});

describe('map draw', () => {
  it('draws the map alone, and names a file that is not there', async () => {
    const png = join(dir, 'map.png');
    expect((await run(['map', 'draw', map, '--png', png])).out).toBe(`picture written: ${png} (960 × 720)\n`);
    const missing = await run(['map', 'draw', join(dir, 'none.yaml'), '--png', png]);
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('none.yaml')]);
  });
});

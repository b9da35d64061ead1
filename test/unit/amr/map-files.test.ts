import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holdsMap, loadMapBundle, mapBundle, saveMapBundle } from '../../../drivers/amr/map/bundle.js';
import { MapError } from '../../../drivers/amr/map/map-error.js';
import { gridFromRaster, loadMapFile, mapFileOf, parseMapYaml } from '../../../drivers/amr/map/map-server.js';
import { decodePgm, encodePgm } from '../../../drivers/amr/map/pgm.js';
import { decodePng } from '../../../drivers/amr/map/png.js';
import type { OccupancyGrid } from '../../../drivers/amr/types.js';
import { itWithShared } from '../../support/shared-data.js';
import { EMPTY_AREAS, flat } from './support/grids.js';

const bytes = (text: string, ...rest: number[]) => new Uint8Array([...Buffer.from(text, 'latin1'), ...rest]);
const YAML =
  'image: map.pgm\nresolution: 0.05\norigin: [-1, 2, 0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n';

function problem(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(MapError);
    return (error as MapError).message;
  }
  throw new Error('nothing was refused');
}

describe('PGM images', () => {
  it('reads binary images with comments between all header tokens', () => {
    const image = decodePgm(
      bytes('P5 # one\n#two\n2 # w\n 3\t\n# max\n255\n', 0, 254, 205, 1, 2, 3),
      'm.pgm',
    );
    expect(image).toMatchObject({ format: 'P5', width: 2, height: 3, maxval: 255 });
    expect(image.comments).toEqual([' one', 'two', ' w', ' max']);
    expect([...image.samples]).toEqual([0, 254, 205, 1, 2, 3]);
  });

  it('takes the first byte after one white space as a pixel, also when it looks like white space', () => {
    expect([...decodePgm(bytes('P5\n2 1\n255\n', 10, 32), 'm.pgm').samples]).toEqual([10, 32]);
  });

  it('reads plain images, and two-byte samples most significant byte first', () => {
    expect([...decodePgm(bytes('P2\n2 2\n15\n0 1 # a\n14 15\n'), 'm.pgm').samples]).toEqual([0, 1, 14, 15]);
    expect([...decodePgm(bytes('P5 1 2 65535\n', 1, 2, 255, 254), 'm.pgm').samples]).toEqual([258, 65534]);
  });

  it('gives back every image bit by bit', () => {
    const image = fc
      .record({
        format: fc.constantFrom('P2' as const, 'P5' as const),
        width: fc.integer({ min: 1, max: 12 }),
        height: fc.integer({ min: 1, max: 12 }),
        maxval: fc.constantFrom(1, 100, 255, 256, 1000, 65535),
        comments: fc.array(
          fc.string({ maxLength: 10 }).map((s) => s.replaceAll(/[^ -~]/g, '')),
          { maxLength: 2 },
        ),
      })
      .chain((head) =>
        fc
          .array(fc.integer({ min: 0, max: head.maxval }), {
            minLength: head.width * head.height,
            maxLength: head.width * head.height,
          })
          .map((list) => ({
            ...head,
            samples: head.maxval > 255 ? Uint16Array.from(list) : Uint8Array.from(list),
          })),
      );
    fc.assert(
      fc.property(image, (img) => {
        expect(decodePgm(encodePgm(img), 'm.pgm')).toEqual({ ...img, channels: 1 });
      }),
    );
  });

  it('never does worse than a MapError on damaged bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 60 }),
        fc.constantFrom('P5', 'P2', 'P5\n3 3\n255\n', ''),
        (tail, head) => {
          try {
            decodePgm(bytes(head, ...tail), 'm.pgm');
          } catch (error) {
            expect(error).toBeInstanceOf(MapError);
          }
        },
      ),
    );
  });

  it('names what is wrong with an image', () => {
    expect(problem(() => decodePgm(bytes('P6\n1 1\n255\n', 0), 'm.pgm'))).toBe(
      'm.pgm: magic number: found "P6"; P5 or P2 is needed',
    );
    expect(problem(() => decodePgm(bytes('P5\n-3 1\n255\n'), 'm.pgm'))).toContain('width: found "-3"');
    expect(problem(() => decodePgm(bytes('P5\n0 1\n255\n'), 'm.pgm'))).toContain('width: found 0');
    expect(problem(() => decodePgm(bytes('P5\n2 2\n255\n', 1, 2, 3), 'm.pgm'))).toContain(
      'pixels: found 3 bytes; width × height announces 4',
    );
    expect(problem(() => decodePgm(bytes('P5\n1 1\n255\n', 1, 2, 3, 4, 5), 'm.pgm'))).toContain(
      'announces only 1',
    );
    expect(problem(() => decodePgm(bytes('P5\n999999 999999\n255\n'), 'm.pgm'))).toContain(
      'at most 64000000 cells',
    );
    expect(problem(() => decodePgm(bytes('P5\n1 1\n70000\n', 1), 'm.pgm'))).toContain('maxval: found 70000');
    expect(problem(() => decodePgm(bytes('P2\n2 1\n9\n1 10\n'), 'm.pgm'))).toContain('pixel 1: found 10');
    expect(problem(() => decodePgm(bytes('P2\n9000 7000\n9\n1 1\n'), 'm.pgm'))).toContain(
      'the file has fewer',
    );
    expect(problem(() => decodePgm(bytes('P5\n1'), 'm.pgm'))).toContain('height: the file ends before it');
  });
});

describe('occupancy from pixels', () => {
  const grey = (...samples: number[]) => ({
    width: samples.length,
    height: 1,
    channels: 1 as const,
    maxval: 255,
    samples: Uint8Array.from(samples),
  });
  const meta = parseMapYaml(YAML, 'm.yaml');

  it('follows map_server: trinary, scale and raw', () => {
    expect([...gridFromRaster(grey(0, 254, 205, 89), meta).cells]).toEqual([100, 0, -1, 100]);
    expect([...gridFromRaster(grey(0, 255, 128), { ...meta, mode: 'scale' }).cells]).toEqual([100, 0, 67]);
    expect([...gridFromRaster(grey(0, 55, 100, 101, 255), { ...meta, mode: 'raw' }).cells]).toEqual([
      0, 55, 100, -1, -1,
    ]);
  });

  it('turns black and white round when the file says negate', () => {
    expect([...gridFromRaster(grey(0, 254), { ...meta, negate: true }).cells]).toEqual([0, 100]);
  });

  it('puts the lowest image row first', () => {
    const image = {
      width: 1,
      height: 2,
      channels: 1 as const,
      maxval: 255,
      samples: Uint8Array.from([0, 254]),
    };
    expect([...gridFromRaster(image, meta).cells]).toEqual([0, 100]);
  });

  it('keeps any grid exactly, through the files and back', () => {
    const grid = fc.record({
      width: fc.integer({ min: 1, max: 9 }),
      height: fc.integer({ min: 1, max: 9 }),
      resolution: fc.double({ min: 0.01, max: 2, noNaN: true }),
      x: fc.double({ min: -50, max: 50, noNaN: true }),
      theta: fc.double({ min: -3, max: 3, noNaN: true }),
      coarse: fc.boolean(),
      seed: fc.array(fc.integer({ min: -1, max: 100 }), { minLength: 81, maxLength: 81 }),
    });
    fc.assert(
      fc.property(grid, (g) => {
        const cells = Int8Array.from(g.seed.slice(0, g.width * g.height), (c) =>
          g.coarse ? (c < 0 ? -1 : c < 50 ? 0 : 100) : c,
        );
        const { width, height, resolution, x, theta } = g;
        const original: OccupancyGrid = { width, height, resolution, origin: { x, y: -x, theta }, cells };
        const folder = mkdtempSync(join(tmpdir(), 'da-map-'));
        saveMapBundle(join(folder, 'm.yaml'), { grid: original, areas: EMPTY_AREAS });
        expect(loadMapFile(join(folder, 'm.yaml')).grid).toEqual(original);
      }),
      { numRuns: 25 },
    );
  });
});

describe('the YAML file', () => {
  it('names file, field, value and what is allowed', () => {
    const say = (from: string, to: string) => problem(() => parseMapYaml(YAML.replace(from, to), 'm.yaml'));
    expect(say('0.05', '-0.05')).toBe('m.yaml: resolution: found -0.05; metres per cell, above 0');
    expect(say('0.05', '.nan')).toContain('resolution: found NaN');
    expect(say('[-1, 2, 0]', '[-1, 2]')).toContain('origin');
    expect(say('[-1, 2, 0]', '[-1, .inf, 0]')).toContain('origin.1: found Infinity');
    expect(say('negate: 0', 'negate: 2')).toContain('negate: found 2; 0 or 1');
    expect(say('free_thresh: 0.196', 'free_thresh: 0.9')).toContain(
      'free_thresh: found 0.9; must be below occupied_thresh',
    );
    expect(say('free_thresh: 0.196', 'mode: colour\nfree_thresh: 0.1')).toContain('trinary, scale or raw');
    expect(say('image: map.pgm\n', '')).toContain('image: found nothing');
    expect(say('image: map.pgm', 'image: [')).toContain('m.yaml: YAML: ');
    expect(problem(() => parseMapYaml('', 'm.yaml'))).toContain('m.yaml');
    expect(problem(() => parseMapYaml('just text', 'm.yaml'))).toContain('m.yaml');
  });

  it('says when the image is missing, and which file wanted it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'da-map-'));
    writeFileSync(join(folder, 'm.yaml'), YAML);
    const message = problem(() => loadMapFile(join(folder, 'm.yaml')));
    expect(message).toContain('m.yaml: image:');
    expect(message).toContain('map.pgm');
    expect(problem(() => loadMapFile(join(folder, 'none.yaml')))).toContain('cannot be read');
  });

  it('refuses a YAML file that is far too large before reading it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'da-map-'));
    writeFileSync(join(folder, 'm.yaml'), '#'.repeat(100_000));
    expect(problem(() => loadMapFile(join(folder, 'm.yaml')))).toContain('size: found 100000 bytes');
  });
});

describe('PNG images', () => {
  it('reads grey with opacity, each row filter, and gives transparent pixels no occupancy', () => {
    const rows = [
      [0, 10, 255, 20, 255],
      [1, 10, 255, 10, 0],
      [2, 0, 0, 0, 0],
      [3, 5, 128, 5, 127],
      [4, 1, 0, 1, 0],
    ];
    const image = decodePng(png(2, 5, 8, 4, rows.flat()), 'm.png');
    expect(image).toMatchObject({ width: 2, height: 5, channels: 2, maxval: 255 });
    expect([...image.samples.slice(0, 8)]).toEqual([10, 255, 20, 255, 10, 255, 20, 255]);
    const meta = { ...parseMapYaml(YAML, 'm.yaml'), mode: 'scale' as const };
    const clear = decodePng(png(2, 1, 8, 4, [0, 0, 255, 0, 0]), 'm.png');
    expect([...gridFromRaster(clear, meta).cells]).toEqual([100, -1]);
  });

  it('reads one bit per pixel', () => {
    expect([...decodePng(png(10, 1, 1, 0, [0, 0b10100000, 0b01000000]), 'm.png').samples]).toEqual([
      1, 0, 1, 0, 0, 0, 0, 0, 0, 1,
    ]);
  });

  it('refuses what a damaged file would lead to', () => {
    const good = png(2, 1, 8, 0, [0, 1, 2]);
    const flipped = good.slice();
    flipped[20] = 9;
    expect(problem(() => decodePng(flipped, 'm.png'))).toContain('IHDR: its checksum is wrong');
    expect(problem(() => decodePng(good.slice(0, 40), 'm.png'))).toContain('m.png');
    expect(problem(() => decodePng(png(2, 2, 8, 0, [0, 1, 2]), 'm.png'))).toContain('the header announces 6');
    expect(problem(() => decodePng(png(60_000, 60_000, 8, 0, [0]), 'm.png'))).toContain('at most');
  });
});

describe('map bundles', () => {
  it('have the same id for the same content, wherever it lies, and another for another', () => {
    const folder = mkdtempSync(join(tmpdir(), 'da-map-'));
    mkdirSync(join(folder, 'a'));
    mkdirSync(join(folder, 'b'));
    saveMapBundle(join(folder, 'a', 'map.yaml'), flat());
    for (const f of ['map.yaml', 'map.pgm', 'areas.yaml']) {
      copyFileSync(join(folder, 'a', f), join(folder, 'b', f));
    }
    const a = loadMapBundle(join(folder, 'a', 'map.yaml'));
    expect(a.id).toBe(flat().id);
    expect(loadMapBundle(join(folder, 'b', 'map.yaml')).id).toBe(a.id);
    expect(a.areas).toEqual(flat().areas);
    const other = flat();
    other.grid.cells[100] = -1;
    expect(mapBundle(other.grid, other.areas).id).not.toBe(a.id);
  });
});

describe('maps that are handed on', () => {
  const image = (format: 'P2' | 'P5', comments: readonly string[]) =>
    encodePgm({
      format,
      width: 3,
      height: 2,
      maxval: 100,
      comments,
      samples: Uint8Array.of(0, 99, 50, 7, 100, 3),
    });

  it('keep their image to the last bit, and what the YAML means: mode, negate, thresholds, a turned origin', () => {
    const meta = fc.record({
      mode: fc.constantFrom('trinary', 'scale', 'raw'),
      negate: fc.constantFrom(0, 1),
      free: fc.double({ min: 0, max: 0.4, noNaN: true }),
      occupied: fc.double({ min: 0.5, max: 1, noNaN: true }),
      origin: fc.tuple(
        fc.double({ min: -100, max: 100, noNaN: true }),
        fc.double({ min: -100, max: 100, noNaN: true }),
        fc.double({ min: -4, max: 4, noNaN: true }),
      ),
      resolution: fc.double({ min: 0.01, max: 1, noNaN: true }),
      format: fc.constantFrom('P2' as const, 'P5' as const),
      comments: fc.constantFrom([], [' made by hand', 'twice']),
    });
    fc.assert(
      fc.property(meta, (m) => {
        const folder = mkdtempSync(join(tmpdir(), 'da-map-'));
        const yaml = `image: other.pgm\nmode: ${m.mode}\nresolution: ${m.resolution}\norigin: [${m.origin.join()}]\nnegate: ${m.negate}\noccupied_thresh: ${m.occupied}\nfree_thresh: ${m.free}\n`;
        writeFileSync(join(folder, 'other.yaml'), yaml);
        writeFileSync(join(folder, 'other.pgm'), image(m.format, m.comments));
        const bundle = loadMapBundle(join(folder, 'other.yaml'));
        // Other areas on the same ground are the same map as far as its image goes.
        saveMapBundle(join(folder, 'map.yaml'), mapBundle(bundle.grid, EMPTY_AREAS));
        expect(readFileSync(join(folder, 'map.pgm')).equals(image(m.format, m.comments))).toBe(true);
        const again = loadMapFile(join(folder, 'map.yaml'));
        expect(again.meta).toEqual({ ...parseMapYaml(yaml, 'm.yaml'), image: 'map.pgm' });
        expect(again.grid).toEqual(bundle.grid);
        rmSync(folder, { recursive: true });
      }),
      { numRuns: 30 },
    );
  });

  it('are written anew when what they hold was changed', () => {
    const folder = mkdtempSync(join(tmpdir(), 'da-map-'));
    saveMapBundle(join(folder, 'm.yaml'), flat());
    const { grid, areas } = loadMapBundle(join(folder, 'm.yaml'));
    grid.cells[100] = -1;
    saveMapBundle(join(folder, 'n.yaml'), { grid, areas });
    expect(loadMapFile(join(folder, 'n.yaml')).grid).toEqual(grid);
  });

  it('are the same map where the image is the same, and not where another file shows the same', () => {
    const folder = mkdtempSync(join(tmpdir(), 'da-map-'));
    const [plain, binary] = (['P2', 'P5'] as const).map((format) => {
      writeFileSync(join(folder, 'map.pgm'), image(format, []));
      writeFileSync(join(folder, `${format}.yaml`), YAML);
      return loadMapBundle(join(folder, `${format}.yaml`));
    });
    if (plain === undefined || binary === undefined) throw new Error('two maps were read');
    expect(binary.id).toBe(plain.id);
    // The image is the binary one now.
    expect(holdsMap(join(folder, 'P5.yaml'), binary)).toBe(true);
    expect(holdsMap(join(folder, 'P5.yaml'), plain)).toBe(false);
    expect(holdsMap(join(folder, 'P5.yaml'), mapBundle({ ...binary.grid }, binary.areas))).toBe(true);
    expect(holdsMap(join(folder, 'none.yaml'), binary)).toBe(false);
  });
});

describe('maps of other people', () => {
  const maps = [
    'aws_small_house/map',
    'nav2_bringup/depot',
    'nav2_bringup/depot_keepout',
    'nav2_bringup/depot_speed',
  ];
  maps.push('nav2_bringup/tb3_sandbox', 'nav2_bringup/warehouse', 'nav2_costmap_2d_test/TenByTen');
  for (const name of maps) {
    itWithShared(`reads ${name} and writes it back exactly`, `maps/${name}.yaml`, (path) => {
      const { raster, grid } = loadMapFile(path);
      const original = readFileSync(path.replace('.yaml', '.pgm'));
      const image = decodePgm(original, path);
      expect(Buffer.from(encodePgm(image)).equals(original)).toBe(true);
      expect(raster.width * raster.height).toBe(grid.cells.length);
      const again = mapFileOf(grid, 'x.pgm');
      const cells = gridFromRaster(again.image, again.meta).cells;
      expect(Buffer.from(cells.buffer).equals(Buffer.from(grid.cells.buffer))).toBe(true);
    });
  }

  for (const name of [...maps, 'nav2_map_server_test/testmap']) {
    itWithShared(
      `hands ${name} on bit by bit, with the same YAML but for the image's name`,
      `maps/${name}.yaml`,
      (path) => {
        const folder = mkdtempSync(join(tmpdir(), 'da-map-'));
        const { meta, image } = loadMapFile(path);
        // Twice, as an import and an export do it.
        saveMapBundle(join(folder, 'a.yaml'), loadMapBundle(path));
        saveMapBundle(join(folder, 'b.yaml'), loadMapBundle(join(folder, 'a.yaml')));
        const again = loadMapFile(join(folder, 'b.yaml'));
        expect(Buffer.from(again.image).equals(Buffer.from(image))).toBe(true);
        expect(again.meta).toEqual({ ...meta, image: expect.stringMatching(/^b\.(pgm|png)$/) });
        rmSync(folder, { recursive: true });
      },
    );
  }

  itWithShared(
    'reads the rotated map from its PNG as from its PGM',
    'maps/nav2_map_server_test/testmap.yaml',
    (path) => {
      const { grid } = loadMapFile(path);
      expect(grid).toMatchObject({
        width: 10,
        height: 10,
        resolution: 0.1,
        origin: { x: 2, y: 3, theta: 1 },
      });
      const pgm = decodePgm(readFileSync(path.replace('.yaml', '.pgm')), path);
      const meta = parseMapYaml(readFileSync(path, 'utf8'), path);
      expect([...grid.cells]).toEqual([...gridFromRaster(pgm, meta).cells]);
    },
  );

  for (const name of ['nav2_map_server_test/invalid_image', 'nav2_system_tests/empty_room']) {
    itWithShared(`says what is missing of ${name}`, `maps/${name}.yaml`, (path) => {
      expect(problem(() => loadMapFile(path))).toMatch(/image: .*cannot be read/);
    });
  }
});

/** A PNG with one IDAT; `rows` with their filter bytes. */
function png(width: number, height: number, depth: number, colour: number, rows: number[]): Uint8Array {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = depth;
  head[9] = colour;
  const parts = [
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Uint8Array.from(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return new Uint8Array(
    Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), ...parts]),
  );
}

function chunk(type: string, body: Buffer): Buffer {
  const out = Buffer.alloc(12 + body.length);
  out.writeUInt32BE(body.length, 0);
  out.write(type, 4, 'latin1');
  body.copy(out, 8);
  let crc = 0xffffffff;
  for (const b of out.subarray(4, 8 + body.length)) {
    crc ^= b;
    for (let k = 0; k < 8; k++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  out.writeUInt32BE((crc ^ 0xffffffff) >>> 0, 8 + body.length);
  return out;
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mapPicture } from '../../../drivers/amr/map/map-picture.js';
import { decodePng } from '../../../drivers/amr/map/png.js';
import { encodePng, type Picture } from '../../../drivers/amr/map/png-encode.js';
import type { OccupancyGrid } from '../../../drivers/amr/types.js';
import { EMPTY_AREAS } from './support/grids.js';

const pixel = ({ width, rgb }: Picture, x: number, y: number) => [
  ...rgb.subarray((y * width + x) * 3, (y * width + x) * 3 + 3),
];
const [WHITE, BLACK, GREY] = [
  [255, 255, 255],
  [30, 33, 38],
  [216, 217, 214],
];

/** 10 × 6 cells of 10 cm, free, with a wall along the lower edge and one unknown cell in the upper right corner. */
function grid(theta = 0): OccupancyGrid {
  const cells = new Int8Array(60);
  cells.fill(100, 0, 10);
  cells[59] = -1;
  return { width: 10, height: 6, resolution: 0.1, origin: { x: -1, y: 2, theta }, cells };
}

describe('a picture of a map', () => {
  it('has the lower left cell of the grid at its lower left, whole pixels a cell, unknown apart from free', () => {
    const picture = mapPicture(grid(), EMPTY_AREAS, { size: 100 });
    expect([picture.width, picture.height]).toEqual([100, 60]);
    expect(pixel(picture, 5, 59)).toEqual(BLACK);
    expect(pixel(picture, 5, 50)).toEqual(BLACK);
    expect(pixel(picture, 5, 49)).toEqual(WHITE);
    expect(pixel(picture, 99, 0)).toEqual(GREY);
    expect(pixel(picture, 89, 0)).toEqual(WHITE);
  });

  it('keeps a wall one cell thick when the map is larger than the picture', () => {
    const cells = new Int8Array(400 * 400);
    for (let row = 0; row < 400; row++) cells[row * 400 + 201] = 100;
    const large = { width: 400, height: 400, resolution: 0.05, origin: { x: 0, y: 0, theta: 0 }, cells };
    const picture = mapPicture(large, EMPTY_AREAS, { size: 90 });
    const dark = Array.from({ length: picture.height }, (_, y) => pixel(picture, 45, y));
    expect(new Set(dark.map(String))).toEqual(new Set([String(BLACK)]));
  });

  it('shows rooms, closed areas, the station and a way where they are, also on a grid that is turned', () => {
    const turned = grid(Math.PI / 2);
    // The grid's x axis points along the map's y: cell (i, j) lies at (-1 - j/10, 2 + i/10).
    const at = (i: number, j: number) => ({ x: -1 - (j + 0.5) / 10, y: 2 + (i + 0.5) / 10 });
    const box = (i: number, j: number) => [
      { x: -1 - j / 10, y: 2 + i / 10 },
      { x: -1 - (j + 1) / 10, y: 2 + i / 10 },
      { x: -1 - (j + 1) / 10, y: 2 + (i + 1) / 10 },
      { x: -1 - j / 10, y: 2 + (i + 1) / 10 },
    ];
    const picture = mapPicture(
      turned,
      {
        rooms: [{ id: '1', name: '방', aliases: [], polygon: box(1, 4), goal: { ...at(1, 4), theta: 0 } }],
        station: { room: '1', pose: { ...at(5, 3), theta: 0 } },
        keepout: [{ id: 'k', polygon: box(8, 4) }],
        speedAreas: [],
      },
      {
        size: 100,
        paths: [
          [
            { ...at(1, 2), theta: 0 },
            { ...at(8, 2), theta: 0 },
          ],
        ],
      },
    );
    const seen = (i: number, j: number) => pixel(picture, i * 10 + 5, 59 - (j * 10 + 5));
    expect(seen(0, 4)).toEqual(WHITE);
    expect(seen(1, 4)).not.toEqual(WHITE);
    const [red, green] = seen(8, 4);
    expect(red).toBeGreaterThan((green ?? 255) + 50);
    const [, stationGreen, stationBlue] = seen(5, 3);
    expect(stationGreen).toBeGreaterThan((stationBlue ?? 255) + 30);
    const [wayRed, , wayBlue] = seen(4, 2);
    expect(wayBlue).toBeGreaterThan((wayRed ?? 255) + 100);
  });

  it('is a PNG that a reader of PNG takes back bit for bit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 }), (width, height) => {
        const rgb = Uint8Array.from({ length: width * height * 3 }, (_, i) => (i * 31) % 256);
        const read = decodePng(encodePng({ width, height, rgb }), 'picture.png');
        expect(read).toMatchObject({ width, height, channels: 3, maxval: 255 });
        expect([...read.samples]).toEqual([...rgb]);
      }),
      { numRuns: 30 },
    );
  });
});

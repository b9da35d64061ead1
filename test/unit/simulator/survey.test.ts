import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createWorld, createWorldFromMap, worldToMap } from '../../../simulator/world/index.js';
import { clearanceAt, ROBOT } from '../../../simulator/world/layout.js';
import { readRosMap } from '../../../simulator/world/ros-map.js';
import { itWithShared } from '../../support/shared-data.js';

const dir = mkdtempSync(join(tmpdir(), 'sim-survey-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function write(name: string, bundle: ReturnType<typeof worldToMap>, areas = true): string {
  writeFileSync(join(dir, 'map.pgm'), bundle.pgm);
  writeFileSync(join(dir, name), bundle.mapYaml);
  if (areas) writeFileSync(join(dir, 'areas.yaml'), bundle.areasYaml);
  else rmSync(join(dir, 'areas.yaml'), { force: true });
  return join(dir, name);
}

/** Pixel value at a point of the map, from the PGM and YAML alone. */
function pixelReader(bundle: ReturnType<typeof worldToMap>): (x: number, y: number) => number {
  const header = new TextDecoder('latin1').decode(bundle.pgm.subarray(0, 32));
  const match = /^P5\n(\d+) (\d+)\n255\n/.exec(header);
  if (match === null) throw new Error(`not a PGM header: ${header}`);
  const [width, height] = [Number(match[1]), Number(match[2])];
  const meta = parse(bundle.mapYaml) as { resolution: number; origin: [number, number, number] };
  expect(bundle.pgm.length).toBe(match[0].length + width * height);
  return (x, y) => {
    const column = Math.floor((x - meta.origin[0]) / meta.resolution);
    const row = Math.floor((y - meta.origin[1]) / meta.resolution);
    return bundle.pgm[match[0].length + (height - 1 - row) * width + column] ?? -1;
  };
}

describe('the survey of the two-bedroom home', () => {
  const world = createWorld();
  const bundle = worldToMap(world, 0.05);
  const pixel = pixelReader(bundle);

  it('is a map_server map: walls and furniture 0, floor 254, outdoors 205', () => {
    expect(pixel(0.0, 3.5)).toBe(0);
    expect(pixel(4.9, 6.5)).toBe(0);
    expect(pixel(4.6, 3.4)).toBe(254);
    expect(pixel(-0.2, 3.0)).toBe(205);
    expect(parse(bundle.mapYaml)).toMatchObject({
      image: 'map.pgm',
      resolution: 0.05,
      negate: 0,
      occupied_thresh: 0.65,
      free_thresh: 0.196,
    });
  });

  it('shows every door wide enough for the robot', () => {
    for (const y of [4.6, 4.8, 5.0]) expect(pixel(6.4, y)).toBe(254);
    for (const y of [3.55, 3.9, 4.25]) expect(pixel(3.4, y)).toBe(254);
  });

  it('has areas.yaml with rooms, the pose on the station facing the wall, and the step as off limits', () => {
    const areas = parse(bundle.areasYaml) as {
      version: number;
      rooms: { id: string; name: string; goal: number[]; polygon: number[][] }[];
      station: { room: string; pose: number[] };
      keepout: { id: string }[];
    };
    expect(areas.version).toBe(1);
    expect(areas.rooms.map((r) => [r.id, r.name])).toContainEqual(['4', '안방']);
    expect(areas.station.room).toBe('2');
    const { x, y } = world.view().pose;
    expect(areas.station.pose.slice(0, 2)).toEqual([x, y]);
    expect(Math.cos(areas.station.pose[2] ?? 0)).toBeCloseTo(-1);
    expect(areas.keepout.map((k) => k.id)).toEqual(['front_step']);
    for (const room of areas.rooms) expect(pixel(room.goal[0] ?? 0, room.goal[1] ?? 0)).toBe(254);
  });

  it('is the same every time', () => {
    expect(worldToMap(createWorld(undefined, { seed: 9 }), 0.05)).toEqual(bundle);
  });

  it('refuses a resolution that makes no sense', () => {
    expect(() => worldToMap(world, 3)).toThrow(/resolution: found 3/);
  });
});

describe('a world from a ROS map', () => {
  const original = createWorld();
  const path = write('map.yaml', worldToMap(original, 0.05));
  const world = createWorldFromMap(path);

  it('has the rooms, the dock and the doors of the map it came from', () => {
    expect(world.layout.rooms.map((r) => r.name)).toEqual(original.layout.rooms.map((r) => r.name));
    expect(world.view().docked).toBe(true);
    const width = (a: number, b: number) =>
      world.layout.openings.find((o) => o.a === a && o.b === b)?.width ?? 0;
    expect(width(1, 4)).toBeCloseTo(0.62, 1);
    expect(width(1, 3)).toBeCloseTo(0.8, 1);
    expect(world.layout.openings).toHaveLength(4);
  });

  it('is seen by the lidar as the original is, within a cell or two', () => {
    const pose = { x: 4.6, y: 3.4, theta: 0.3 };
    const errors = Array.from({ length: 360 }, (_, d) => {
      const bearing = (d * Math.PI) / 180;
      return Math.abs(world.lidar.trueRange(pose, bearing, []) - original.lidar.trueRange(pose, bearing, []));
    }).sort((a, b) => a - b);
    expect(errors[180]).toBeLessThan(0.05);
    expect(errors[324]).toBeLessThan(0.15);
  });

  it('gives back the map it was made from', () => {
    expect(worldToMap(world).pgm).toEqual(worldToMap(original, 0.05).pgm);
  });

  it('stops the robot at its walls', () => {
    world.place({ x: 4.6, y: 3.4, theta: 0 });
    world.body.command.left = 0.3;
    world.body.command.right = 0.3;
    for (let i = 0; i < 800; i++) world.step(15);
    expect(world.body.bump.left || world.body.bump.right).toBe(true);
    expect(clearanceAt(world.layout, world.body.pose.x, world.body.pose.y, 1)).toBeGreaterThan(
      ROBOT.radius - 1e-6,
    );
  });

  it('without areas is one room without a dock; the robot starts where there is most space', () => {
    const bare = createWorldFromMap(write('bare.yaml', worldToMap(original, 0.05), false));
    expect(bare.layout.rooms.map((r) => r.name)).toEqual(['map']);
    expect(bare.view()).toMatchObject({ docked: false, room: '1' });
    const { x, y } = bare.view().pose;
    expect(clearanceAt(bare.layout, x, y, 3)).toBeGreaterThan(1);
    expect(bare.infrared()).toEqual({ omni: 0, left: 0, right: 0 });
  });

  it('that cannot be read is refused with the file and the reason', () => {
    expect(() => createWorldFromMap(join(dir, 'none.yaml'))).toThrow(/none\.yaml: cannot be read/);
    writeFileSync(join(dir, 'noimage.yaml'), 'image: gone.pgm\nresolution: 0.05\norigin: [0, 0, 0]\n');
    expect(() => createWorldFromMap(join(dir, 'noimage.yaml'))).toThrow(/gone\.pgm: cannot be read/);
    writeFileSync(join(dir, 'short.pgm'), 'P5\n10 10\n255\nabc');
    writeFileSync(join(dir, 'short.yaml'), 'image: short.pgm\nresolution: 0.05\norigin: [0, 0, 0]\n');
    expect(() => createWorldFromMap(join(dir, 'short.yaml'))).toThrow(/short\.pgm: is cut short/);
    writeFileSync(join(dir, 'bad.yaml'), 'image: short.pgm\nresolution: -1\norigin: [0, 0, 0]\n');
    expect(() => createWorldFromMap(join(dir, 'bad.yaml'))).toThrow(/bad\.yaml: resolution: found -1/);
  });

  it('that is no home by its size, or lies elsewhere than its rooms, is refused with the field', () => {
    const bundle = worldToMap(original, 0.05);
    const bare = (name: string, line: RegExp, value: string) => {
      const path = write(name, bundle, false);
      writeFileSync(path, bundle.mapYaml.replace(line, value));
      return () => createWorldFromMap(path);
    };
    expect(bare('wide.yaml', /resolution: .*/, 'resolution: 90')).toThrow(
      /wide\.yaml: resolution: the map covers \d+ × /,
    );
    expect(bare('away.yaml', /origin: .*/, 'origin: [1e300, 0, 0]')).toThrow(
      /away\.yaml: origin: found \[1e\+300, 0\]/,
    );
    const far = write('far.yaml', bundle);
    writeFileSync(far, bundle.mapYaml.replace(/origin: .*/, 'origin: [5000, 5000, 0]'));
    expect(() => createWorldFromMap(far)).toThrow(
      /areas\.yaml: rooms\.0\.goal: .* lies far outside of the map/,
    );
  });

  itWithShared(
    'reads a PNG like the PGM of the same map, with its rotated origin',
    'maps/nav2_map_server_test/testmap.yaml',
    (yaml) => {
      const png = readRosMap(yaml);
      expect(png).toMatchObject({ width: 10, height: 10, resolution: 0.1, origin: { x: 2, y: 3, theta: 1 } });
      const text = readFileSync(yaml, 'utf8').replace('testmap.png', join(dirname(yaml), 'testmap.pgm'));
      writeFileSync(join(dir, 'aspgm.yaml'), text);
      expect(png.cells).toEqual(readRosMap(join(dir, 'aspgm.yaml')).cells);
      expect(png.cells).toContain(100);
      const { pose } = createWorldFromMap(yaml).body;
      expect(Math.hypot(pose.x - 2, pose.y - 3)).toBeLessThan(1.5);
    },
  );

  itWithShared('runs in the AWS small house', 'maps/aws_small_house/map.yaml', (yaml) => {
    const house = createWorldFromMap(yaml);
    house.body.command.left = 0.2;
    house.body.command.right = 0.22;
    for (let i = 0; i < 2000; i++) house.step(15);
    const { x, y } = house.body.pose;
    expect(house.layout.isOccupied(x, y)).toBe(false);
  });
});

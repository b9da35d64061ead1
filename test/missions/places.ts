/** Homes to drive in: the simulator's own, and worlds made from maps of the shared data, with a station somewhere. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { worldToMap } from '../../simulator/world/index.js';
import type { SurveyedMap } from '../../simulator/world/layout.js';
import { mapLayout } from '../../simulator/world/map-layout.js';
import { readRosMap } from '../../simulator/world/ros-map.js';
import { World } from '../../simulator/world/world.js';
import { sharedPath } from '../support/shared-path.js';
import type { Place } from './types.js';

/** Maps with ground that a home's robot can find its way on. */
const MAPS = ['aws_small_house/map.yaml', 'nav2_bringup/depot.yaml'] as const;
/** The simulator's homes, the one with the doors that missions close more often than the others. */
const HOMES = [null, null, 'narrow-flat', 'long-house'] as const;
/** Share of missions that take place in the simulator's own homes, where maps are present. */
const AT_HOME = 0.7;

export function anyPlace(random: () => number): Place {
  const [kind, which] = [random(), random()];
  const present = MAPS.flatMap((name) => {
    const path = sharedPath(`maps/${name}`);
    return path === null ? [] : [{ name, path }];
  });
  const map = present[Math.floor(which * present.length)];
  if (kind < AT_HOME || map === undefined) return home(HOMES[Math.floor(which * HOMES.length)] ?? null);
  return withStation(map.name, map.path, random);
}

/** A home of the simulator; null: the one that comes along first. */
export function home(name: string | null = null): Place {
  const worldFile =
    name === null ? null : fileURLToPath(new URL(`../../simulator/worlds/${name}.yaml`, import.meta.url));
  return { name: name ?? 'two-bedroom', worldFile, mapFile: null, cleanUp: () => {} };
}

/** The map beside an `areas.yaml` with one room and a station against a straight wall. */
function withStation(name: string, yamlPath: string, random: () => number): Place {
  const map = readRosMap(yamlPath);
  const station = anyStation(map, random);
  const dir = mkdtempSync(join(tmpdir(), 'da-mission-'));
  const goal = [station.x - 0.8 * Math.cos(station.theta), station.y - 0.8 * Math.sin(station.theta), 0];
  const [right, top] = [
    map.origin.x + map.width * map.resolution,
    map.origin.y + map.height * map.resolution,
  ];
  const polygon = [
    [map.origin.x, map.origin.y],
    [right, map.origin.y],
    [right, top],
    [map.origin.x, top],
  ];
  const files = worldToMap(new World(mapLayout(map, null, name)));
  writeFileSync(join(dir, 'map.yaml'), files.mapYaml);
  writeFileSync(join(dir, 'map.pgm'), files.pgm);
  writeFileSync(
    join(dir, 'areas.yaml'),
    stringify({
      version: 1,
      rooms: [{ id: '1', name: '전체', aliases: ['everywhere'], polygon, goal }],
      station: { room: '1', pose: [station.x, station.y, station.theta] },
      keepout: [],
      speed_areas: [],
    }),
  );
  return {
    name: name.replace('/map.yaml', '').replace('.yaml', ''),
    worldFile: null,
    mapFile: resolve(dir, 'map.yaml'),
    cleanUp: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** In front of a wall as wide as this, and with this much free ground, cells of the map in metres. */
const WALL = 0.5;
const FREE = { deep: 1.8, wide: 1.2 };
/** The robot's middle on the station, from the wall. */
const FROM_WALL = 0.24;

function anyStation(map: SurveyedMap, random: () => number): { x: number; y: number; theta: number } {
  for (let tries = 0; tries < 500_000; tries++) {
    const turn = Math.floor(random() * 4);
    const theta = (turn * Math.PI) / 2;
    const p = {
      x: map.origin.x + Math.floor(random() * map.width) * map.resolution,
      y: map.origin.y + Math.floor(random() * map.height) * map.resolution,
    };
    if (isStation(map, p, theta)) {
      return {
        x: p.x - FROM_WALL * Math.cos(theta),
        y: p.y - FROM_WALL * Math.sin(theta),
        theta: turn === 3 ? -Math.PI / 2 : theta,
      };
    }
  }
  throw new Error('the map has no wall that a station could stand at');
}

/** `p` lies on the border of a wall that the docked robot would face along `theta`. */
function isStation(map: SurveyedMap, p: { x: number; y: number }, theta: number): boolean {
  const [c, s] = [Math.cos(theta), Math.sin(theta)];
  const value = (ahead: number, left: number) => {
    const u = Math.floor((p.x + c * ahead - s * left - map.origin.x) / map.resolution + 1e-6);
    const v = Math.floor((p.y + s * ahead + c * left - map.origin.y) / map.resolution + 1e-6);
    return u < 0 || v < 0 || u >= map.width || v >= map.height ? -1 : (map.cells[v * map.width + u] ?? -1);
  };
  const step = map.resolution;
  for (let left = -WALL / 2; left <= WALL / 2; left += step) if (value(step / 2, left) !== 100) return false;
  for (let back = step / 2; back < FREE.deep; back += step) {
    for (let left = -FREE.wide / 2; left <= FREE.wide / 2; left += step) {
      if (value(-back, left) !== 0) return false;
    }
  }
  return true;
}

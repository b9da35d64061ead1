import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeAllWhole } from '../../write-whole.js';
import type { Areas, MapBundle, OccupancyGrid } from '../types.js';
import { areasText, NO_AREAS, parseAreas } from './areas.js';
import { loadMapFile, mapFileOf, mapYamlText, readText } from './map-server.js';
import { encodePgm } from './pgm.js';

/** Beside the map's YAML. */
export const AREAS_FILE = 'areas.yaml';

/**
 * Reads a ROS map and the `areas.yaml` beside it (none: a map without rooms). Reads files synchronously: call it
 * while the robot stands. Throws `MapError`.
 */
export function loadMapBundle(yamlPath: string): MapBundle {
  const { grid } = loadMapFile(yamlPath);
  const areasPath = join(dirname(yamlPath), AREAS_FILE);
  const areas = existsSync(areasPath) ? parseAreas(readText(areasPath), areasPath) : NO_AREAS;
  return mapBundle(grid, areas);
}

/** A bundle from a grid in memory. */
export function mapBundle(grid: OccupancyGrid, areas: Areas): MapBundle {
  return { id: contentId(grid, areas), grid, areas };
}

/** The same ground, whatever is drawn on it. */
export function sameGrid(a: OccupancyGrid, b: OccupancyGrid): boolean {
  if (a === b) return true;
  const lie = ({ width, height, resolution, origin }: OccupancyGrid) =>
    [width, height, resolution, origin.x, origin.y, origin.theta].join();
  return lie(a) === lie(b) && a.cells.every((cell, i) => cell === b.cells[i]);
}

/** Writes `yamlPath`, the image beside it and `areas.yaml`: all of them, whole, or none. */
export function saveMapBundle(yamlPath: string, bundle: Pick<MapBundle, 'grid' | 'areas'>): void {
  writeAllWhole(bundleFiles(yamlPath, bundle).map((file) => ({ ...file, flush: true })));
}

/** The files of a bundle whose YAML is `yamlPath`; the YAML, which names the image, is the last. */
export function bundleFiles(
  yamlPath: string,
  bundle: Pick<MapBundle, 'grid' | 'areas'>,
): { path: string; content: string | Uint8Array }[] {
  const imageName = `${basename(yamlPath).replace(/\.ya?ml$/, '')}.pgm`;
  const { meta, image } = mapFileOf(bundle.grid, imageName);
  const folder = dirname(yamlPath);
  return [
    { path: join(folder, imageName), content: encodePgm(image) },
    { path: join(folder, AREAS_FILE), content: areasText(bundle.areas) },
    { path: yamlPath, content: mapYamlText(meta) },
  ];
}

function contentId(grid: OccupancyGrid, areas: Areas): string {
  const { x, y, theta } = grid.origin;
  const hash = createHash('sha256');
  hash.update(JSON.stringify([grid.width, grid.height, grid.resolution, x, y, theta]));
  hash.update(grid.cells);
  hash.update(areasText(areas));
  return `m-${hash.digest('hex').slice(0, 16)}`;
}

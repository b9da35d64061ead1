import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeAllWhole } from '../../write-whole.js';
import type { Areas, MapBundle, OccupancyGrid } from '../types.js';
import { areasText, NO_AREAS, parseAreas } from './areas.js';
import { checkAreasOnMap } from './bundle-checks.js';
import {
  decodeImage,
  gridFromRaster,
  loadMapFile,
  type MapMeta,
  mapFileOf,
  mapYamlText,
  readText,
} from './map-server.js';
import { encodePgm } from './pgm.js';
import { isPng } from './png.js';

/** How a grid that was read is written in its files. Others' maps are handed on as they came, to the last bit. */
const SOURCES = new WeakMap<OccupancyGrid, { meta: MapMeta; image: Uint8Array }>();

/** Beside the map's YAML. */
export const AREAS_FILE = 'areas.yaml';

/**
 * Reads a ROS map and the `areas.yaml` beside it (none: a map without rooms). Reads files synchronously: call it
 * while the robot stands. Throws `MapError`.
 */
export function loadMapBundle(yamlPath: string): MapBundle {
  const { meta, image, grid } = loadMapFile(yamlPath);
  SOURCES.set(grid, { meta, image });
  const areasPath = join(dirname(yamlPath), AREAS_FILE);
  if (!existsSync(areasPath)) return mapBundle(grid, NO_AREAS);
  const areas = parseAreas(readText(areasPath), areasPath);
  checkAreasOnMap(areas, grid, areasPath);
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

/** Whether the files at `yamlPath` are this map: the same content, and the same image where it came as one. Never throws. */
export function holdsMap(yamlPath: string, bundle: MapBundle): boolean {
  try {
    const there = loadMapBundle(yamlPath);
    const [is, wanted] = [SOURCES.get(there.grid)?.image, SOURCES.get(bundle.grid)?.image];
    if (there.id !== bundle.id || is === undefined) return false;
    return wanted === undefined || Buffer.from(is).equals(wanted);
  } catch {
    return false;
  }
}

/** The files of a bundle whose YAML is `yamlPath`; the YAML, which names the image, is the last. */
export function bundleFiles(
  yamlPath: string,
  bundle: Pick<MapBundle, 'grid' | 'areas'>,
): { path: string; content: string | Uint8Array }[] {
  const name = basename(yamlPath).replace(/\.ya?ml$/, '');
  const { meta, image } = sourceOf(bundle.grid, name) ?? written(bundle.grid, name);
  const folder = dirname(yamlPath);
  return [
    { path: join(folder, meta.image), content: image },
    { path: join(folder, AREAS_FILE), content: areasText(bundle.areas) },
    { path: yamlPath, content: mapYamlText(meta) },
  ];
}

function written(grid: OccupancyGrid, name: string): { meta: MapMeta; image: Uint8Array } {
  const { meta, image } = mapFileOf(grid, `${name}.pgm`);
  return { meta, image: encodePgm(image) };
}

/** The files that a grid was read from, if they still hold just what is in it. */
function sourceOf(grid: OccupancyGrid, name: string): { meta: MapMeta; image: Uint8Array } | null {
  const source = SOURCES.get(grid);
  if (source === undefined) return null;
  const image = `${name}.${isPng(source.image) ? 'png' : 'pgm'}`;
  const again = gridFromRaster(decodeImage(source.image, image), source.meta);
  return sameGrid(again, grid) ? { meta: { ...source.meta, image }, image: source.image } : null;
}

function contentId(grid: OccupancyGrid, areas: Areas): string {
  const { x, y, theta } = grid.origin;
  const hash = createHash('sha256');
  hash.update(JSON.stringify([grid.width, grid.height, grid.resolution, x, y, theta]));
  hash.update(grid.cells);
  hash.update(areasText(areas));
  return `m-${hash.digest('hex').slice(0, 16)}`;
}

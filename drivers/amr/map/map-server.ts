/**
 * Maps as the ROS `map_server` keeps them: a YAML file and an image. How pixels become occupancy follows
 * nav2_map_server's documentation and behaviour (modes `trinary`, `scale`, `raw`).
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { errorText } from '../../../config/contracts/errors.js';
import type { OccupancyGrid } from '../types.js';
import { MapError, schemaError } from './map-error.js';
import { decodePgm, type Pgm } from './pgm.js';
import { decodePng, isPng } from './png.js';
import type { Raster } from './raster.js';

export type MapMode = 'trinary' | 'scale' | 'raw';

/** The YAML file's fields. */
export interface MapMeta {
  /** As written: relative to the YAML file, or absolute. */
  image: string;
  /** Metres per cell. */
  resolution: number;
  /** x, y of the lower-left corner of the lower-left pixel and the grid's counter-clockwise turn. */
  origin: [number, number, number];
  negate: boolean;
  occupiedThresh: number;
  freeThresh: number;
  mode: MapMode;
}

const MAX_YAML_BYTES = 64 * 1024;
const MAX_IMAGE_BYTES = 256 * 1024 * 1024;

const finite = z.number('a finite number is needed');
/** Beyond it, metres lose the millimetres that matter. */
const distance = finite
  .min(-1e7, 'at most 10 000 km from the origin')
  .max(1e7, 'at most 10 000 km from the origin');
const threshold = finite.min(0, '0 to 1 is allowed').max(1, '0 to 1 is allowed');

const metaSchema = z
  .object({
    image: z.string('the name of an image file is needed').min(1, 'the name of an image file is needed'),
    resolution: finite.gt(0, 'metres per cell, above 0').max(100, 'metres per cell, at most 100'),
    origin: z.tuple([distance, distance, finite], 'three finite numbers [x, y, yaw] are needed'),
    negate: z.union([z.literal(0), z.literal(1), z.boolean()], '0 or 1 is needed'),
    occupied_thresh: threshold,
    free_thresh: threshold,
    mode: z.enum(['trinary', 'scale', 'raw'], 'trinary, scale or raw').default('trinary'),
  })
  .refine((m) => m.free_thresh < m.occupied_thresh, {
    path: ['free_thresh'],
    message: 'must be below occupied_thresh',
  });

/** Parses the YAML text. `file` is for messages. Throws `MapError`. */
export function parseMapYaml(text: string, file: string): MapMeta {
  const value = parseYaml(text, file);
  const parsed = metaSchema.safeParse(value);
  if (!parsed.success) throw schemaError(file, parsed.error, value);
  const m = parsed.data;
  return {
    image: m.image,
    resolution: m.resolution,
    origin: m.origin,
    negate: Boolean(m.negate),
    occupiedThresh: m.occupied_thresh,
    freeThresh: m.free_thresh,
    mode: m.mode,
  };
}

/** Parses one YAML document into plain values. Throws `MapError` that names the line. */
export function parseYaml(text: string, file: string): unknown {
  const document = parseDocument(text, { prettyErrors: true });
  const problem = document.errors[0];
  if (problem !== undefined) throw new MapError(file, 'YAML', problem.message.split('\n')[0] ?? 'invalid');
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new MapError(file, 'YAML', errorText(error));
  }
}

/** Reads a small text file. Throws `MapError` when it is missing or larger than 64 KiB. */
export function readText(file: string): string {
  return Buffer.from(readBytes(file, MAX_YAML_BYTES)).toString('utf8');
}

function readBytes(file: string, limit: number): Uint8Array {
  try {
    const { size } = statSync(file);
    if (size > limit) throw new MapError(file, 'size', `found ${size} bytes; at most ${limit}`);
    return readFileSync(file);
  } catch (error) {
    if (error instanceof MapError) throw error;
    throw new MapError(file, 'file', `cannot be read (${errorText(error)})`);
  }
}

export interface MapFile {
  meta: MapMeta;
  /** The image file, byte by byte. */
  image: Uint8Array;
  raster: Raster;
  grid: OccupancyGrid;
}

/** Reads the YAML file and its image. Throws `MapError`. */
export function loadMapFile(yamlPath: string): MapFile {
  const meta = parseMapYaml(readText(yamlPath), yamlPath);
  const imagePath = isAbsolute(meta.image) ? meta.image : join(dirname(yamlPath), meta.image);
  const image = imageBytes(imagePath, yamlPath);
  const raster = decodeImage(image, imagePath);
  return { meta, image, raster, grid: gridFromRaster(raster, meta) };
}

function imageBytes(imagePath: string, yamlPath: string): Uint8Array {
  try {
    return readBytes(imagePath, MAX_IMAGE_BYTES);
  } catch (error) {
    throw new MapError(yamlPath, 'image', errorText(error));
  }
}

/** `file` is for messages. Throws `MapError`. */
export function decodeImage(bytes: Uint8Array, file: string): Raster {
  return isPng(bytes) ? decodePng(bytes, file) : decodePgm(bytes, file);
}

/** Turns pixels into occupancy, the lowest image row becoming row 0. */
export function gridFromRaster(raster: Raster, meta: MapMeta): OccupancyGrid {
  const { width, height } = raster;
  const cells = new Int8Array(width * height);
  const cellOf = pixelToCell(raster, meta);
  for (let y = 0; y < height; y++) {
    const row = (height - 1 - y) * width;
    for (let x = 0; x < width; x++) cells[row + x] = cellOf(y * width + x);
  }
  const [x, y, theta] = meta.origin;
  return { width, height, resolution: meta.resolution, origin: { x, y, theta }, cells };
}

const UNKNOWN = -1;

function pixelToCell(raster: Raster, meta: MapMeta): (pixel: number) => number {
  if (raster.channels !== 1)
    return (pixel) => classify(shadeOf(raster, pixel, meta.mode), meta, isClear(raster, pixel));
  // One grey value, one result: most maps have three.
  const table = new Int8Array(raster.maxval + 1);
  for (let v = 0; v <= raster.maxval; v++) table[v] = classify(v / raster.maxval, meta, false);
  return (pixel) => table[raster.samples[pixel] ?? 0] ?? UNKNOWN;
}

/** Brightness 0…1. In trinary mode map_server averages opacity in with the colours; kept for the same result. */
function shadeOf(raster: Raster, pixel: number, mode: MapMode): number {
  const { channels, samples, maxval } = raster;
  const colours = channels <= 2 ? 1 : 3;
  let sum = 0;
  for (let c = 0; c < colours; c++) sum += samples[pixel * channels + c] ?? 0;
  if (channels === colours || mode !== 'trinary') return sum / (colours * maxval);
  // Its image library gives grey images three equal colours, so opacity weighs a quarter there as well.
  const alpha = samples[pixel * channels + colours] ?? maxval;
  return ((3 * sum) / colours + alpha) / (4 * maxval);
}

function isClear(raster: Raster, pixel: number): boolean {
  if (raster.channels === 1 || raster.channels === 3) return false;
  return (raster.samples[(pixel + 1) * raster.channels - 1] ?? 0) < raster.maxval;
}

function classify(shade: number, meta: MapMeta, clear: boolean): number {
  if (meta.mode === 'raw') {
    const value = Math.round(shade * 255);
    return value <= 100 ? value : UNKNOWN;
  }
  const occupied = meta.negate ? shade : 1 - shade;
  if (meta.mode === 'scale' && clear) return UNKNOWN;
  if (occupied > meta.occupiedThresh) return 100;
  if (occupied < meta.freeThresh) return 0;
  if (meta.mode === 'trinary') return UNKNOWN;
  return Math.round(((occupied - meta.freeThresh) / (meta.occupiedThresh - meta.freeThresh)) * 100);
}

/**
 * The YAML fields and image that hold exactly this grid: `trinary` where every cell is free, occupied or
 * unknown, otherwise `raw`. `imageName` goes into the YAML file.
 */
export function mapFileOf(grid: OccupancyGrid, imageName: string): { meta: MapMeta; image: Pgm } {
  const trinary = grid.cells.every((c) => c === 0 || c === 100 || c < 0);
  const samples = new Uint8Array(grid.width * grid.height);
  for (let y = 0; y < grid.height; y++) {
    const row = (grid.height - 1 - y) * grid.width;
    for (let x = 0; x < grid.width; x++) {
      samples[y * grid.width + x] = pixelOf(grid.cells[row + x] ?? UNKNOWN, trinary);
    }
  }
  const { x, y, theta } = grid.origin;
  return {
    meta: {
      image: imageName,
      resolution: grid.resolution,
      origin: [x, y, theta],
      negate: false,
      occupiedThresh: 0.65,
      freeThresh: 0.196,
      mode: trinary ? 'trinary' : 'raw',
    },
    image: {
      format: 'P5',
      width: grid.width,
      height: grid.height,
      channels: 1,
      maxval: 255,
      comments: [],
      samples,
    },
  };
}

/** The grey values map_saver uses: 0 occupied, 254 free, 205 unknown. */
function pixelOf(cell: number, trinary: boolean): number {
  if (!trinary) return cell < 0 ? 255 : cell;
  if (cell < 0) return 205;
  return cell === 0 ? 254 : 0;
}

/** Numbers are written so that reading them gives the same bits. */
export function mapYamlText(meta: MapMeta): string {
  return [
    `image: ${JSON.stringify(meta.image)}`,
    `mode: ${meta.mode}`,
    `resolution: ${meta.resolution}`,
    `origin: [${meta.origin.map(exact).join(', ')}]`,
    `negate: ${meta.negate ? 1 : 0}`,
    `occupied_thresh: ${meta.occupiedThresh}`,
    `free_thresh: ${meta.freeThresh}`,
    '',
  ].join('\n');
}

/** The shortest decimal that reads back as the same number; `-0` needs its sign. */
function exact(value: number): string {
  return Object.is(value, -0) ? '-0.0' : String(value);
}

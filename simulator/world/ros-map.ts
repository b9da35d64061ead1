/**
 * A world from any ROS map: walls where cells are occupied, the dock and rooms from `areas.yaml` when there is
 * one. Formats: ROS `map_server` (YAML with a PGM or PNG image), and the project's `areas.yaml`.
 */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { describeZodError, errorText } from '../../config/contracts/errors.js';
import type { SurveyedMap } from './layout.js';
import { readBytes, readGreys } from './map-image.js';
import { WorldFileError } from './world-file.js';

const number = z.number();

const mapSchema = z.looseObject({
  image: z.string().min(1),
  resolution: number.positive(),
  origin: z.tuple([number, number, number], 'three numbers [x, y, yaw]'),
  negate: z.union([z.literal(0), z.literal(1), z.boolean()]).default(0),
  occupied_thresh: number.min(0).max(1).default(0.65),
  free_thresh: number.min(0).max(1).default(0.196),
  mode: z.enum(['trinary', 'scale', 'raw']).default('trinary'),
});

const point = z.tuple([number, number], 'two numbers [x, y]');
const areasSchema = z.looseObject({
  rooms: z
    .array(
      z.looseObject({
        id: z.coerce.string(),
        name: z.string(),
        aliases: z.array(z.string()).default([]),
        polygon: z.array(point).min(3),
        goal: z.tuple([number, number, number], 'three numbers [x, y, theta]'),
      }),
    )
    .default([]),
  station: z
    .looseObject({ pose: z.tuple([number, number, number], 'three numbers [x, y, theta]') })
    .nullable()
    .default(null),
  keepout: z.array(z.looseObject({ id: z.coerce.string(), polygon: z.array(point).min(3) })).default([]),
});

/** Beyond it, metres lose the millimetres that a body moves by. */
const MAX_ORIGIN = 1e7;

export type AreasFile = z.infer<typeof areasSchema>;

/** Reads `map.yaml` and its image. Throws `WorldFileError` that names the file and what is wrong. */
export function readRosMap(yamlPath: string): SurveyedMap {
  const meta = checked(mapSchema, yamlPath);
  const imagePath = resolve(dirname(yamlPath), meta.image);
  const image = readGreys(imagePath);
  const negate = meta.negate === true || meta.negate === 1;
  const cells = new Int8Array(image.width * image.height);
  for (let row = 0; row < image.height; row++) {
    for (let column = 0; column < image.width; column++) {
      const value = image.pixels[(image.height - 1 - row) * image.width + column] ?? 0;
      cells[row * image.width + column] = occupancy(value, image.max, negate, meta);
    }
  }
  const [x, y, theta] = meta.origin;
  if (Math.max(Math.abs(x), Math.abs(y)) > MAX_ORIGIN) {
    throw new WorldFileError('origin', `${yamlPath}: origin: found [${x}, ${y}]; at most ${MAX_ORIGIN} m`);
  }
  return {
    resolution: meta.resolution,
    width: image.width,
    height: image.height,
    origin: { x, y, theta },
    cells,
  };
}

/** `areas.yaml` in the map's folder; null when there is none. */
export function readAreas(yamlPath: string): AreasFile | null {
  const path = resolve(dirname(yamlPath), 'areas.yaml');
  if (!existsSync(path)) return null;
  return checked(areasSchema, path);
}

/** `map_server`'s reading of a pixel: 100 occupied, 0 free, −1 unknown; in raw mode the value itself. */
function occupancy(value: number, max: number, negate: boolean, meta: z.infer<typeof mapSchema>): number {
  if (meta.mode === 'raw') return value <= 100 ? value : -1;
  const dark = negate ? value / max : (max - value) / max;
  if (dark > meta.occupied_thresh) return 100;
  if (dark < meta.free_thresh) return 0;
  if (meta.mode === 'trinary') return -1;
  return Math.round((99 * (dark - meta.free_thresh)) / (meta.occupied_thresh - meta.free_thresh));
}

function checked<T>(schema: z.ZodType<T>, path: string): T {
  let document: unknown;
  try {
    document = parse(new TextDecoder().decode(readBytes(path)));
  } catch (error) {
    if (error instanceof WorldFileError) throw error;
    throw new WorldFileError('', `${path}: not YAML: ${errorText(error)}`);
  }
  const parsed = schema.safeParse(document);
  if (parsed.success) return parsed.data;
  const { field, message } = describeZodError(parsed.error, document);
  throw new WorldFileError(field, `${path}: ${message}`);
}

/**
 * The world file: a home as YAML. Metres, radians, `map` frame (x right, y up as drawn); air in the units of
 * `Air`. Reading it never touches the disk: the caller passes the text.
 */
import { parse } from 'yaml';
import { z } from 'zod';
import { describeZodError, errorText } from '../../config/contracts/errors.js';
import { CEILING, OUTDOOR } from './ordinary-home.js';

const finite = z.number();
const positive = z.number().positive();
const pointSchema = z.tuple([finite, finite], 'two numbers [x, y] in metres');
const poseSchema = z.tuple([finite, finite, finite], 'three numbers [x, y, theta] in metres and radians');
const polygonSchema = z.array(pointSchema).min(3, 'a polygon of at least three points [x, y]');
const idSchema = z.string().regex(/^[A-Za-z0-9_-]{1,40}$/, 'letters, digits, _ and -, at most 40');

const airSchema = z.strictObject({
  pm1_0: finite.nonnegative(),
  pm2_5: finite.nonnegative(),
  pm10: finite.nonnegative(),
  co2: finite.min(300),
  voc: finite.min(0).max(3),
  hcho: finite.nonnegative(),
  temperature: finite.min(-20).max(60),
  humidity: finite.min(0).max(100),
});

const roomSchema = z.strictObject({
  id: idSchema,
  name: z.string().min(1).max(40),
  aliases: z.array(z.string().min(1).max(40)).default([]),
  polygon: polygonSchema,
  /** Where a robot sent to this room stops. */
  goal: poseSchema,
  /** Where a person who comes in stands; by default the free spot farthest from everything. */
  person: pointSchema.optional(),
  air: airSchema.partial().default({}),
});

const furnitureSchema = z
  .strictObject({
    id: idSchema,
    /** Centre. */
    at: pointSchema,
    /** A box: width along its own x, depth along its own y. */
    size: z.tuple([positive, positive]).optional(),
    yaw: finite.default(0),
    /** A round thing instead of a box. */
    radius: positive.optional(),
    /** Lower than the lidar's plane: felt by the bumper, not seen. */
    low: z.boolean().default(false),
  })
  .refine((f) => (f.size === undefined) !== (f.radius === undefined), 'exactly one of size and radius');

const sourceSchema = z.strictObject({
  id: idSchema,
  room: idSchema,
  /** First begins this long after the world does; lasts `for_s`; again every `every_s` when given. */
  start_s: finite.nonnegative().default(0),
  for_s: positive,
  every_s: positive.optional(),
  /** Per minute: µg of particles, mg of formaldehyde, ppm·m³ of CO2, VOC levels·m³, K·m³, %RH·m³. */
  emits: airSchema
    .partial()
    .extend({ co2: finite.nonnegative().optional(), voc: finite.nonnegative().optional() }),
});

const personSchema = z.strictObject({
  id: idSchema,
  at: pointSchema,
  /** Walks there and back along these points; stands still without. */
  walk: z.array(pointSchema).min(1).optional(),
  speed: positive.max(2).default(0.6),
});

const worldFileSchema = z.strictObject({
  version: z.literal(1),
  name: z.string().min(1).max(80),
  wall_thickness: positive.max(0.5).default(0.1),
  /** Centre lines of walls. */
  walls: z.array(z.strictObject({ id: idSchema, line: z.array(pointSchema).min(2) })).min(1),
  /** Gaps in walls, from jamb to jamb along the wall's centre line. */
  doors: z
    .array(
      z.strictObject({
        id: idSchema,
        between: z.tuple([idSchema, idSchema]),
        line: z.tuple([pointSchema, pointSchema]),
        open: z.boolean().default(true),
      }),
    )
    .default([]),
  rooms: z.array(roomSchema).min(1),
  furniture: z.array(furnitureSchema).default([]),
  /** Steps down. `keepout` says whether the surveyed map marks them as off limits. */
  cliffs: z
    .array(z.strictObject({ id: idSchema, polygon: polygonSchema, keepout: z.boolean().default(true) }))
    .default([]),
  /** The home base: `at` is where its back touches the wall, `facing` points into the room. */
  dock: z.strictObject({ at: pointSchema, facing: finite }).nullable().default(null),
  start: z.union([z.literal('docked'), poseSchema], 'docked, or a pose [x, y, theta]').default('docked'),
  ceiling: positive.default(CEILING),
  outdoor: airSchema.partial().default({}),
  /** Air changes per hour with the outdoors, per room. */
  ventilation: finite.nonnegative().default(0.25),
  purifier: z
    .strictObject({ cadr_m3_per_h: positive.default(700), max_rpm: positive.default(2400) })
    .default({ cadr_m3_per_h: 700, max_rpm: 2400 }),
  sources: z.array(sourceSchema).default([]),
  people: z.array(personSchema).default([]),
});

export type WorldFile = z.infer<typeof worldFileSchema>;

/** A world file that cannot be used; the message is one sentence naming the field, the value and what is allowed. */
export class WorldFileError extends Error {
  override readonly name = 'WorldFileError';
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}

/** Parses and checks the form of a world file; `loadLayout` checks that it makes sense as a home. */
export function parseWorldFile(text: string): WorldFile {
  let document: unknown;
  try {
    document = parse(text);
  } catch (error) {
    throw new WorldFileError('', `the world file is not YAML: ${errorText(error)}`);
  }
  const parsed = worldFileSchema.safeParse(document);
  if (parsed.success) return parsed.data;
  const { field, message } = describeZodError(parsed.error, document);
  throw new WorldFileError(field, message);
}

/** The outdoor air with defaults filled in. */
export function outdoorAir(file: WorldFile): z.infer<typeof airSchema> {
  return { ...OUTDOOR, ...definedOnly(file.outdoor) };
}

export function definedOnly<T extends object>(partial: { [K in keyof T]?: T[K] | undefined }): Partial<T> {
  const result: Partial<T> = {};
  for (const key of Object.keys(partial) as (keyof T)[]) {
    const value = partial[key];
    if (value !== undefined) result[key] = value;
  }
  return result;
}

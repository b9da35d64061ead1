/**
 * Documents that are nearly right. A free mutation may leave a document right by chance; a spoiling one never does:
 * every object of the wire is closed and every field has a type, so whoever takes a spoiled document is wrong.
 */
import { below, chance, pick } from './pick.js';
import type { Random } from './types.js';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface Spoiled {
  value: JsonObject;
  /** What is wrong with it, for whoever reads a finding. */
  how: string;
}

/** A place in a document: the container, and the key or index in it. */
interface Place {
  path: string;
  parent: JsonObject | Json[];
  key: string | number;
  value: Json;
}

const NUMBERS = [
  0,
  -0,
  1,
  -1,
  0.1,
  -1e-9,
  32,
  64,
  65,
  100,
  101,
  255,
  3_600_000,
  3_600_001,
  2 ** 31,
  -(2 ** 31),
  2 ** 53,
  -(2 ** 53) - 2,
  1e21,
  1e308,
  -1e308,
  5e-324,
];
const STRINGS = [
  '',
  ' ',
  '거실',
  'living room',
  '거실\u0000',
  '방',
  'a'.repeat(129),
  '가'.repeat(2001),
  '\u202e거실',
  '\ud800',
  '🧹'.repeat(40),
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '../../etc/passwd',
  "'; DROP TABLE tasks; --",
  '{{s1.output.area_id}}',
  '{{s1.output.__proto__}}',
  '{{{{s1}}}}',
  '{{s9.output.summary}}',
  '%s%n%x',
  '<script>alert(1)</script>',
  '2026-11-30T09:00:00+09:00',
  '1970-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999+14:00',
  'deviceagent/da-sim/command/response/#',
  'deviceagent/da-sim/command',
  'context.battery.level > 10',
  'context.air_quality.usable && context.air_quality.pm2_5 > 15',
  'context.constructor.constructor("return process")()',
  '1 == 1 || 1/0 == 1',
  '('.repeat(400),
  '[1,2,3].map(x, [1,2,3].map(y, [1,2,3].map(z, x*y*z)))',
  '"a".matches("(a+)+$")',
  '0 * * * *',
  'FREQ=SECONDLY;COUNT=999999999',
  'emergencyStop',
  'setMoveTo',
  'CLOUD',
  'LOCAL',
];
const KEYS = ['__proto__', 'constructor', 'source', 'x', 'Method', 'params ', 'task', 'method', 'kind', '0'];
/** No object of the wire has this field. */
const STRANGER = 'unheard_of';

/** Up to `rounds` changes that may or may not leave the document right. `donors`: other documents, for splices. */
export function mutateFreely(
  random: Random,
  document: JsonObject,
  donors: readonly JsonObject[],
  rounds: number,
): JsonObject {
  const copy = cloned(document);
  for (let i = 0; i < rounds; i++) {
    const places = [...placesIn(copy)];
    if (places.length === 0) return copy;
    change(random, pick(random, places), donors);
  }
  return copy;
}

/**
 * One change after which the document must be refused. `spared`: paths that may hold anything (the times of a stop);
 * `required`: paths that may not be missing.
 */
export function spoil(
  random: Random,
  document: JsonObject,
  options: { spared: readonly string[]; required: readonly string[] },
): Spoiled {
  const value = cloned(document);
  const places = [...placesIn(value)].filter(({ path }) => !options.spared.includes(path));
  const required = places.filter(({ path }) => options.required.includes(path.replace(/\.\d+\./g, '.*.')));
  if (required.length > 0 && chance(random, 0.2)) {
    const place = pick(random, required);
    remove(place);
    return { value, how: `without ${place.path}` };
  }
  if (chance(random, 0.45)) {
    const objects: { path: string; value: Json }[] = [{ path: '', value }, ...places].filter(({ value: v }) =>
      isObject(v),
    );
    const { path, value: target } = pick(random, objects);
    if (isObject(target)) target[STRANGER] = pick(random, [1, 'x', null, {}]);
    return { value, how: `a stranger in ${path || 'the envelope'}` };
  }
  const place = pick(
    random,
    places.filter(({ value: v }) => v !== null),
  );
  put(place, otherType(random, place.value));
  return { value, how: `${place.path} of another type` };
}

/** The text of a document that no reader may take: cut, doubled, too deep, with words that JSON does not have. */
export function spoilText(random: Random, document: JsonObject): { text: string; how: string } {
  const text = JSON.stringify(document);
  const [first = 'kind'] = Object.keys(document);
  const inside = text.slice(1);
  const ways = [
    () => ({ text: text.slice(0, below(random, text.length - 1) + 1), how: 'cut short' }),
    () => ({ text: `{${JSON.stringify(first)}:"task",${inside}`, how: `${first} twice` }),
    () => ({ text: `{"a":${'['.repeat(60)}${']'.repeat(60)},${inside}`, how: 'sixty levels deep' }),
    () => ({ text: `{"a":NaN,${inside}`, how: 'NaN' }),
    () => ({ text: `{"a":1e999,${inside}`, how: 'a number beyond all numbers' }),
    () => ({ text: `[${text}]`, how: 'in a list' }),
    () => ({ text: `${text}${text}`, how: 'two documents' }),
    () => ({ text: JSON.stringify(text), how: 'JSON in a string' }),
    () => ({ text: `${text.slice(0, -1)},}`, how: 'a comma too many' }),
  ];
  return pick(random, ways)();
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function cloned<T extends Json>(value: T): T {
  return structuredClone(value);
}

function* placesIn(value: JsonObject | Json[], prefix = ''): Generator<Place> {
  for (const [key, child] of Object.entries(value)) {
    const path = `${prefix}${key}`;
    yield { path, parent: value, key: Array.isArray(value) ? Number(key) : key, value: child };
    if (typeof child === 'object' && child !== null) yield* placesIn(child, `${path}.`);
  }
}

function change(random: Random, place: Place, donors: readonly JsonObject[]): void {
  const { parent, value } = place;
  switch (below(random, 8)) {
    case 0:
      remove(place);
      return;
    case 1:
      put(place, pick(random, NUMBERS));
      return;
    case 2:
      put(place, pick(random, STRINGS));
      return;
    case 3:
      put(place, near(random, value));
      return;
    case 4: {
      const donor = pick(random, donors);
      const from = [...placesIn(donor)];
      if (from.length > 0) put(place, cloned(pick(random, from).value));
      return;
    }
    case 5:
      if (Array.isArray(parent)) parent.push(cloned(value));
      else define(parent, pick(random, KEYS), cloned(value));
      return;
    case 6:
      if (!Array.isArray(parent)) {
        remove(place);
        define(parent, pick(random, KEYS), value);
      }
      return;
    default:
      put(place, pick<Json>(random, [null, true, false, [], {}, [value], { value }]));
  }
}

/** The neighbourhood of a value: off by one, longer, empty, turned round. */
function near(random: Random, value: Json): Json {
  if (typeof value === 'number') return pick(random, [value + 1, value - 1, -value, value * 1000, value / 3]);
  if (typeof value === 'string') {
    return pick(random, [
      value.slice(1),
      `${value} `,
      value.toUpperCase(),
      value.repeat(3),
      value.slice(0, -1),
    ]);
  }
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value))
    return pick<Json[]>(random, [[], value.slice(1), [...value, ...value], value.slice(0, 1)]);
  return value;
}

function otherType(random: Random, value: Json): Json {
  if (typeof value === 'string') return pick<Json>(random, [{ a: 1 }, [value], 7]);
  if (typeof value === 'number') return pick<Json>(random, [String(value), [value], {}, true]);
  if (typeof value === 'boolean') return pick<Json>(random, [String(value), 1, []]);
  if (Array.isArray(value)) return pick<Json>(random, ['list', 7, { 0: 'a' }]);
  return pick<Json>(random, ['object', 7, [7]]);
}

function put({ parent, key }: Place, value: Json): void {
  if (Array.isArray(parent)) parent[Number(key)] = value;
  else define(parent, String(key), value);
}

/** As a parser does it: `__proto__` becomes a field like any other. */
function define(target: JsonObject, key: string, value: Json): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function remove({ parent, key }: Place): void {
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[String(key)];
}

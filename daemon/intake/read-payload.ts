/** From bytes, or a value somebody else parsed, to a JSON object that is safe to look into. */
import { Refusal, shown } from '../../config/contracts/errors.js';
import { repeatedKey } from './repeated-key.js';
import { type Scan, scanPayload } from './scan.js';

const MAX_PAYLOAD_BYTES = 256 * 1024;
export const MAX_DEPTH = 32;
/** The words for what is wrong with a document are the same on every channel. */
export const TOO_LARGE = 'the payload is larger than the allowed 256 KiB';

export type JsonObject = Record<string, unknown>;

/** Throws `Refusal` PAYLOAD_TOO_LARGE or MALFORMED. The messages never quote the payload. */
export function readPayload(bytes: Uint8Array, scan: Scan = scanPayload(bytes)): JsonObject {
  if (bytes.length > MAX_PAYLOAD_BYTES) {
    throw new Refusal('PAYLOAD_TOO_LARGE', TOO_LARGE);
  }
  if (scan.depth > MAX_DEPTH) throw tooDeep(scan.depth);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refusal('MALFORMED', 'the payload is not UTF-8');
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notJson();
  }
  return requireObject(value);
}

/** For bytes that `readPayload` took. Throws `Refusal` MALFORMED. */
export function requireUniqueKeys(bytes: Uint8Array): void {
  const repeated = repeatedKey(Buffer.from(bytes).toString('utf8'));
  if (repeated === null) return;
  throw new Refusal('MALFORMED', `${shown(repeated)}: found twice; every key may stand once`);
}

/** For a value that another channel parsed. Throws `Refusal` MALFORMED. */
export function readValue(value: unknown): JsonObject {
  const depth = depthOf(value);
  if (depth > MAX_DEPTH) throw tooDeep(depth);
  return requireObject(value);
}

/** Throws `Refusal` POLICY_DENIED. */
export function requireNoSource(body: object): void {
  if (!('source' in body)) return;
  throw new Refusal('POLICY_DENIED', 'source: the channel decides who is asking; leave it out', 'source');
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function notJson(): Refusal {
  return new Refusal('MALFORMED', 'the payload is not JSON');
}

export function requireObject(value: unknown): JsonObject {
  if (isObject(value)) return value;
  const found = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
  throw new Refusal('MALFORMED', `the payload is ${found}; allowed is a JSON object`);
}

export function tooDeep(depth: number): Refusal {
  return new Refusal('MALFORMED', `the payload nests ${depth} levels deep; allowed are at most ${MAX_DEPTH}`);
}

/** Level by level, without recursion; stops counting one level past the limit. */
function depthOf(value: unknown): number {
  let level: unknown[] = [value];
  let depth = 0;
  while (depth <= MAX_DEPTH) {
    const containers = level.filter((item): item is object => typeof item === 'object' && item !== null);
    if (containers.length === 0) return depth;
    depth += 1;
    level = containers.flatMap((item) => Object.values(item));
  }
  return depth;
}

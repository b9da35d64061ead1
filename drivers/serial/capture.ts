/**
 * Reads recorded bytes from a file: raw, as hex text, or as JSON. What kind of file it is is told from its
 * contents. JSON may be an array of bytes, or objects at any depth with `hex` (text) or `dec`/`bytes` (numbers)
 * and, where given, `name` and, for the answer to a query, `packet`.
 */
import { errorText } from '../../config/contracts/errors.js';

export interface Capture {
  name: string | null;
  bytes: Uint8Array;
  /** For the answer of a base to a query: the packet that was asked for. */
  packet: number | null;
}

const MAX_CAPTURES = 10_000;
const MAX_DEPTH = 16;

/** Throws an Error in one sentence when text looks like hex or JSON and is neither. */
export function readCapture(file: Uint8Array): Capture[] {
  const text = asText(file);
  if (text === null) return [{ name: null, bytes: file, packet: null }];
  const trimmed = text.trim();
  if (trimmed === '') return [];
  if (trimmed.startsWith('{') || trimmed.startsWith('[')) return fromJson(trimmed);
  return [{ name: null, bytes: parseHex(trimmed), packet: null }];
}

/** Hex digits in pairs; spaces, commas, `0x`, line breaks and comments from `#` to the end of the line may stand between. */
export function parseHex(text: string): Uint8Array {
  const words = text
    .replace(/#.*$/gm, ' ')
    .split(/[\s,;]+/)
    .map((word) => word.replace(/^0x/i, ''))
    .filter((word) => word !== '');
  const wrong = words.find((word) => !/^([0-9a-f]{2})+$/i.test(word));
  if (wrong !== undefined)
    throw new Error(`not hex: "${wrong.slice(0, 20)}"; expected pairs of hex digits, e.g. 54 2C 68`);
  const digits = words.join('');
  return Uint8Array.from({ length: digits.length / 2 }, (_, i) =>
    Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16),
  );
}

/** The file as text, or null when it holds bytes that text does not. */
function asText(file: Uint8Array): string | null {
  if (file.some((byte) => byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 13)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file);
  } catch {
    return null;
  }
}

function fromJson(text: string): Capture[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Error(`not JSON: ${errorText(error)}`);
  }
  const found: Capture[] = [];
  collect(json, 0, found);
  if (found.length === 0)
    throw new Error('no bytes in this JSON: expected numbers, or objects with "hex" or "dec"');
  return found;
}

function collect(json: unknown, depth: number, found: Capture[]): void {
  if (depth > MAX_DEPTH || found.length >= MAX_CAPTURES || json === null || typeof json !== 'object') return;
  if (Array.isArray(json)) {
    if (isBytes(json)) found.push({ name: null, bytes: Uint8Array.from(json), packet: null });
    else for (const item of json) collect(item, depth + 1, found);
    return;
  }
  const fields = new Map<string, unknown>(Object.entries(json));
  const bytes = bytesOf(fields);
  if (bytes === null) {
    for (const value of fields.values()) collect(value, depth + 1, found);
    return;
  }
  const name = fields.get('name');
  const packet = fields.get('packet');
  found.push({
    name: typeof name === 'string' ? name : null,
    bytes,
    packet: typeof packet === 'number' ? packet : null,
  });
}

function bytesOf(fields: ReadonlyMap<string, unknown>): Uint8Array | null {
  const hex = fields.get('hex');
  if (typeof hex === 'string') return parseHex(hex);
  for (const key of ['dec', 'bytes']) {
    const value = fields.get(key);
    if (Array.isArray(value) && isBytes(value)) return Uint8Array.from(value);
  }
  return null;
}

function isBytes(values: unknown[]): values is number[] {
  return (
    values.length > 0 &&
    values.every((v) => typeof v === 'number' && Number.isInteger(v) && v >= 0 && v <= 255)
  );
}

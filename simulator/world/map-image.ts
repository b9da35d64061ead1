/**
 * The pictures that ROS maps come as: Netpbm greymaps (P5 and P2, up to 16 bits), and PNG (the W3C's Portable
 * Network Graphics specification, 8 bits a channel, not interlaced), of which the mean of the colours counts.
 */
import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { errorText } from '../../config/contracts/errors.js';
import { WorldFileError } from './world-file.js';

/** Rows from the top, 0…`max`. */
export interface Greys {
  width: number;
  height: number;
  max: number;
  pixels: Uint16Array;
}

const MAX_CELLS = 40_000_000;
const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] as const;
/** Bytes per pixel by PNG colour type. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const PALETTE = 3;

/** Reads a picture. Throws `WorldFileError` naming the file and what is wrong with it. */
export function readGreys(path: string): Greys {
  const bytes = readBytes(path);
  if (PNG_SIGNATURE.every((b, i) => bytes[i] === b)) return readPng(bytes, path);
  if (bytes[0] === 0x50 && (bytes[1] === 0x35 || bytes[1] === 0x32)) return readPgm(bytes, path);
  return unusable(path, `starts with bytes ${[...bytes.subarray(0, 4)].join(' ')}`);
}

/** The bytes of a file. Throws `WorldFileError` naming the file. */
export function readBytes(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new WorldFileError('', `${path}: cannot be read: ${errorText(error)}`);
  }
}

function unusable(path: string, what: string): never {
  throw new WorldFileError('image', `${path}: ${what}; a PGM or an 8-bit PNG image is needed`);
}

function checkSize(width: number, height: number, path: string): void {
  if (!(Number.isInteger(width) && Number.isInteger(height) && width > 0 && height > 0)) {
    unusable(path, 'has a broken header');
  }
  if (width * height > MAX_CELLS) unusable(path, `has ${width} × ${height} cells, more than ${MAX_CELLS}`);
}

function readPgm(bytes: Uint8Array, path: string): Greys {
  const words = new Words(bytes);
  const magic = words.next();
  const width = Number(words.next());
  const height = Number(words.next());
  const max = Number(words.next());
  checkSize(width, height, path);
  if (!(max > 0 && max <= 65_535)) unusable(path, 'has a broken header');
  const pixels = new Uint16Array(width * height);
  if (magic === 'P2') {
    for (let i = 0; i < pixels.length; i++) pixels[i] = Number(words.next());
    return { width, height, max, pixels };
  }
  const data = bytes.subarray(words.offset + 1);
  const size = max > 255 ? 2 : 1;
  if (data.length < pixels.length * size) unusable(path, 'is cut short');
  for (let i = 0; i < pixels.length; i++) {
    const first = data[i * size] ?? 0;
    pixels[i] = size === 1 ? first : first * 256 + (data[2 * i + 1] ?? 0);
  }
  return { width, height, max, pixels };
}

/** The words of a Netpbm header; comments run from # to the end of the line. */
class Words {
  offset = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  next(): string {
    const bytes = this.#bytes;
    for (;;) {
      while (this.offset < bytes.length && (bytes[this.offset] ?? 0) <= 32) this.offset += 1;
      if (bytes[this.offset] !== 0x23) break;
      while (this.offset < bytes.length && bytes[this.offset] !== 10) this.offset += 1;
    }
    const start = this.offset;
    while (this.offset < bytes.length && (bytes[this.offset] ?? 0) > 32) this.offset += 1;
    return String.fromCharCode(...bytes.subarray(start, Math.min(this.offset, start + 20)));
  }
}

function readPng(bytes: Uint8Array, path: string): Greys {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let header: { width: number; height: number; type: number } | null = null;
  let palette: Uint8Array = new Uint8Array();
  const packed: Uint8Array[] = [];
  for (let at = PNG_SIGNATURE.length; at + 12 <= bytes.length; ) {
    const length = view.getUint32(at);
    const name = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const data = bytes.subarray(at + 8, at + 8 + length);
    if (name === 'IHDR' && data.length === 13) header = pngHeader(data, path);
    if (name === 'PLTE') palette = data;
    if (name === 'IDAT') packed.push(data);
    at += 12 + length;
  }
  if (header === null) return unusable(path, 'has no header');
  const { width, height, type } = header;
  const raw = unfilter(inflate(packed, path), width, height, CHANNELS[type] ?? 1, path);
  const pixels = new Uint16Array(width * height);
  for (let i = 0; i < pixels.length; i++) pixels[i] = greyOf(raw, i, type, palette);
  return { width, height, max: 255, pixels };
}

function pngHeader(data: Uint8Array, path: string): { width: number; height: number; type: number } {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const [depth = 0, type = 0, , , interlace = 0] = data.subarray(8);
  if (depth !== 8 || CHANNELS[type] === undefined) unusable(path, `has ${depth} bits of colour type ${type}`);
  if (interlace !== 0) unusable(path, 'is interlaced');
  checkSize(view.getUint32(0), view.getUint32(4), path);
  return { width: view.getUint32(0), height: view.getUint32(4), type };
}

function inflate(packed: readonly Uint8Array[], path: string): Uint8Array {
  try {
    return inflateSync(Buffer.concat(packed));
  } catch {
    return unusable(path, 'is damaged');
  }
}

/** Undoes the filter of each row: every byte was stored as a difference to what lies left of and above it. */
function unfilter(
  raw: Uint8Array,
  width: number,
  height: number,
  channels: number,
  path: string,
): Uint8Array {
  const stride = width * channels;
  if (raw.length < height * (stride + 1)) unusable(path, 'is cut short');
  const out = new Uint8Array(height * stride);
  for (let row = 0; row < height; row++) {
    const filter = raw[row * (stride + 1)] ?? 0;
    for (let i = 0; i < stride; i++) {
      const at = row * stride + i;
      const left = i >= channels ? (out[at - channels] ?? 0) : 0;
      const up = row > 0 ? (out[at - stride] ?? 0) : 0;
      const upLeft = row > 0 && i >= channels ? (out[at - stride - channels] ?? 0) : 0;
      out[at] = (raw[row * (stride + 1) + 1 + i] ?? 0) + predicted(filter, left, up, upLeft);
    }
  }
  return out;
}

function predicted(filter: number, left: number, up: number, upLeft: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const guess = left + up - upLeft;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - upLeft)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : upLeft;
}

/** Mean of the colours of pixel `i`; transparency does not count. */
function greyOf(raw: Uint8Array, i: number, type: number, palette: Uint8Array): number {
  const channels = CHANNELS[type] ?? 1;
  if (channels <= 2 && type !== PALETTE) return raw[i * channels] ?? 0;
  const [source, at] = type === PALETTE ? [palette, 3 * (raw[i] ?? 0)] : [raw, i * channels];
  return Math.round(((source[at] ?? 0) + (source[at + 1] ?? 0) + (source[at + 2] ?? 0)) / 3);
}

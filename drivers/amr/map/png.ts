/**
 * PNG images as maps (map_server reads them too). After the PNG specification, third edition
 * (https://www.w3.org/TR/png-3/): all colour types and depths, no interlacing.
 */
import { inflateSync } from 'node:zlib';
import { crc32 } from './crc32.js';
import { checkDimensions, MapError } from './map-error.js';
import type { Raster } from './raster.js';

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

export function isPng(bytes: Uint8Array): boolean {
  return SIGNATURE.every((b, i) => bytes[i] === b);
}

interface Header {
  width: number;
  height: number;
  depth: number;
  /** 0 grey, 2 colour, 3 palette, 4 grey and alpha, 6 colour and alpha. */
  colour: number;
}

/** Reads one image. `file` is for messages. Throws `MapError`. */
export function decodePng(bytes: Uint8Array, file: string): Raster {
  const { header, palette, data } = readChunks(bytes, file);
  const channels = fileChannels(header, file);
  const rowBytes = Math.ceil((header.width * channels * header.depth) / 8);
  const expected = (rowBytes + 1) * header.height;
  let raw: Uint8Array;
  try {
    raw = inflateSync(data, { maxOutputLength: expected + 1 });
  } catch (error) {
    throw new MapError(file, 'IDAT', `cannot be inflated to ${expected} bytes (${String(error)})`);
  }
  if (raw.length !== expected) {
    throw new MapError(file, 'IDAT', `found ${raw.length} bytes of pixels; the header announces ${expected}`);
  }
  unfilter(raw, rowBytes, header.height, Math.max(1, (channels * header.depth) >> 3), file);
  const samples = unpack(raw, rowBytes, header, channels);
  if (header.colour === 3) return paletteRaster(samples, palette, header, file);
  return {
    width: header.width,
    height: header.height,
    channels,
    maxval: 2 ** header.depth - 1,
    samples,
  };
}

function readChunks(bytes: Uint8Array, file: string) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let header: Header | null = null;
  let palette = new Uint8Array(0);
  const parts: Uint8Array[] = [];
  for (let at = 8; ; ) {
    if (at + 12 > bytes.length) throw new MapError(file, 'chunks', 'the file ends before IEND');
    const length = view.getUint32(at);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (at + 12 + length > bytes.length)
      throw new MapError(file, type, `announces ${length} bytes; fewer follow`);
    const body = bytes.subarray(at + 8, at + 8 + length);
    if (crc32(bytes.subarray(at + 4, at + 8 + length)) !== view.getUint32(at + 8 + length)) {
      throw new MapError(file, type, 'its checksum is wrong');
    }
    if (type === 'IHDR') header = readHeader(body, file);
    else if (type === 'PLTE') palette = body.slice();
    else if (type === 'IDAT') parts.push(body);
    else if (type === 'IEND') break;
    at += 12 + length;
  }
  if (header === null) throw new MapError(file, 'IHDR', 'is missing');
  return { header, palette, data: Buffer.concat(parts) };
}

function readHeader(body: Uint8Array, file: string): Header {
  if (body.length !== 13) throw new MapError(file, 'IHDR', `found ${body.length} bytes; 13 are needed`);
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const header = {
    width: view.getUint32(0),
    height: view.getUint32(4),
    depth: body[8] ?? 0,
    colour: body[9] ?? 0,
  };
  checkDimensions(file, header.width, header.height);
  if (![1, 2, 4, 8, 16].includes(header.depth)) {
    throw new MapError(file, 'bit depth', `found ${header.depth}; 1, 2, 4, 8 or 16 is allowed`);
  }
  if (body[12] !== 0)
    throw new MapError(file, 'interlace', 'interlaced images are not read; save it without');
  return header;
}

function fileChannels(header: Header, file: string): 1 | 2 | 3 | 4 {
  const byColour: Record<number, 1 | 2 | 3 | 4> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
  const channels = byColour[header.colour];
  if (channels === undefined)
    throw new MapError(file, 'colour type', `found ${header.colour}; 0, 2, 3, 4 or 6`);
  return channels;
}

/** Undoes the per-row prediction in place; `raw` keeps its filter bytes. `bpp`: bytes per complete pixel. */
function unfilter(raw: Uint8Array, rowBytes: number, rows: number, bpp: number, file: string): void {
  const stride = rowBytes + 1;
  for (let y = 0; y < rows; y++) {
    const start = y * stride + 1;
    const filter = raw[start - 1] ?? 0;
    if (filter > 4) throw new MapError(file, 'IDAT', `row ${y} has filter ${filter}; 0 to 4 are known`);
    for (let i = 0; i < rowBytes; i++) {
      const a = i >= bpp ? (raw[start + i - bpp] ?? 0) : 0;
      const b = y > 0 ? (raw[start + i - stride] ?? 0) : 0;
      const c = i >= bpp && y > 0 ? (raw[start + i - stride - bpp] ?? 0) : 0;
      raw[start + i] = (raw[start + i] ?? 0) + prediction(filter, a, b, c);
    }
  }
}

function prediction(filter: number, a: number, b: number, c: number): number {
  if (filter === 1) return a;
  if (filter === 2) return b;
  if (filter === 3) return (a + b) >> 1;
  if (filter !== 4) return 0;
  const p = a + b - c;
  const pa = Math.abs(p - a);
  const pb = Math.abs(p - b);
  const pc = Math.abs(p - c);
  if (pa <= pb && pa <= pc) return a;
  return pb <= pc ? b : c;
}

function unpack(
  raw: Uint8Array,
  rowBytes: number,
  header: Header,
  channels: number,
): Uint8Array | Uint16Array {
  const perRow = header.width * channels;
  const count = perRow * header.height;
  const samples = header.depth === 16 ? new Uint16Array(count) : new Uint8Array(count);
  const mask = 2 ** header.depth - 1;
  for (let y = 0; y < header.height; y++) {
    const start = y * (rowBytes + 1) + 1;
    for (let i = 0; i < perRow; i++) {
      const bit = i * header.depth;
      const byte = start + (bit >> 3);
      samples[y * perRow + i] =
        header.depth === 16
          ? ((raw[byte] ?? 0) << 8) | (raw[byte + 1] ?? 0)
          : ((raw[byte] ?? 0) >> (8 - header.depth - (bit & 7))) & mask;
    }
  }
  return samples;
}

function paletteRaster(
  indices: Uint8Array | Uint16Array,
  palette: Uint8Array,
  header: Header,
  file: string,
): Raster {
  const samples = new Uint8Array(indices.length * 3);
  for (const [i, index] of indices.entries()) {
    if (3 * index + 2 >= palette.length) throw new MapError(file, 'PLTE', `has no colour ${index}`);
    samples.set(palette.subarray(3 * index, 3 * index + 3), 3 * i);
  }
  return { width: header.width, height: header.height, channels: 3, maxval: 255, samples };
}

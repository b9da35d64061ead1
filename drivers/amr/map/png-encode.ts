/**
 * Writes PNG pictures: 8 bits a channel, colour, no interlacing; after the PNG specification, third edition
 * (https://www.w3.org/TR/png-3/).
 */
import { deflateSync } from 'node:zlib';
import { crc32 } from './crc32.js';

/** A picture in memory: three bytes a pixel, row-major from the upper left corner. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const COLOUR_TYPE_RGB = 2;

export function encodePng({ width, height, rgb }: Picture): Uint8Array {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([8, COLOUR_TYPE_RGB, 0, 0, 0], 8);
  const row = width * 3;
  // Every row begins with its filter; 0 is none.
  const lines = new Uint8Array((row + 1) * height);
  for (let y = 0; y < height; y++) lines.set(rgb.subarray(y * row, (y + 1) * row), y * (row + 1) + 1);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', new Uint8Array(0)),
  ]);
}

function chunk(type: string, body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(body.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, body.length);
  bytes.set(Buffer.from(type, 'latin1'), 4);
  bytes.set(body, 8);
  view.setUint32(8 + body.length, crc32(bytes.subarray(4, 8 + body.length)));
  return bytes;
}

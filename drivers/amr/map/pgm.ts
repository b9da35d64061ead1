/**
 * Portable grey maps, binary (P5) and plain (P2), after the Netpbm format description
 * (https://netpbm.sourceforge.net/doc/pgm.html): white space between header tokens, `#` comments to the end of
 * the line, two bytes per sample, most significant first, where `maxval` is above 255.
 */
import { checkDimensions, MapError } from './map-error.js';
import type { Raster } from './raster.js';

export interface Pgm extends Raster {
  readonly channels: 1;
  readonly format: 'P2' | 'P5';
  /** Header comments without `#` and the line end, in order. */
  readonly comments: readonly string[];
}

/** Reads one image. `file` is for messages. Throws `MapError`. */
export function decodePgm(bytes: Uint8Array, file: string): Pgm {
  const format = String.fromCharCode(bytes[0] ?? 0, bytes[1] ?? 0);
  if (format !== 'P2' && format !== 'P5') {
    throw new MapError(file, 'magic number', `found ${JSON.stringify(format)}; P5 or P2 is needed`);
  }
  const reader = new HeaderReader(bytes, file);
  const width = reader.number('width');
  const height = reader.number('height');
  checkDimensions(file, width, height);
  const maxval = reader.number('maxval');
  if (maxval < 1 || maxval > 65535)
    throw new MapError(file, 'maxval', `found ${maxval}; 1 to 65535 is allowed`);
  const samples =
    format === 'P5'
      ? binarySamples(bytes, reader.bodyStart(), width * height, maxval, file)
      : plainSamples(reader, width * height, maxval, file);
  return { format, width, height, channels: 1, maxval, comments: reader.comments, samples };
}

/** Writes one image; the header has one token group per line, comments after the magic number. */
export function encodePgm(image: Omit<Pgm, 'channels'>): Uint8Array {
  const comments = image.comments.map((c) => `#${c.replaceAll(/[\r\n]/g, ' ')}\n`).join('');
  const header = `${image.format}\n${comments}${image.width} ${image.height}\n${image.maxval}\n`;
  if (image.format === 'P2') return new TextEncoder().encode(header + plainBody(image));
  const head = Buffer.from(header, 'latin1');
  const wide = image.maxval > 255;
  const out = new Uint8Array(head.length + image.samples.length * (wide ? 2 : 1));
  out.set(head);
  if (!wide) out.set(image.samples, head.length);
  else {
    let at = head.length;
    for (const sample of image.samples) {
      out[at++] = sample >> 8;
      out[at++] = sample & 0xff;
    }
  }
  return out;
}

function plainBody(image: Omit<Pgm, 'channels'>): string {
  const rows: string[] = [];
  for (let y = 0; y < image.height; y++) {
    rows.push(image.samples.slice(y * image.width, (y + 1) * image.width).join(' '));
  }
  return `${rows.join('\n')}\n`;
}

const LF = 10;
const CR = 13;

class HeaderReader {
  readonly comments: string[] = [];
  #at = 2;
  constructor(
    readonly bytes: Uint8Array,
    readonly file: string,
  ) {}

  /** The next decimal number, after white space and comments. */
  number(field: string): number {
    this.#skip();
    let text = '';
    for (let b = this.bytes[this.#at]; b !== undefined && !isSpace(b); b = this.bytes[++this.#at]) {
      text += String.fromCharCode(b);
      if (text.length > 12) break;
    }
    if (text === '') throw new MapError(this.file, field, 'the file ends before it');
    if (!/^\d+$/.test(text)) {
      throw new MapError(this.file, field, `found ${JSON.stringify(text)}; a whole number is needed`);
    }
    return Number(text);
  }

  /** Exactly one white-space byte ends the header of a binary image. */
  bodyStart(): number {
    const b = this.bytes[this.#at];
    if (b === undefined || !isSpace(b)) throw new MapError(this.file, 'pixels', 'the file ends before them');
    return this.#at + 1;
  }

  atEnd(): boolean {
    this.#skip();
    return this.#at >= this.bytes.length;
  }

  #skip(): void {
    for (let b = this.bytes[this.#at]; b !== undefined; b = this.bytes[++this.#at]) {
      if (b === 0x23) this.#comment();
      else if (!isSpace(b)) return;
    }
  }

  #comment(): void {
    const start = this.#at + 1;
    let b = this.bytes[this.#at];
    while (b !== undefined && b !== LF && b !== CR) b = this.bytes[++this.#at];
    // Plain images may hold comments among their pixels; only a header's worth of them is kept.
    if (this.comments.length < 64) {
      this.comments.push(Buffer.from(this.bytes.subarray(start, this.#at)).toString('latin1'));
    }
  }
}

function isSpace(byte: number): boolean {
  return byte === 32 || (byte >= 9 && byte <= 13);
}

function binarySamples(bytes: Uint8Array, start: number, count: number, maxval: number, file: string) {
  const size = maxval > 255 ? 2 : 1;
  const present = bytes.length - start;
  if (present < count * size) {
    throw new MapError(
      file,
      'pixels',
      `found ${present} bytes; width × height announces ${count * size} (is the file cut short?)`,
    );
  }
  if (!onlySpace(bytes, start + count * size)) {
    throw new MapError(
      file,
      'pixels',
      `found ${present} bytes; width × height announces only ${count * size} (are the dimensions right?)`,
    );
  }
  const samples = size === 1 ? bytes.slice(start, start + count) : wideSamples(bytes, start, count);
  if (maxval !== 255 && maxval !== 65535) checkSamples(samples, maxval, file);
  return samples;
}

/** Some writers end a binary file with a line end; anything else after the pixels is a sign of a wrong header. */
function onlySpace(bytes: Uint8Array, from: number): boolean {
  if (bytes.length - from > 2) return false;
  for (let i = from; i < bytes.length; i++) if (!isSpace(bytes[i] ?? 0)) return false;
  return true;
}

function wideSamples(bytes: Uint8Array, start: number, count: number): Uint16Array {
  const samples = new Uint16Array(count);
  for (let i = 0; i < count; i++) {
    samples[i] = ((bytes[start + 2 * i] ?? 0) << 8) | (bytes[start + 2 * i + 1] ?? 0);
  }
  return samples;
}

function checkSamples(samples: Uint8Array | Uint16Array, maxval: number, file: string): void {
  const at = samples.findIndex((s) => s > maxval);
  if (at >= 0) throw new MapError(file, `pixel ${at}`, `found ${samples[at]}; at most maxval ${maxval}`);
}

function plainSamples(reader: HeaderReader, count: number, maxval: number, file: string) {
  // A sample takes at least two bytes of text: a header that lies is found out before memory is taken.
  if (count > reader.bytes.length) {
    throw new MapError(file, 'pixels', `width × height announces ${count}; the file has fewer`);
  }
  const samples = maxval > 255 ? new Uint16Array(count) : new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    const value = reader.number(`pixel ${i}`);
    if (value > maxval) throw new MapError(file, `pixel ${i}`, `found ${value}; at most maxval ${maxval}`);
    samples[i] = value;
  }
  if (!reader.atEnd()) throw new MapError(file, 'pixels', `more follow the ${count} of width × height`);
  return samples;
}

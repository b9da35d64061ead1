/** Finds the frames of an LD19 in a byte stream. Allocates nothing in steady state. */
import { FRAME_BYTES, type FrameFault, frameFault, HEADER, TYPE_AND_LENGTH } from './frame.js';

export interface Ld19ParserStats {
  frames: number;
  /** Frames with a wrong check sum, or with a speed or an angle that cannot be. */
  crc: number;
  speed: number;
  angle: number;
  /** Bytes that belong to no accepted frame. */
  discarded: number;
}

export class Ld19Parser {
  readonly stats: Ld19ParserStats = { frames: 0, crc: 0, speed: 0, angle: 0, discarded: 0 };
  readonly #onFrame: (bytes: Uint8Array, at: number) => void;
  #work = new Uint8Array(4096);
  #length = 0;

  /** `onFrame` is called for every good frame; the bytes are valid only during the call. */
  constructor(onFrame: (bytes: Uint8Array, at: number) => void) {
    this.#onFrame = onFrame;
  }

  /** Forgets a frame that was begun, after the connection broke. */
  reset(): void {
    this.stats.discarded += this.#length;
    this.#length = 0;
  }

  /** Bytes kept because they may be the start of a frame. */
  get pending(): number {
    return this.#length;
  }

  push(chunk: Uint8Array): void {
    this.#append(chunk);
    const work = this.#work;
    const length = this.#length;
    let at = 0;
    while (at < length) {
      if (work[at] !== HEADER || (at + 1 < length && work[at + 1] !== TYPE_AND_LENGTH)) {
        this.stats.discarded += 1;
        at += 1;
        continue;
      }
      if (at + FRAME_BYTES > length) break;
      const fault = frameFault(work, at);
      if (fault === null) {
        this.stats.frames += 1;
        this.#onFrame(work, at);
        at += FRAME_BYTES;
      } else {
        // Only one byte is given up: the next frame may start inside what a damaged one covered.
        this.#reject(fault);
        at += 1;
      }
    }
    work.copyWithin(0, at, length);
    this.#length = length - at;
  }

  #reject(fault: FrameFault): void {
    this.stats[fault] += 1;
    this.stats.discarded += 1;
  }

  #append(chunk: Uint8Array): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#work.length) {
      const larger = new Uint8Array(2 * needed);
      larger.set(this.#work.subarray(0, this.#length));
      this.#work = larger;
    }
    this.#work.set(chunk, this.#length);
    this.#length = needed;
  }
}

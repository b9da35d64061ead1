/**
 * ROS 2 messages as they lie in a recording: CDR with a header of four bytes, numbers aligned to their own size. Only
 * the messages that `replay` prints. Source: OMG "CDR" encapsulation as ROS 2 uses it; `sensor_msgs`, `geometry_msgs`.
 */

const HEADER_BYTES = 4;
const LITTLE_ENDIAN = 1;
/** No scan or text is longer; a length beyond is a message of another kind. */
const MAX_LENGTH = 1_000_000;

export class CdrReader {
  readonly #view: DataView;
  readonly #little: boolean;
  #at = HEADER_BYTES;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#little = (bytes[1] ?? LITTLE_ENDIAN) === LITTLE_ENDIAN;
  }

  int32(): number {
    return this.#view.getInt32(this.#take(4), this.#little);
  }

  uint32(): number {
    return this.#view.getUint32(this.#take(4), this.#little);
  }

  float32(): number {
    return this.#view.getFloat32(this.#take(4), this.#little);
  }

  float64(): number {
    return this.#view.getFloat64(this.#take(8), this.#little);
  }

  text(): string {
    const length = this.#length();
    const bytes = new Uint8Array(
      this.#view.buffer,
      this.#view.byteOffset + this.#at,
      Math.max(0, length - 1),
    );
    this.#at += length;
    return new TextDecoder().decode(bytes);
  }

  floats(): number[] {
    return Array.from({ length: this.#length() }, () => this.float32());
  }

  #length(): number {
    const length = this.uint32();
    if (length > MAX_LENGTH) throw new RangeError(`a length of ${length} in a message`);
    return length;
  }

  /** Aligned to its size, counted from behind the header. */
  #take(size: number): number {
    const past = (this.#at - HEADER_BYTES) % size;
    const at = this.#at + (past === 0 ? 0 : size - past);
    this.#at = at + size;
    return at;
  }
}

export interface RosScan {
  frame: string;
  angleMin: number;
  angleIncrement: number;
  rangeMin: number;
  rangeMax: number;
  ranges: number[];
}

/** `sensor_msgs/msg/LaserScan`; throws a RangeError when the bytes are too few. */
export function decodeLaserScan(bytes: Uint8Array): RosScan {
  const cdr = new CdrReader(bytes);
  cdr.int32();
  cdr.uint32();
  const frame = cdr.text();
  const angleMin = cdr.float32();
  cdr.float32();
  const angleIncrement = cdr.float32();
  cdr.float32();
  cdr.float32();
  const rangeMin = cdr.float32();
  const rangeMax = cdr.float32();
  return { frame, angleMin, angleIncrement, rangeMin, rangeMax, ranges: cdr.floats() };
}

/** `geometry_msgs/msg/Twist`: m/s and rad/s. */
export function decodeTwist(bytes: Uint8Array): { v: number; w: number } {
  const cdr = new CdrReader(bytes);
  const v = cdr.float64();
  for (let i = 0; i < 4; i++) cdr.float64();
  return { v, w: cdr.float64() };
}

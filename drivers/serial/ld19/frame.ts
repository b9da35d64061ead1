/**
 * The frame of an LDROBOT LD19/LD06 lidar. Source: LDROBOT LD19 and LD06 development manuals; see
 * docs/protocols/ld19.md. All numbers are little-endian.
 */

export const FRAME_BYTES = 47;
export const POINTS = 12;
export const HEADER = 0x54;
/** Frame type 1 in the upper three bits, twelve points in the lower five. */
export const TYPE_AND_LENGTH = 0x2c;

/** Offsets in the frame. */
export const AT = { speed: 2, startAngle: 4, points: 6, endAngle: 42, timestamp: 44, crc: 46 } as const;

/** The device's clock goes from 29999 back to 0, ms. */
export const TIMESTAMP_WRAP_MS = 30_000;
export const FULL_TURN_CDEG = 36_000;

export interface Ld19Frame {
  /** Degrees per second. */
  speed: number;
  /** Angle of the first and the last point, hundredths of a degree, clockwise from the front of the device. */
  startAngle: number;
  endAngle: number;
  /** ms, 0…29999. */
  timestamp: number;
  /** `distance` in mm, 0 where nothing came back; `intensity` 0…255. */
  points: { distance: number; intensity: number }[];
}

export type FrameFault = 'crc' | 'speed' | 'angle';

/** The motor turns at 5 to 13 turns a second; frames of a motor far from that hold no usable geometry. */
const MIN_SPEED = 1000;
const MAX_SPEED = 6000;
/**
 * Eleven steps between twelve points take 2.4 ms at 4500 points a second and 4.8 ms at the 2300 of early
 * devices. A span that would have taken less than 1 or more than 8 ms is not one frame's.
 */
const MIN_SPAN_MS = 1;
const MAX_SPAN_MS = 8;

const POLYNOMIAL = 0x4d;
const CRC_TABLE = Uint8Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? ((crc << 1) ^ POLYNOMIAL) & 0xff : crc << 1;
  return crc;
});

/** CRC-8, polynomial 0x4D, start value 0, over `bytes[start…end)`. */
export function crc8(bytes: Uint8Array, start: number, end: number): number {
  let crc = 0;
  for (let i = start; i < end; i++) crc = CRC_TABLE[crc ^ (bytes[i] ?? 0)] ?? 0;
  return crc;
}

export function u16(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
}

/** From the first point to the last, hundredths of a degree, 0…35999; right across 360°. */
export function angleSpan(startAngle: number, endAngle: number): number {
  return (endAngle - startAngle + FULL_TURN_CDEG) % FULL_TURN_CDEG;
}

/** What is wrong with the 47 bytes at `at`, which begin with the two header bytes; null when nothing is. */
export function frameFault(bytes: Uint8Array, at: number): FrameFault | null {
  if (crc8(bytes, at, at + AT.crc) !== bytes[at + AT.crc]) return 'crc';
  const speed = u16(bytes, at + AT.speed);
  if (speed < MIN_SPEED || speed > MAX_SPEED) return 'speed';
  const start = u16(bytes, at + AT.startAngle);
  const end = u16(bytes, at + AT.endAngle);
  if (start >= FULL_TURN_CDEG || end >= FULL_TURN_CDEG) return 'angle';
  const spanMs = (angleSpan(start, end) * 10) / speed;
  return spanMs < MIN_SPAN_MS || spanMs > MAX_SPAN_MS ? 'angle' : null;
}

/** The frame at `at` as an object; it has to be free of faults. */
export function decodeFrame(bytes: Uint8Array, at = 0): Ld19Frame {
  return {
    speed: u16(bytes, at + AT.speed),
    startAngle: u16(bytes, at + AT.startAngle),
    endAngle: u16(bytes, at + AT.endAngle),
    timestamp: u16(bytes, at + AT.timestamp),
    points: Array.from({ length: POINTS }, (_, i) => ({
      distance: u16(bytes, at + AT.points + 3 * i),
      intensity: bytes[at + AT.points + 3 * i + 2] ?? 0,
    })),
  };
}

/** What is sent to a Kobuki. Source: Kobuki documentation, appendix "Protocol Specification". */
import { HEADER, xorOf } from './frame-parser.js';

const BASE_CONTROL = 0x01;
const REQUEST_EXTRA = 0x09;
const HARDWARE_VERSION = 0x01;
const FIRMWARE_VERSION = 0x02;

/** Speeds that count as none, m/s: less than a millimetre a second cannot be said. */
const LEAST = 0.0005;
const MAX_S16 = 32_767;

/** Speed of the outer wheel, mm/s, and radius, mm, positive to the left; what the firmware makes wheel speeds of. */
export interface Arc {
  speed: number;
  radius: number;
}

/**
 * Wheel speeds (m/s) as the firmware wants them: straight on is radius 0, turning on the spot is radius 1, and on a
 * curve the speed is that of the wheel on the outside. `bias`: distance of the wheels, m.
 */
export function arcOf(left: number, right: number, bias: number): Arc {
  const v = (left + right) / 2;
  const w = (right - left) / bias;
  if (Math.abs(right - left) < LEAST) return { speed: whole(1000 * v), radius: 0 };
  const radius = (1000 * v) / w;
  if (Math.abs(radius) <= 1) return { speed: whole((1000 * bias * w) / 2), radius: 1 };
  // A radius that does not fit is a line for all purposes.
  if (Math.abs(radius) > MAX_S16) return { speed: whole(1000 * v), radius: 0 };
  const outer = radius > 0 ? radius + 500 * bias : radius - 500 * bias;
  return { speed: whole(outer * w), radius: whole(radius) };
}

export function baseControl(arc: Arc): Uint8Array {
  return command(Uint8Array.of(BASE_CONTROL, 4, ...le16(arc.speed), ...le16(arc.radius)));
}

export const STOP = baseControl({ speed: 0, radius: 0 });

/** Asks for the versions, which come once, in the next report. */
export const ASK_VERSIONS = command(Uint8Array.of(REQUEST_EXTRA, 2, HARDWARE_VERSION | FIRMWARE_VERSION, 0));

function command(payload: Uint8Array): Uint8Array {
  const bytes = Uint8Array.of(...HEADER, payload.length, ...payload, 0);
  bytes[bytes.length - 1] = xorOf(bytes, 2, bytes.length - 1);
  return bytes;
}

function le16(value: number): [number, number] {
  return [value & 0xff, (value >> 8) & 0xff];
}

function whole(value: number): number {
  return Math.max(-MAX_S16, Math.min(MAX_S16, Math.round(value)));
}

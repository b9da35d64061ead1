/**
 * Requests and answers of a Slamtec RPLIDAR. Numbers are little-endian. Source: Slamtec, "RPLIDAR Interface Protocol
 * and Application Notes"; see docs/protocols/rplidar.md.
 */

const START = 0xa5;

/** Requests without data; only with data there is a checksum. */
export const REQUEST = {
  stop: Uint8Array.of(START, 0x25),
  reset: Uint8Array.of(START, 0x40),
  scan: Uint8Array.of(START, 0x20),
  info: Uint8Array.of(START, 0x50),
  health: Uint8Array.of(START, 0x52),
} as const;

/** Two bytes, 30 bits of length and 2 of mode, one of type. */
export const DESCRIPTOR_BYTES = 7;
const DESCRIPTOR = [START, 0x5a] as const;

export const ANSWER = { info: 0x04, health: 0x06, node: 0x81 } as const;
const LENGTHS: Readonly<Record<number, number>> = {
  [ANSWER.info]: 20,
  [ANSWER.health]: 3,
  [ANSWER.node]: 5,
};

export interface Descriptor {
  type: number;
  /** Of one answer, bytes. */
  length: number;
  /** Answers go on coming without being asked for. */
  repeated: boolean;
}

/** The descriptor at `at`; null when there is none, or one that belongs to no request of this driver. */
export function descriptorAt(bytes: Uint8Array, at: number): Descriptor | null {
  if (bytes[at] !== DESCRIPTOR[0] || bytes[at + 1] !== DESCRIPTOR[1]) return null;
  if (at + DESCRIPTOR_BYTES > bytes.length) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, DESCRIPTOR_BYTES);
  const word = view.getUint32(2, true);
  const type = view.getUint8(6);
  const length = word & 0x3fff_ffff;
  const mode = word >>> 30;
  if (LENGTHS[type] !== length || mode !== (type === ANSWER.node ? 1 : 0)) return null;
  return { type, length, repeated: mode === 1 };
}

export interface DeviceInfo {
  model: number;
  /** As `1.29`. */
  firmware: string;
  hardware: string;
}

/** From the 20 bytes of the answer; the serial number in them names one device, and is left where it is. */
export function decodeInfo(data: Uint8Array): DeviceInfo {
  const [model = 0, minor = 0, major = 0, hardware = 0] = data;
  return {
    model,
    firmware: `${major}.${String(minor).padStart(2, '0')}`,
    hardware: String(hardware),
  };
}

/** The device's own self-test; the code says what is wrong, in numbers of its maker. */
export interface DeviceHealth {
  status: 'good' | 'warning' | 'error';
  code: number;
}

export function decodeHealth(data: Uint8Array): DeviceHealth | null {
  const [status = 0xff, low = 0, high = 0] = data;
  const name = (['good', 'warning', 'error'] as const)[status];
  return name === undefined ? null : { status: name, code: low | (high << 8) };
}

export const NODE_BYTES = 5;
/** Steps of a node's angle in a full turn, and of its range in a metre. */
export const STEPS_PER_TURN = 360 * 64;
export const RANGE_PER_METRE = 4000;

/** One measurement of the standard scan. */
export interface Node {
  /** First of a new turn, as the device says. */
  first: boolean;
  /** 0…63 */
  quality: number;
  /** Steps, clockwise. */
  angle: number;
  /** Quarters of a millimetre; 0 where nothing came back. */
  distance: number;
}

/**
 * Whether the five bytes at `at` can be a node: of its three check bits, one flag and its complement differ, and one
 * is always set; and an angle is less than a full turn. That is all the protocol has; there is no checksum.
 */
export function isNode(bytes: Uint8Array, at: number): boolean {
  const head = bytes[at] ?? 0;
  const low = bytes[at + 1] ?? 0;
  if (((head ^ (head >> 1)) & 1) !== 1 || (low & 1) !== 1) return false;
  return nodeAngle(bytes, at) < STEPS_PER_TURN;
}

export function nodeAngle(bytes: Uint8Array, at: number): number {
  return ((bytes[at + 1] ?? 0) >> 1) | ((bytes[at + 2] ?? 0) << 7);
}

export function isFirst(bytes: Uint8Array, at: number): boolean {
  return ((bytes[at] ?? 0) & 1) === 1;
}

export function decodeNode(bytes: Uint8Array, at: number): Node {
  return {
    first: isFirst(bytes, at),
    quality: (bytes[at] ?? 0) >> 2,
    angle: nodeAngle(bytes, at),
    distance: (bytes[at + 3] ?? 0) | ((bytes[at + 4] ?? 0) << 8),
  };
}

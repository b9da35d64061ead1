/**
 * The sub-payloads that a Kobuki sends, and what their bytes mean. Numbers are little-endian. Source: Kobuki
 * documentation, appendix "Protocol Specification"; see docs/protocols/kobuki.md.
 */

export const SUB = {
  core: 0x01,
  dockingIr: 0x03,
  inertial: 0x04,
  cliff: 0x05,
  current: 0x06,
  hardwareVersion: 0x0a,
  firmwareVersion: 0x0b,
  gyro: 0x0d,
  inputs: 0x10,
  uniqueId: 0x13,
  controller: 0x15,
} as const;

/** Data bytes of each sub-payload; null: it depends on how much there is to tell. */
const LENGTHS: Readonly<Record<number, number | null>> = {
  [SUB.core]: 15,
  [SUB.dockingIr]: 3,
  [SUB.inertial]: 7,
  [SUB.cliff]: 6,
  [SUB.current]: 2,
  [SUB.hardwareVersion]: 4,
  [SUB.firmwareVersion]: 4,
  [SUB.gyro]: null,
  [SUB.inputs]: 16,
  [SUB.uniqueId]: 12,
  [SUB.controller]: 13,
};
/** Raw gyro: a frame number, how many values follow, and three of two bytes for each of up to five samples. */
const GYRO_SAMPLE = 6;
const MAX_GYRO_SAMPLES = 5;

/** What every report of the firmware holds; one that lacks a part is no report. */
const ALWAYS: readonly number[] = [SUB.core, SUB.dockingIr, SUB.inertial, SUB.cliff, SUB.current, SUB.inputs];

export type ChargerState =
  | 'discharging'
  | 'docking_charged'
  | 'docking_charging'
  | 'adapter_charged'
  | 'adapter_charging';

const CHARGER: Readonly<Record<number, ChargerState>> = {
  0: 'discharging',
  2: 'docking_charged',
  6: 'docking_charging',
  18: 'adapter_charged',
  22: 'adapter_charging',
};

/** One report in the chip's own units. */
export interface KobukiReport {
  /** ms, 0…65535, rolling over. */
  timestamp: number;
  bumpRight: boolean;
  bumpCenter: boolean;
  bumpLeft: boolean;
  wheelDropRight: boolean;
  wheelDropLeft: boolean;
  cliffRight: boolean;
  cliffCenter: boolean;
  cliffLeft: boolean;
  /** 0…65535, rolling over. */
  encoderLeft: number;
  encoderRight: number;
  /** −128…127, as the motor controllers have it. */
  pwmLeft: number;
  pwmRight: number;
  /** Bits 0…2: buttons B0, B1, B2. */
  buttons: number;
  charger: ChargerState;
  /** Tenths of a volt. */
  batteryDecivolts: number;
  overcurrentLeft: boolean;
  overcurrentRight: boolean;
  /** Signals of the station at the three receivers; bits in `IR`. */
  dockingIr: { right: number; center: number; left: number };
  /** Hundredths of a degree, counter-clockwise, and of a degree a second. */
  heading: number;
  headingRate: number;
  /** Strength of the floor's reflection. */
  cliffAdc: { right: number; center: number; left: number };
  /** mA */
  currentLeft: number;
  currentRight: number;
  /** Bits 0…3; an input that nothing is connected to reads 1. */
  digitalInputs: number;
  analogInputs: readonly number[];
  hardwareVersion: string | null;
  firmwareVersion: string | null;
}

/** Regions before the station: far and near, to the left, in the middle and to the right of it as it looks out. */
export const IR = {
  nearLeft: 0x01,
  nearCenter: 0x02,
  nearRight: 0x04,
  farCenter: 0x08,
  farLeft: 0x10,
  farRight: 0x20,
} as const;

/**
 * Whether the bytes at `start` can be a payload of `length`: known sub-payloads with their own lengths that fill it
 * exactly and hold everything a report holds. What has not arrived yet cannot speak against it.
 */
export function isLayout(bytes: Uint8Array, start: number, length: number): boolean {
  const end = start + length;
  let at = start;
  let seen = 0;
  while (at < end) {
    const id = bytes[at];
    const size = bytes[at + 1];
    if (id === undefined) return true;
    const expected = LENGTHS[id];
    if (expected === undefined) return false;
    if (size === undefined) return true;
    if (!(expected === null ? isGyroLength(size) : size === expected)) return false;
    seen |= 1 << id;
    at += 2 + size;
  }
  return at === end && ALWAYS.every((id) => (seen & (1 << id)) !== 0);
}

function isGyroLength(size: number): boolean {
  const data = size - 2;
  return data >= 0 && data % GYRO_SAMPLE === 0 && data / GYRO_SAMPLE <= MAX_GYRO_SAMPLES;
}

/** Decodes a payload that `isLayout` has accepted; null when a value cannot be: a flag or a state that does not exist. */
export function decodeReport(payload: Uint8Array): KobukiReport | null {
  const part = subPayloads(payload);
  const core = part(SUB.core);
  const ir = part(SUB.dockingIr);
  const inertial = part(SUB.inertial);
  const cliff = part(SUB.cliff);
  const current = part(SUB.current);
  const inputs = part(SUB.inputs);
  if (!core || !ir || !inertial || !cliff || !current || !inputs) return null;
  const bump = u8(core, 2);
  const drop = u8(core, 3);
  const edge = u8(core, 4);
  const charger = CHARGER[u8(core, 12)];
  const over = u8(core, 14);
  if (charger === undefined || bump > 7 || drop > 3 || edge > 7 || u8(core, 11) > 7 || over > 3) return null;
  if (u16(inputs, 0) > 15) return null;
  return {
    timestamp: u16(core, 0),
    bumpRight: (bump & 1) !== 0,
    bumpCenter: (bump & 2) !== 0,
    bumpLeft: (bump & 4) !== 0,
    wheelDropRight: (drop & 1) !== 0,
    wheelDropLeft: (drop & 2) !== 0,
    cliffRight: (edge & 1) !== 0,
    cliffCenter: (edge & 2) !== 0,
    cliffLeft: (edge & 4) !== 0,
    encoderLeft: u16(core, 5),
    encoderRight: u16(core, 7),
    pwmLeft: s8(core, 9),
    pwmRight: s8(core, 10),
    buttons: u8(core, 11),
    charger,
    batteryDecivolts: u8(core, 13),
    overcurrentLeft: (over & 1) !== 0,
    overcurrentRight: (over & 2) !== 0,
    dockingIr: { right: u8(ir, 0) & 0x3f, center: u8(ir, 1) & 0x3f, left: u8(ir, 2) & 0x3f },
    heading: s16(inertial, 0),
    headingRate: s16(inertial, 2),
    cliffAdc: { right: u16(cliff, 0), center: u16(cliff, 2), left: u16(cliff, 4) },
    currentLeft: 10 * u8(current, 0),
    currentRight: 10 * u8(current, 1),
    digitalInputs: u16(inputs, 0),
    analogInputs: [2, 4, 6, 8].map((at) => u16(inputs, at)),
    hardwareVersion: version(part(SUB.hardwareVersion)),
    firmwareVersion: version(part(SUB.firmwareVersion)),
  };
}

function subPayloads(payload: Uint8Array): (id: number) => Uint8Array | null {
  const parts = new Map<number, Uint8Array>();
  for (let at = 0; at + 1 < payload.length; ) {
    const size = u8(payload, at + 1);
    parts.set(u8(payload, at), payload.subarray(at + 2, at + 2 + size));
    at += 2 + size;
  }
  return (id) => parts.get(id) ?? null;
}

/** Patch, minor and major stand in this order. */
function version(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : `${u8(bytes, 2)}.${u8(bytes, 1)}.${u8(bytes, 0)}`;
}

function u8(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}

function s8(bytes: Uint8Array, at: number): number {
  return (u8(bytes, at) << 24) >> 24;
}

function u16(bytes: Uint8Array, at: number): number {
  return u8(bytes, at) | (u8(bytes, at + 1) << 8);
}

function s16(bytes: Uint8Array, at: number): number {
  return (u16(bytes, at) << 16) >> 16;
}

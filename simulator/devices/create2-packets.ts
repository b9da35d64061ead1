/**
 * Sensor packets of iRobot's Create 2 Open Interface and how the base lays them out, after iRobot's "Create 2
 * Open Interface (OI) Specification based on the iRobot Roomba 600". Numbers are big-endian.
 */

/** Bytes of packets 7…58; negative where the number is signed. */
const SIZES: readonly number[] = [
  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -2, -2, 1, 2, -2, -1, 2, 2, 2, 2, 2, 2, 2, 1, 2, 1, 1, 1, 1, 1, -2, -2,
  -2, -2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1, 1, -2, -2, -2, -2, 1,
];
const FIRST = 7;
const LAST = 58;

/** Group packets: the range of packets each stands for. */
const GROUPS: Readonly<Record<number, readonly [number, number]>> = {
  0: [7, 26],
  1: [7, 16],
  2: [17, 20],
  3: [21, 26],
  4: [27, 34],
  5: [35, 42],
  6: [7, 42],
  100: [7, 58],
  101: [43, 58],
  106: [46, 51],
  107: [54, 58],
};

/** The single packets that `id` stands for; empty when the base knows no such packet. */
export function packetsOf(id: number): readonly number[] {
  if (id >= FIRST && id <= LAST) return [id];
  const range = GROUPS[id];
  if (range === undefined) return [];
  return Array.from({ length: range[1] - range[0] + 1 }, (_, i) => range[0] + i);
}

/** Bytes of a packet or group; 0 when the base knows none of this id. */
export function packetBytes(id: number): number {
  return packetsOf(id).reduce((sum, p) => sum + Math.abs(SIZES[p - FIRST] ?? 0), 0);
}

/** Appends the bytes of packet or group `id`; `value` gives each single packet's number. */
export function encodePacket(id: number, value: (packet: number) => number, out: number[]): void {
  for (const packet of packetsOf(id)) {
    const size = SIZES[packet - FIRST] ?? 1;
    const number = limit(Math.round(value(packet)), size);
    if (Math.abs(size) === 2) out.push((number >> 8) & 0xff);
    out.push(number & 0xff);
  }
}

/** A stream frame: 19, number of bytes, each id with its bytes, and a checksum that makes the sum 0 (mod 256). */
export function encodeStream(ids: readonly number[], value: (packet: number) => number): Uint8Array {
  const data: number[] = [];
  for (const id of ids) {
    data.push(id);
    encodePacket(id, value, data);
  }
  const frame = [19, data.length, ...data];
  const sum = frame.reduce((a, b) => a + b, 0);
  return Uint8Array.from([...frame, -sum & 0xff]);
}

/** The base's answer when a number does not fit: it stays at the end of the range. */
function limit(value: number, size: number): number {
  const bits = 8 * Math.abs(size);
  const [low, high] = size < 0 ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
  return Math.max(low, Math.min(high, value));
}

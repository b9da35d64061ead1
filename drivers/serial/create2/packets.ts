/**
 * Sensor packets of the Create 2 Open Interface: number, size and meaning. Source: iRobot Create 2 Open
 * Interface Specification (2015 to 2018 editions); see docs/protocols/create2-open-interface.md.
 */

export interface PacketInfo {
  id: number;
  name: string;
  bytes: 1 | 2;
  signed: boolean;
}

/** Packet numbers that the driver uses by name. */
export const P = {
  bumpsWheelDrops: 7,
  cliffLeft: 9,
  cliffFrontLeft: 10,
  cliffFrontRight: 11,
  cliffRight: 12,
  overcurrents: 14,
  irOmni: 17,
  buttons: 18,
  chargingState: 21,
  voltage: 22,
  current: 23,
  temperature: 24,
  batteryCharge: 25,
  batteryCapacity: 26,
  cliffLeftSignal: 28,
  cliffFrontLeftSignal: 29,
  cliffFrontRightSignal: 30,
  cliffRightSignal: 31,
  chargingSources: 34,
  oiMode: 35,
  encoderA: 43,
  encoderB: 44,
  irLeft: 52,
  irRight: 53,
  leftMotorCurrent: 54,
  rightMotorCurrent: 55,
  stasis: 58,
} as const;

const u8 = (id: number, name: string): PacketInfo => ({ id, name, bytes: 1, signed: false });
const s8 = (id: number, name: string): PacketInfo => ({ id, name, bytes: 1, signed: true });
const u16 = (id: number, name: string): PacketInfo => ({ id, name, bytes: 2, signed: false });
const s16 = (id: number, name: string): PacketInfo => ({ id, name, bytes: 2, signed: true });

/** Every single packet, 7…58, in order. */
export const PACKETS: readonly PacketInfo[] = [
  u8(7, 'bumps_wheel_drops'),
  u8(8, 'wall'),
  u8(9, 'cliff_left'),
  u8(10, 'cliff_front_left'),
  u8(11, 'cliff_front_right'),
  u8(12, 'cliff_right'),
  u8(13, 'virtual_wall'),
  u8(14, 'overcurrents'),
  u8(15, 'dirt_detect'),
  u8(16, 'unused_16'),
  u8(17, 'ir_omni'),
  u8(18, 'buttons'),
  s16(19, 'distance_mm'),
  s16(20, 'angle_deg'),
  u8(21, 'charging_state'),
  u16(22, 'voltage_mv'),
  s16(23, 'current_ma'),
  s8(24, 'temperature_c'),
  u16(25, 'battery_charge_mah'),
  u16(26, 'battery_capacity_mah'),
  u16(27, 'wall_signal'),
  u16(28, 'cliff_left_signal'),
  u16(29, 'cliff_front_left_signal'),
  u16(30, 'cliff_front_right_signal'),
  u16(31, 'cliff_right_signal'),
  u8(32, 'unused_32'),
  u16(33, 'unused_33'),
  u8(34, 'charging_sources'),
  u8(35, 'oi_mode'),
  u8(36, 'song_number'),
  u8(37, 'song_playing'),
  u8(38, 'stream_packets'),
  s16(39, 'requested_velocity_mm_s'),
  s16(40, 'requested_radius_mm'),
  s16(41, 'requested_right_velocity_mm_s'),
  s16(42, 'requested_left_velocity_mm_s'),
  u16(43, 'encoder_43'),
  u16(44, 'encoder_44'),
  u8(45, 'light_bumper'),
  u16(46, 'light_bump_left_signal'),
  u16(47, 'light_bump_front_left_signal'),
  u16(48, 'light_bump_center_left_signal'),
  u16(49, 'light_bump_center_right_signal'),
  u16(50, 'light_bump_front_right_signal'),
  u16(51, 'light_bump_right_signal'),
  u8(52, 'ir_left'),
  u8(53, 'ir_right'),
  s16(54, 'left_motor_ma'),
  s16(55, 'right_motor_ma'),
  s16(56, 'main_brush_ma'),
  s16(57, 'side_brush_ma'),
  u8(58, 'stasis'),
];

/** First and last single packet of each group packet. */
const GROUPS: readonly [group: number, first: number, last: number][] = [
  [0, 7, 26],
  [1, 7, 16],
  [2, 17, 20],
  [3, 21, 26],
  [4, 27, 34],
  [5, 35, 42],
  [6, 7, 42],
  [100, 7, 58],
  [101, 43, 58],
  [106, 46, 51],
  [107, 54, 58],
];

const byId = new Map<number, readonly PacketInfo[]>([
  ...PACKETS.map((p): [number, PacketInfo[]] => [p.id, [p]]),
  ...GROUPS.map(([group, first, last]): [number, PacketInfo[]] => [
    group,
    PACKETS.filter((p) => p.id >= first && p.id <= last),
  ]),
]);

/** The single packets that packet `id` consists of, in wire order; null for an unknown number. */
export function packetMembers(id: number): readonly PacketInfo[] | null {
  return byId.get(id) ?? null;
}

/** Data bytes of packet `id`, a group or a single one; null for an unknown number. */
export function packetLength(id: number): number | null {
  return packetMembers(id)?.reduce((sum, p) => sum + p.bytes, 0) ?? null;
}

/** Raw values by packet number, signs applied. */
export type PacketValues = ReadonlyMap<number, number>;

/** Reads the members of packet `id` from `bytes` at `offset` into `into`; returns the offset behind them. */
export function readPacket(
  members: readonly PacketInfo[],
  bytes: Uint8Array,
  offset: number,
  into: Map<number, number>,
): number {
  let at = offset;
  for (const member of members) {
    const high = bytes[at] ?? 0;
    const raw = member.bytes === 1 ? high : (high << 8) | (bytes[at + 1] ?? 0);
    const half = member.bytes === 1 ? 0x80 : 0x8000;
    into.set(member.id, member.signed && raw >= half ? raw - 2 * half : raw);
    at += member.bytes;
  }
  return at;
}

/**
 * Decodes the answer to a Sensors command (opcode 142) for packet `id`: data bytes only, no framing and no
 * checksum. Null when the number is unknown or the length is not that packet's.
 */
export function decodeQueryReply(id: number, bytes: Uint8Array): PacketValues | null {
  const members = packetMembers(id);
  if (members === null || bytes.length !== packetLength(id)) return null;
  const values = new Map<number, number>();
  readPacket(members, bytes, 0, values);
  return values;
}

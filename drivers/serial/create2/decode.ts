/** What the raw packets of a Create 2 mean. */
import { P, type PacketValues } from './packets.js';

export type OiMode = 'off' | 'passive' | 'safe' | 'full';

export type ChargingState =
  | 'not_charging'
  | 'reconditioning'
  | 'full_charging'
  | 'trickle'
  | 'waiting'
  | 'fault';

/**
 * Which wheel packet 43 counts. The Create 2 specification and the drivers proven on that base say left; the
 * Roomba 500 specification, and libraries that follow it, say right.
 */
export type EncoderOrder = 'left_first' | 'right_first';

/** One report of the base. A field whose packet is not in it is null. */
export interface Create2Sensors {
  bumpLeft: boolean | null;
  bumpRight: boolean | null;
  wheelDropLeft: boolean | null;
  wheelDropRight: boolean | null;
  cliffLeft: boolean | null;
  cliffFrontLeft: boolean | null;
  cliffFrontRight: boolean | null;
  cliffRight: boolean | null;
  overcurrentLeft: boolean | null;
  overcurrentRight: boolean | null;
  /** Bits from 0: clean, spot, dock, minute, hour, day, schedule, clock. */
  buttons: number | null;
  /** Infrared characters, 0 where none is received. */
  irOmni: number | null;
  irLeft: number | null;
  irRight: number | null;
  chargingState: ChargingState | null;
  /** Contacts of the home base live. */
  homeBase: boolean | null;
  /** The charger's plug in its socket live. */
  internalCharger: boolean | null;
  voltageMv: number | null;
  /** Negative while the battery is drained. */
  currentMa: number | null;
  chargeMah: number | null;
  capacityMah: number | null;
  mode: OiMode | null;
  /** 0…65535, rolling over. */
  encoderLeft: number | null;
  encoderRight: number | null;
  /** The front wheel turns: the base makes way forward. */
  makingProgress: boolean | null;
  /** mA, negative backwards. */
  motorLeftMa: number | null;
  motorRightMa: number | null;
  /** °C, of the battery. */
  temperatureC: number | null;
  /** Strength of the floor's reflection, left, front left, front right, right, 0…4095; null when one is missing. */
  cliffSignals: readonly number[] | null;
}

const MODES: readonly OiMode[] = ['off', 'passive', 'safe', 'full'];
const CHARGING: readonly ChargingState[] = [
  'not_charging',
  'reconditioning',
  'full_charging',
  'trickle',
  'waiting',
  'fault',
];

export function decodeSensors(
  values: PacketValues,
  encoderOrder: EncoderOrder = 'left_first',
): Create2Sensors {
  const raw = (id: number): number | null => values.get(id) ?? null;
  const bit = (id: number, mask: number): boolean | null => {
    const value = values.get(id);
    return value === undefined ? null : (value & mask) !== 0;
  };
  const leftFirst = encoderOrder === 'left_first';
  return {
    bumpRight: bit(P.bumpsWheelDrops, 1),
    bumpLeft: bit(P.bumpsWheelDrops, 2),
    wheelDropRight: bit(P.bumpsWheelDrops, 4),
    wheelDropLeft: bit(P.bumpsWheelDrops, 8),
    cliffLeft: bit(P.cliffLeft, 1),
    cliffFrontLeft: bit(P.cliffFrontLeft, 1),
    cliffFrontRight: bit(P.cliffFrontRight, 1),
    cliffRight: bit(P.cliffRight, 1),
    overcurrentRight: bit(P.overcurrents, 8),
    overcurrentLeft: bit(P.overcurrents, 16),
    buttons: raw(P.buttons),
    irOmni: raw(P.irOmni),
    irLeft: raw(P.irLeft),
    irRight: raw(P.irRight),
    chargingState: CHARGING[values.get(P.chargingState) ?? -1] ?? null,
    internalCharger: bit(P.chargingSources, 1),
    homeBase: bit(P.chargingSources, 2),
    voltageMv: raw(P.voltage),
    currentMa: raw(P.current),
    chargeMah: raw(P.batteryCharge),
    capacityMah: raw(P.batteryCapacity),
    mode: MODES[values.get(P.oiMode) ?? -1] ?? null,
    encoderLeft: raw(leftFirst ? P.encoderA : P.encoderB),
    encoderRight: raw(leftFirst ? P.encoderB : P.encoderA),
    // Bit 1 says that the sensor does not work; then bit 0 says nothing.
    makingProgress: bit(P.stasis, 2) === true ? null : bit(P.stasis, 1),
    motorLeftMa: raw(P.leftMotorCurrent),
    motorRightMa: raw(P.rightMotorCurrent),
    temperatureC: raw(P.temperature),
    cliffSignals: allOf([
      raw(P.cliffLeftSignal),
      raw(P.cliffFrontLeftSignal),
      raw(P.cliffFrontRightSignal),
      raw(P.cliffRightSignal),
    ]),
  };
}

function allOf(values: readonly (number | null)[]): readonly number[] | null {
  const known = values.filter((value) => value !== null);
  return known.length === values.length ? known : null;
}

/** Percent of the estimated capacity; null while the base does not know its capacity. */
export function batteryPercent(sensors: Pick<Create2Sensors, 'chargeMah' | 'capacityMah'>): number | null {
  const { chargeMah, capacityMah } = sensors;
  if (chargeMah === null || capacityMah === null || capacityMah === 0) return null;
  return Math.min(100, Math.round((1000 * chargeMah) / capacityMah) / 10);
}

export function isCharging(state: ChargingState | null): boolean {
  return state === 'reconditioning' || state === 'full_charging' || state === 'trickle';
}

/** What may be believed of an answer of the ZPHS01B. */
import type { AirReading } from '../types.js';
import type { Zphs01bAnswer } from './answer.js';

/** The module's measuring ranges; outside of them a value says that its cell is missing, broken or saturated. */
const LIMITS = {
  pm: [0, 1000],
  /** No air that people breathe has less; the cell reports 0 when it fails. */
  co2: [250, 5000],
  voc: [0, 3],
  ch2o: [0, 6.25],
  temperature: [-20, 65],
  humidity: [1, 100],
  no2: [0, 10],
} as const satisfies Record<string, readonly [number, number]>;

/** A value is null when it is out of range, and all are while the module warms up. */
export function toReading(answer: Zphs01bAnswer, at: number, warmingUp: boolean): AirReading {
  const within = (value: number, [min, max]: readonly [number, number]): number | null =>
    warmingUp || !(value >= min && value <= max) ? null : value;
  return {
    at,
    warmingUp,
    pm1_0: within(answer.pm1_0, LIMITS.pm),
    pm2_5: within(answer.pm2_5, LIMITS.pm),
    pm10: within(answer.pm10, LIMITS.pm),
    co2: within(answer.co2, LIMITS.co2),
    vocLevel: within(answer.voc, LIMITS.voc),
    hcho: within(answer.ch2o, LIMITS.ch2o),
    temperature: within(answer.temperature, LIMITS.temperature),
    humidity: within(answer.humidity, LIMITS.humidity),
    no2: within(answer.no2, LIMITS.no2),
  };
}

/** How many values of a reading are null though the module is warm. */
export function implausible(reading: AirReading): number {
  return reading.warmingUp ? 0 : Object.values(reading).filter((value) => value === null).length;
}

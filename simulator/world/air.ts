/**
 * Air of each room as one well-mixed volume: mixing through open doors, exchange with the outdoors, particles
 * that settle, sources, breathing people, and the purifier where the robot stands.
 */
import type { Air } from '../types.js';
import type { Layout } from './layout.js';

/** Two-way flow through an open door, m³/s per metre of width: a few hundredths for an ordinary door. */
const DOOR_FLOW = 0.03;
/** Share per hour of particles that settle: coarse ones faster. */
const SETTLING = { pm1_0: 0.1, pm2_5: 0.2, pm10: 0.5 } as const;
/** How much of the purifier's clean air delivery rate counts for what its carbon stage takes. */
const CARBON = { voc: 0.4, hcho: 0.3 } as const;
/** A resting adult: 0.3 l of CO2 a minute, some moisture and warmth. Per minute, into the room's volume. */
const BREATH: Partial<Air> = { co2: 300, humidity: 3, temperature: 1.5, voc: 0.02 };
/** Rooms are heated or cooled back to this, °C, with this time constant, s. */
const HEATING = 22.5;
const HEATING_TIME = 3600;

const QUANTITIES = ['pm1_0', 'pm2_5', 'pm10', 'co2', 'voc', 'hcho', 'temperature', 'humidity'] as const;

export interface AirInputs {
  timeMs: number;
  /** Room the robot is in, −1 for none. */
  robotRoom: number;
  /** Fan speed as a share of its fastest. */
  fan: number;
  /** People in each room. */
  people: (room: number) => number;
}

export class HomeAir {
  readonly rooms: Air[];
  readonly #layout: Layout;

  constructor(layout: Layout) {
    this.#layout = layout;
    this.rooms = layout.rooms.map((room) => ({ ...room.air }));
  }

  /** Somebody shakes out a carpet: fine dust at the given PM2.5, µg/m³, with coarse dust to match. */
  makeDirty(room: number, pm2_5: number): void {
    const air = this.rooms[room];
    if (air === undefined) return;
    air.pm1_0 = pm2_5 * 0.6;
    air.pm2_5 = pm2_5;
    air.pm10 = pm2_5 * 1.5;
  }

  step(dtMs: number, inputs: AirInputs): void {
    const dt = dtMs / 1000;
    this.#mixThroughDoors(dt);
    this.rooms.forEach((air, room) => {
      this.#ventilate(air, dt);
      this.#settle(air, dt);
      this.#emit(air, room, inputs, dt);
      if (room === inputs.robotRoom) this.#purify(air, room, inputs.fan, dt);
      air.voc = Math.min(3, air.voc);
      air.humidity = Math.min(100, Math.max(0, air.humidity));
    });
  }

  #mixThroughDoors(dt: number): void {
    for (const opening of this.#layout.openings) {
      const a = this.rooms[opening.a];
      const b = this.rooms[opening.b];
      if (a === undefined || b === undefined || a === b) continue;
      const exchanged = DOOR_FLOW * opening.width * dt;
      const shareA = exchanged / this.#volume(opening.a);
      const shareB = exchanged / this.#volume(opening.b);
      for (const quantity of QUANTITIES) {
        const difference = b[quantity] - a[quantity];
        a[quantity] += shareA * difference;
        b[quantity] -= shareB * difference;
      }
    }
  }

  #ventilate(air: Air, dt: number): void {
    const share = (this.#layout.ventilation / 3600) * dt;
    for (const quantity of QUANTITIES) {
      if (quantity === 'temperature') continue;
      air[quantity] += share * (this.#layout.outdoor[quantity] - air[quantity]);
    }
    air.temperature += (dt / HEATING_TIME) * (HEATING - air.temperature);
  }

  #settle(air: Air, dt: number): void {
    for (const quantity of ['pm1_0', 'pm2_5', 'pm10'] as const) {
      air[quantity] *= 1 - (SETTLING[quantity] / 3600) * dt;
    }
  }

  #emit(air: Air, room: number, inputs: AirInputs, dt: number): void {
    for (const source of this.#layout.sources) {
      if (source.room === room && isOn(source, inputs.timeMs)) this.#add(air, room, source.emits, dt);
    }
    const people = inputs.people(room);
    if (people > 0) this.#add(air, room, BREATH, dt * people);
  }

  #add(air: Air, room: number, perMinute: Partial<Air>, dt: number): void {
    const share = dt / 60 / this.#volume(room);
    for (const quantity of QUANTITIES) air[quantity] += (perMinute[quantity] ?? 0) * share;
  }

  #purify(air: Air, room: number, fan: number, dt: number): void {
    const cleaned = ((this.#layout.cadr * fan) / 3600 / this.#volume(room)) * dt;
    for (const quantity of ['pm1_0', 'pm2_5', 'pm10'] as const) air[quantity] *= 1 - cleaned;
    for (const quantity of ['voc', 'hcho'] as const) air[quantity] *= 1 - cleaned * CARBON[quantity];
  }

  #volume(room: number): number {
    return this.#layout.rooms[room]?.volume ?? 1;
  }
}

function isOn(source: Layout['sources'][number], timeMs: number): boolean {
  const since = timeMs - source.startMs;
  if (since < 0) return false;
  return (source.everyMs === null ? since : since % source.everyMs) < source.forMs;
}

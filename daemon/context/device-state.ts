/** The newest observations of the body and its surroundings, each with its age, and the domain events they raise. */
import { type AirBands, gradeAir } from '../../config/contracts/air.js';
import type { AmrDriver, SafetyCondition } from '../../config/contracts/amr.js';
import type { Clock } from '../../config/contracts/clock.js';
import type { DomainEvent } from '../../config/contracts/wire/events.js';
import type { AirReading, AirSensorDriver, FanDriver, FanReading } from '../../drivers/serial/types.js';
import type { RoomCatalogue } from '../../executors/services.js';
import { type BodyFacts, bodyFacts } from '../../state-machines/body.js';
import type { AirSample, AirSource } from '../../state-machines/cleaning-types.js';
import type { DomainBus } from './domain-bus.js';
import { FaultWatch } from './fault-watch.js';
import { type Freshness, type FreshnessSettings, freshnessOf } from './freshness.js';
import { Steady } from './steady.js';

export interface DeviceStateDeps {
  clock: Clock;
  amr: AmrDriver;
  airSensor: AirSensorDriver | null;
  fan: FanDriver | null;
  rooms(): RoomCatalogue | null;
  bus: DomainBus;
  bands: AirBands;
  freshness: FreshnessSettings;
  /** Percent; below it `battery.low` is raised, and cleared five points above. */
  batteryReserve(): number;
}

export type AirState = 'ok' | 'warming_up' | 'error';

export interface BatteryBlock extends Freshness {
  level: number | null;
  charging: boolean | null;
  on_station: boolean | null;
  low: boolean | null;
}

export interface LocationBlock extends Freshness {
  current_room_id: string | null;
  current_room_name: string | null;
  x: number | null;
  y: number | null;
  theta: number | null;
  is_on_station: boolean | null;
  localized: boolean | null;
}

export interface AirBlock extends Freshness {
  pm10: number | null;
  pm2_5: number | null;
  pm1_0: number | null;
  tvoc: number | null;
  nox: number | null;
  hcho: number | null;
  co2: number | null;
  temperature: number | null;
  humidity: number | null;
  tvoc_level: number | null;
  grade: AirSample['grade'];
  source_state: AirState;
}

const LOOK_MS = 1000;
/** A part has to be gone, or back, for this long before it is told. */
const FAULT_LASTING_MS = 3000;
/** A new grade, a new battery state has to hold this long: a sensor at a limit flickers. */
const GRADE_LASTING_MS = 5000;
/** Points above the reserve at which a low battery is no longer low. */
const LOW_HYSTERESIS = 5;

const DRIVE_FAULTS: readonly SafetyCondition[] = ['wheel_drop', 'overcurrent', 'tilt'];

export class DeviceState {
  readonly #deps: DeviceStateDeps;
  readonly #faults: FaultWatch;
  readonly #grade: Steady<string | null>;
  readonly #airListeners = new Set<() => void>();
  readonly #ends: (() => void)[];
  #air: AirReading | null = null;
  #fan: FanReading | null = null;
  #docked: boolean | null = null;
  #charging: boolean | null = null;
  #low: boolean | null = null;
  #connected = false;

  constructor(deps: DeviceStateDeps) {
    this.#deps = deps;
    this.#faults = new FaultWatch(deps.clock, FAULT_LASTING_MS, ({ part, fault }) =>
      this.#emit('device.faultChanged', { part, fault, active: fault !== null }),
    );
    this.#grade = new Steady<string | null>(deps.clock, GRADE_LASTING_MS, null);
    deps.airSensor?.onReading((reading) => this.#takeAir(reading));
    deps.fan?.onReading((reading) => {
      this.#fan = reading;
    });
    this.#ends = [
      deps.amr.subscribe((event) => {
        if (event.type === 'state' || event.type === 'docked') this.#lookAtBody();
      }),
      deps.clock.every(LOOK_MS, () => this.#lookAtParts()),
    ];
  }

  /** The body as the last state said, with what is too old taken out. */
  facts(): BodyFacts {
    const { amr, clock, freshness } = this.#deps;
    return bodyFacts(amr.state(), clock.now(), freshness.locationTtlMs);
  }

  /** True while the wheels turn; null while nothing is known of them. */
  moving(): boolean | null {
    const { stoppedForMs } = this.facts();
    return stoppedForMs === null ? null : stoppedForMs === 0;
  }

  fanReading(): FanReading | null {
    return this.#fan;
  }

  /** Lasting faults of parts, e.g. `lidar: does not report`. */
  faults(): { part: string; fault: string }[] {
    return this.#faults.faults();
  }

  battery(): BatteryBlock {
    const { amr, clock, freshness } = this.#deps;
    const state = amr.state();
    const seen = state?.base.battery ?? null;
    const mark = freshnessOf(
      seen?.at ?? null,
      clock.now(),
      freshness.batteryTtlMs,
      state?.base.connected ?? false,
    );
    const facts = this.facts();
    return {
      level: mark.usable ? (seen?.percent ?? null) : null,
      charging: facts.charging,
      on_station: facts.docked,
      low: mark.usable ? this.#low : null,
      ...mark,
    };
  }

  location(): LocationBlock {
    const { amr, clock, freshness } = this.#deps;
    const state = amr.state();
    const valid = state?.localized === true && state.pose !== null;
    const mark = freshnessOf(state?.poseAt ?? null, clock.now(), freshness.locationTtlMs, valid);
    const facts = this.facts();
    const pose = mark.usable ? (state?.pose ?? null) : null;
    const room = pose === null ? null : (this.#deps.rooms()?.roomAt(pose) ?? null);
    return {
      current_room_id: room?.id ?? null,
      current_room_name: room?.name ?? null,
      x: toThousandth(pose?.x),
      y: toThousandth(pose?.y),
      theta: toThousandth(pose?.theta),
      is_on_station: facts.docked,
      localized: facts.localized,
      ...mark,
    };
  }

  air(): AirBlock {
    const { clock, freshness, airSensor } = this.#deps;
    const reading = this.#air;
    const sourceState = this.#airState();
    const mark = freshnessOf(
      reading?.at ?? null,
      clock.now(),
      freshness.airTtlMs,
      airSensor?.connected ?? false,
    );
    const usable = mark.usable && sourceState === 'ok';
    const value = (key: Exclude<keyof AirReading, 'at' | 'warmingUp'>) =>
      usable ? (reading?.[key] ?? null) : null;
    return {
      pm10: value('pm10'),
      pm2_5: value('pm2_5'),
      pm1_0: value('pm1_0'),
      tvoc: null,
      nox: null,
      hcho: value('hcho'),
      co2: value('co2'),
      temperature: value('temperature'),
      humidity: value('humidity'),
      tvoc_level: value('vocLevel'),
      grade: usable && reading !== null ? (gradeAir(reading, this.#deps.bands)?.grade ?? null) : null,
      source_state: sourceState,
      ...mark,
      usable,
    };
  }

  /** The air as the cleaning machine and the executors use it. */
  readonly airSource: AirSource = {
    sample: (): AirSample => {
      const { observed_at_ms, freshness_ms, usable, grade, pm2_5, pm10, co2 } = this.air();
      return { observedAtMs: observed_at_ms, freshnessMs: freshness_ms, usable, grade, pm2_5, pm10, co2 };
    },
    subscribe: (listener) => {
      this.#airListeners.add(listener);
      return () => this.#airListeners.delete(listener);
    },
  };

  /** The session's facts have changed; the cloud counts as reachable when both hold. */
  noteNetwork(facts: { transport_connected: boolean; subscription_ready: boolean }): void {
    const connected = facts.transport_connected && facts.subscription_ready;
    if (connected === this.#connected) return;
    this.#connected = connected;
    this.#emit('network.awsChanged', { connected });
  }

  close(): void {
    for (const end of this.#ends) end();
  }

  #airState(): AirState {
    const { airSensor, clock, freshness } = this.#deps;
    const reading = this.#air;
    if (airSensor === null || !airSensor.connected || reading === null) return 'error';
    if (clock.now() - reading.at > freshness.airTtlMs) return 'error';
    return reading.warmingUp ? 'warming_up' : 'ok';
  }

  #takeAir(reading: AirReading): void {
    this.#air = reading;
    for (const listener of [...this.#airListeners]) listener();
    const { grade } = this.air();
    if (grade === null) return;
    const change = this.#grade.see(grade);
    if (change === null) return;
    const worst = gradeAir(reading, this.#deps.bands)?.worst ?? null;
    this.#emit('air.qualityChanged', { grade, previous: change.from, worst });
  }

  #lookAtBody(): void {
    const facts = this.facts();
    if (facts.docked !== null && facts.docked !== this.#docked) {
      const first = this.#docked === null;
      this.#docked = facts.docked;
      if (!first) this.#emit('dock.stateChanged', { docked: facts.docked });
    }
    if (facts.charging !== null && facts.charging !== this.#charging) {
      const first = this.#charging === null;
      this.#charging = facts.charging;
      if (!first) this.#emit('battery.chargingChanged', { charging: facts.charging });
    }
    this.#lookAtBattery(facts);
  }

  #lookAtBattery({ batteryPercent, charging }: BodyFacts): void {
    if (batteryPercent === null) return;
    const batteryReserve = this.#deps.batteryReserve();
    const limit = this.#low === true ? batteryReserve + LOW_HYSTERESIS : batteryReserve;
    const low = batteryPercent < limit;
    if (low === this.#low) return;
    this.#low = low;
    if (low) this.#emit('battery.low', { level: batteryPercent, charging });
  }

  #lookAtParts(): void {
    const { amr, airSensor, fan } = this.#deps;
    const state = amr.state();
    const facts = this.facts();
    this.#faults.see('motion_process', facts.fresh ? null : 'does not report');
    if (facts.fresh) {
      this.#faults.see('base', state?.base.connected === true ? null : 'does not report');
      this.#faults.see('lidar', state?.lidar.connected === true ? null : 'does not report');
      const drive = facts.conditions.filter((condition) => DRIVE_FAULTS.includes(condition));
      this.#faults.see('drive', drive.length === 0 ? null : drive.join(', '));
    }
    if (airSensor !== null) {
      this.#faults.see('air_sensor', this.#airState() === 'error' ? 'does not report' : null);
    }
    if (fan !== null) this.#faults.see('fan', this.#fanFault(fan.connected));
  }

  #fanFault(connected: boolean): string | null {
    if (!connected) return 'does not answer';
    return this.#fan?.fault === true ? 'reports a fault' : null;
  }

  #emit(type: string, attributes: DomainEvent['attributes']): void {
    const { bus, clock } = this.#deps;
    bus.emit({ type, at: clock.now(), areaId: this.location().current_room_id, attributes });
  }
}

/** A millimetre or a milliradian: finer than the robot knows, and short in a context that is counted in bytes. */
function toThousandth(value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value * 1000) / 1000;
}

/** What a decision may rely on, taken from the driver's newest state. */
import type { AmrDriver, RobotState, SafetyCondition } from '../config/contracts/amr.js';
import type { Clock } from '../config/contracts/clock.js';
import { TaskFailure } from '../config/contracts/errors.js';
import type { Pose } from '../config/contracts/geometry.js';
import { StoppedWithProof } from '../config/contracts/stopped.js';
import { robotTimeOf } from './clock-jumps.js';
import type { StopProof } from './types.js';

/** Null means not known now: never observed, or too old to count. Times are robot time, epoch ms. */
export interface BodyFacts {
  /** When the state was made; null without one. */
  at: number | null;
  fresh: boolean;
  pose: Pose | null;
  localized: boolean | null;
  localizationScore: number | null;
  /** How long every wheel has stood still; 0 while one turns. */
  stoppedForMs: number | null;
  batteryPercent: number | null;
  charging: boolean | null;
  docked: boolean | null;
  baseConnected: boolean;
  lidarConnected: boolean;
  estop: boolean;
  conditions: SafetyCondition[];
}

const UNKNOWN_BODY: BodyFacts = {
  at: null,
  fresh: false,
  pose: null,
  localized: null,
  localizationScore: null,
  stoppedForMs: null,
  batteryPercent: null,
  charging: null,
  docked: null,
  baseConnected: false,
  lidarConnected: false,
  estop: false,
  conditions: [],
};

/** A battery reading counts longer than a pose: it changes slowly, and nobody brakes for it. */
const BATTERY_FRESH_MS = 30_000;

/** `freshMs`: older states and poses count as unknown. */
export function bodyFacts(state: RobotState | null, now: number, freshMs: number): BodyFacts {
  if (state === null) return UNKNOWN_BODY;
  const fresh = now - state.at <= freshMs;
  const poseFresh = fresh && state.poseAt !== null && state.at - state.poseAt <= freshMs;
  const baseFresh = fresh && state.base.connected;
  const battery = state.base.battery;
  return {
    at: state.at,
    fresh,
    pose: poseFresh ? state.pose : null,
    localized: fresh ? state.localized : null,
    localizationScore: fresh ? state.localizationScore : null,
    stoppedForMs: baseFresh && state.twist !== null ? stoppedFor(state) : null,
    batteryPercent: battery !== null && now - battery.at <= BATTERY_FRESH_MS ? battery.percent : null,
    charging: baseFresh ? state.base.charging : null,
    docked: baseFresh ? state.base.docked : null,
    baseConnected: baseFresh,
    lidarConnected: fresh && state.lidar.connected,
    estop: state.safety.estop.latched,
    conditions: fresh ? state.safety.active : [],
  };
}

function stoppedFor(state: RobotState): number {
  return state.stoppedSince === null ? 0 : Math.max(0, state.at - state.stoppedSince);
}

export interface StopLimits {
  /** Standing still this long counts as stopped, ms. */
  stillMs: number;
  freshMs: number;
  /** Within this the stop has to be proven, ms. */
  proofMs: number;
}

/**
 * Waits until a state made after this call says that the wheels stand still. When that cannot be shown in time
 * and they are seen turning, cuts the drive; rejects with HARDWARE_FAULT either way.
 */
export function awaitWheelsStopped(amr: AmrDriver, clock: Clock, limits: StopLimits): Promise<StopProof> {
  const asked = clock.mono();
  return new Promise((resolve, reject) => {
    const look = () => {
      const facts = bodyFacts(amr.state(), clock.now(), limits.freshMs);
      const since = robotTimeOf(clock, asked);
      if (facts.at === null || !seenAfter(facts, since) || !isStill(facts, limits.stillMs)) return;
      end();
      resolve({ stopped: true, observedAtMs: facts.at, stoppedForMs: facts.stoppedForMs ?? 0 });
    };
    const unsubscribe = amr.subscribe((event) => {
      if (event.type === 'state') look();
    });
    const cancel = clock.after(limits.proofMs, () => {
      end();
      reject(stopUnproven(amr, bodyFacts(amr.state(), clock.now(), limits.freshMs), limits.proofMs));
    });
    const end = () => {
      cancel();
      unsubscribe();
    };
    look();
  });
}

/** A state made this long after a stop was asked for cannot have been on its way before it, ms. */
const IN_FLIGHT_MS = 100;

/** True when the facts tell of a time in which a request made at `asked` had already taken effect. */
export function seenAfter(facts: BodyFacts, asked: number): boolean {
  return facts.at !== null && facts.at > asked + IN_FLIGHT_MS;
}

/** For evidence: where the robot is, where it knows. */
export function knownPose(facts: BodyFacts): BodyFacts['pose'] {
  return facts.localized === true ? facts.pose : null;
}

export function isStill(facts: BodyFacts, stillMs: number): boolean {
  return facts.fresh && facts.stoppedForMs !== null && facts.stoppedForMs >= stillMs;
}

/**
 * Wheels that turn after a stop was asked for are a defect of the drive: its power is cut until a person looks.
 * `because`: why the motion was to end, where that was a failure.
 */
export function stopUnproven(
  amr: AmrDriver,
  facts: BodyFacts,
  proofMs: number,
  because: string | null = null,
): TaskFailure {
  const turning = facts.stoppedForMs === 0;
  if (turning) amr.estop('stop not confirmed').catch(() => undefined);
  else amr.stop('stop not confirmed').catch(() => undefined);
  const seen = turning
    ? 'the wheels still turn: the drive was cut'
    : 'no fresh report of the wheels came: stop was sent again';
  const first = because === null ? '' : `${because}; `;
  const message = `${first}the stop could not be confirmed within ${proofMs} ms; ${seen}`;
  return new TaskFailure('HARDWARE_FAULT', message, {
    ...(facts.at === null ? {} : { observedAtMs: facts.at }),
    evidence: { stopped: false, drive_cut: turning },
  });
}

/** The end of an aborted motion, once its stop is proven. */
export function stoppedWithProof(proof: StopProof, more: Record<string, unknown> = {}): StoppedWithProof {
  return new StoppedWithProof({
    stopped: true,
    observed_at_ms: proof.observedAtMs,
    stopped_for_ms: proof.stoppedForMs,
    ...more,
  });
}

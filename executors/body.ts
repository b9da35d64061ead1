/** What the executors may rely on about the robot's body, and the refusals when they may not. */
import { Refusal } from '../config/contracts/errors.js';
import { type BodyFacts, bodyFacts } from '../state-machines/body.js';
import type { RoomCatalogue, Services } from './services.js';

export interface MotionNeeds {
  /** False for going home, and for what needs no journey. */
  reserve: boolean;
  localized: boolean;
}

export function factsNow(services: Services, nowMs: number): BodyFacts {
  return bodyFacts(services.amr.state(), nowMs, services.settings.stop.freshMs);
}

/** Refuses what cannot move now: the conditions every motion shares. */
export function requireMotion(services: Services, nowMs: number, needs: MotionNeeds): BodyFacts {
  const facts = factsNow(services, nowMs);
  const at = facts.at ?? undefined;
  if (facts.estop) {
    throw new Refusal(
      'EMERGENCY_STOP',
      'the emergency stop is latched: release it at the robot',
      undefined,
      at,
    );
  }
  if (!facts.fresh || !facts.baseConnected) {
    throw new Refusal(
      'CAPABILITY_UNAVAILABLE',
      'the base does not report: check its cable and power',
      undefined,
      at,
    );
  }
  if (services.amr.state()?.hardware?.lidar?.health === 'error') {
    throw new Refusal(
      'CAPABILITY_UNAVAILABLE',
      'the lidar failed its own self-test and does not turn: switch it off and on, and replace it if that does not help',
      undefined,
      at,
    );
  }
  if (!facts.lidarConnected) {
    throw new Refusal(
      'CAPABILITY_UNAVAILABLE',
      'the lidar does not report: check its cable and power',
      undefined,
      at,
    );
  }
  if (needs.localized && (facts.localized !== true || facts.pose === null)) {
    throw new Refusal('LOCALIZATION_LOST', 'the robot does not know where it is on the map', undefined, at);
  }
  const batteryReserve = services.settings.batteryReserve();
  if (needs.reserve && facts.batteryPercent !== null && facts.batteryPercent < batteryReserve) {
    throw new Refusal(
      'LOW_BATTERY',
      `the battery is at ${facts.batteryPercent} %, below the reserve of ${batteryReserve} %`,
      undefined,
      at,
    );
  }
  return facts;
}

/** The rooms, or why nothing can be driven to. */
export function requireRooms(services: Services): RoomCatalogue {
  const rooms = services.rooms();
  if (rooms === null) {
    throw new Refusal(
      'CAPABILITY_UNAVAILABLE',
      'no map is loaded: take one over with deviceagent map import',
    );
  }
  if (rooms.mapping === true) {
    throw new Refusal(
      'STATE_CONDITION_FAILED',
      'the home is being mapped: the robot goes to no room until that is saved or given up with stopMapping',
    );
  }
  if (rooms.editable) {
    throw new Refusal('STATE_CONDITION_FAILED', 'the map is being edited: nothing drives until that is done');
  }
  return rooms;
}

export function requireStation(services: Services): void {
  if (requireRooms(services).station === null) {
    throw new Refusal('CAPABILITY_UNAVAILABLE', 'the map has no station: add one to areas.yaml');
  }
}

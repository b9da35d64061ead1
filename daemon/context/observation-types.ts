/** Which domain events leave the device as semantic observations, with which attributes, and how often. Data. */
import type { ObservationType } from '../../config/contracts/wire/events.js';

export type AttributeKind = 'string' | 'number' | 'boolean';

export interface ObservationRule {
  /** Only these go out; anything else an event carries stays inside. */
  attributes: Record<string, AttributeKind>;
  /** Attributes that tell one thing from another, e.g. the part of a fault: each has its own debounce. */
  identity: readonly string[];
  debounceMs: number;
  ttlMs: number;
  /** `state`: only a change of attributes is news. `occurrence`: each one is. */
  kind: 'state' | 'occurrence';
  /** May be missed when the outbox is full to the brim. */
  droppable: boolean;
}

const state = { identity: [], kind: 'state', droppable: true } as const;
const occurrence = { identity: [], kind: 'occurrence', droppable: true } as const;
const MINUTE = 60_000;

export const OBSERVATION_RULES: Record<ObservationType, ObservationRule> = {
  'security.person_detected': {
    ...occurrence,
    attributes: { count_band: 'string' },
    debounceMs: 10_000,
    ttlMs: MINUTE,
  },
  'security.verification_result': {
    ...occurrence,
    attributes: { result: 'string', method: 'string' },
    debounceMs: 0,
    ttlMs: 10 * MINUTE,
    droppable: false,
  },
  'security.patrolCompleted': {
    ...occurrence,
    attributes: { areas_visited: 'number' },
    debounceMs: 0,
    ttlMs: 10 * MINUTE,
  },
  'vision.low_light_changed': {
    ...state,
    attributes: { low_light: 'boolean' },
    debounceMs: 10_000,
    ttlMs: 5 * MINUTE,
  },
  'vision.cameraChanged': { ...state, attributes: { state: 'string' }, debounceMs: 5000, ttlMs: 5 * MINUTE },
  'air.qualityChanged': {
    ...state,
    attributes: { grade: 'string', previous: 'string', worst: 'string' },
    debounceMs: 30_000,
    ttlMs: 5 * MINUTE,
  },
  'battery.low': {
    ...occurrence,
    attributes: { level: 'number' },
    debounceMs: 5 * MINUTE,
    ttlMs: 10 * MINUTE,
  },
  'battery.chargingChanged': {
    ...state,
    attributes: { charging: 'boolean' },
    debounceMs: 5000,
    ttlMs: 10 * MINUTE,
  },
  'movement.arrived': { ...occurrence, attributes: {}, debounceMs: 1000, ttlMs: MINUTE },
  'movement.obstructed': {
    ...occurrence,
    attributes: { cause: 'string' },
    debounceMs: 10_000,
    ttlMs: MINUTE,
  },
  'movement.localizationLost': { ...occurrence, attributes: {}, debounceMs: 10_000, ttlMs: 5 * MINUTE },
  'dock.stateChanged': { ...state, attributes: { docked: 'boolean' }, debounceMs: 2000, ttlMs: 10 * MINUTE },
  'network.awsChanged': {
    ...state,
    attributes: { connected: 'boolean' },
    debounceMs: 5000,
    ttlMs: 5 * MINUTE,
  },
  'voice.sessionChanged': { ...state, attributes: { active: 'boolean' }, debounceMs: 1000, ttlMs: MINUTE },
  'cleaning.stopped': {
    ...occurrence,
    attributes: { reason: 'string', grade_reached: 'boolean' },
    debounceMs: 1000,
    ttlMs: 5 * MINUTE,
  },
  'device.faultChanged': {
    ...state,
    identity: ['part'],
    attributes: { part: 'string', fault: 'string', active: 'boolean' },
    debounceMs: 5000,
    ttlMs: 10 * MINUTE,
  },
  'app.sessionStarted': { ...occurrence, attributes: { app: 'string' }, debounceMs: 0, ttlMs: 5 * MINUTE },
  'app.sessionEnded': {
    ...occurrence,
    attributes: { app: 'string', result: 'string' },
    debounceMs: 0,
    ttlMs: 5 * MINUTE,
  },
};

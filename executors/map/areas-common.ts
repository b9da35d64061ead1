/** What the methods that draw on the map share: shapes of their params, and their evidence. */
import { z } from 'zod';
import { Refusal } from '../../config/contracts/errors.js';
import type { Point } from '../../config/contracts/geometry.js';
import type { Completion } from '../method.js';
import type { AreaEvidence, Services } from '../services.js';
import { requireReports } from './common.js';

/** Metres, in the map frame; a home is smaller than a kilometre. */
const coordinate = z.number().min(-1000).max(1000);
const MAX_POINTS = 200;

const point = z
  .tuple([coordinate, coordinate], 'two numbers [x, y] in metres are needed')
  .transform(([x, y]): Point => ({ x, y }));
export const polygonParam = z
  .array(point)
  .min(3, 'at least 3 corners')
  .max(MAX_POINTS, `at most ${MAX_POINTS} corners`);
export const lineParam = z
  .array(point)
  .min(2, 'at least 2 points')
  .max(MAX_POINTS, `at most ${MAX_POINTS} points`);
export const goalParam = z.strictObject({ x: coordinate, y: coordinate, theta: coordinate });
export const nameParam = z
  .string()
  .min(1)
  .max(64)
  .transform((text) => text.normalize('NFC').trim())
  .refine((text) => text !== '', 'must not be blank');
export const idParam = z.string().min(1).max(64);

/**
 * Refuses while anything drives. A journey that is held does not: it is planned anew, on the map as it is then, when
 * it goes on.
 */
export function requireStill(services: Services, nowMs: number): void {
  const at = requireReports(services, nowMs);
  const { activity, paused } = services.motion.status();
  const state = services.amr.state();
  const turning = state !== null && state.twist !== null && state.stoppedSince === null;
  if ((activity !== 'idle' && !paused) || turning || state?.action != null) {
    throw new Refusal(
      'STATE_CONDITION_FAILED',
      'the robot drives: the map is changed only while nothing does',
      undefined,
      at,
    );
  }
  if (services.map.current() === null) {
    throw new Refusal(
      'CAPABILITY_UNAVAILABLE',
      'no map is loaded: take one over with deviceagent map import, or have the home mapped with startMapping',
    );
  }
  if (services.rooms()?.editable === true) {
    throw new Refusal('STATE_CONDITION_FAILED', 'the map is being changed already', undefined, at);
  }
}

export const areasOutput = z.strictObject({
  map_id: z.string(),
  previous_map_id: z.string(),
  area_ids: z.array(z.string()),
  walls: z.number(),
  no_go_areas: z.number(),
  speed_areas: z.number(),
});

/** Ids and counts: what people call their rooms stays out of events. */
export function areasCompletion(target: string, seen: AreaEvidence): Completion {
  const counts = { walls: seen.walls, no_go_areas: seen.noGoAreas, speed_areas: seen.speedAreas };
  return {
    stage: target,
    evidence: {
      completion_target: target,
      observed_at_ms: seen.observedAtMs,
      map_id: seen.mapId,
      previous_map_id: seen.previousMapId,
      rooms: seen.rooms,
      ...counts,
      localized: seen.localized,
      pose: seen.pose,
      rt_boot_id: seen.rtBootId,
      already: seen.already,
    },
    output: {
      map_id: seen.mapId,
      previous_map_id: seen.previousMapId,
      area_ids: seen.areaIds,
      ...counts,
    },
  };
}

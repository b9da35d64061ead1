/** What the methods of the map share. */
import { z } from 'zod';
import { Refusal } from '../../config/contracts/errors.js';
import { factsNow } from '../body.js';
import type { Completion } from '../method.js';
import type { MapEvidence, Services } from '../services.js';

/** Refuses when nobody could say what came of a change. Returns how old the newest report is. */
export function requireReports(services: Services, nowMs: number): number | undefined {
  const missing = services.map.unavailable();
  if (missing !== null) throw new Refusal('CAPABILITY_UNAVAILABLE', missing);
  const facts = factsNow(services, nowMs);
  const at = facts.at ?? undefined;
  if (!facts.fresh) {
    throw new Refusal(
      'CAPABILITY_UNAVAILABLE',
      'the motion process does not report: the map cannot be changed without it',
      undefined,
      at,
    );
  }
  if (services.amr.state()?.mapping != null) {
    throw new Refusal(
      'STATE_CONDITION_FAILED',
      'the home is being mapped: save that or give it up with stopMapping first',
      undefined,
      at,
    );
  }
  return at;
}

/** Refuses while anything drives, or nobody can say whether it does. */
export function requireRest(services: Services, nowMs: number): void {
  const at = requireReports(services, nowMs);
  const { activity } = services.motion.status();
  const state = services.amr.state();
  // Right after a start nothing has been measured yet: nothing was set in motion either.
  const turning = state !== null && state.twist !== null && state.stoppedSince === null;
  if (activity !== 'idle' || turning || state?.action != null) {
    throw new Refusal(
      'STATE_CONDITION_FAILED',
      'the robot drives: the map is changed only while nothing does',
      undefined,
      at,
    );
  }
}

export const mapOutput = z.strictObject({
  map_id: z.string().nullable(),
  previous_map_id: z.string().nullable(),
  rooms: z.number(),
  localized: z.boolean().nullable(),
});

export function mapCompletion(
  target: string,
  seen: MapEvidence,
  previous: string | null,
  already: boolean,
): Completion {
  return {
    stage: target,
    evidence: {
      completion_target: target,
      observed_at_ms: seen.observedAtMs,
      map_id: seen.mapId,
      previous_map_id: previous,
      rooms: seen.rooms,
      localized: seen.localized,
      pose: seen.pose,
      rt_boot_id: seen.rtBootId,
      already,
    },
    output: {
      map_id: seen.mapId,
      previous_map_id: previous,
      rooms: seen.rooms,
      localized: seen.localized,
    },
  };
}

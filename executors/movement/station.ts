/** `returnToStation`, `undock` and `relocalizeAtStation`. */
import { z } from 'zod';
import { Refusal } from '../../config/contracts/errors.js';
import { distance } from '../../config/contracts/geometry.js';
import { factsNow, requireMotion, requireRooms, requireStation } from '../body.js';
import { type Completion, defineMethod, type MethodSpec } from '../method.js';
import { withoutMotion, withWheelProof } from '../proof.js';
import type { Services } from '../services.js';
import { poseSchema } from './set-move-to.js';
import { stopCleaningFirst } from './stop-cleaning-first.js';

const none = z.strictObject({});
const dockedOutput = z.strictObject({ docked: z.boolean() });
const motion = [{ resource: 'motion', mode: 'exclusive' }] as const;

const common = {
  executor: 'movement',
  params: none,
  resources: motion,
  compensation: null,
  stopGraceMs: 8000,
  risk: 'low',
  idempotent: true,
} as const;

export function returnToStation(services: Services): MethodSpec {
  const available = (nowMs: number) => {
    requireStation(services);
    // On the contacts already: nothing needs to be localised, or to move.
    if (factsNow(services, nowMs).docked === true) return;
    requireMotion(services, nowMs, { reserve: false, localized: true });
  };
  return defineMethod<Record<string, never>>({
    ...common,
    name: 'returnToStation',
    summary: 'Drives home and onto the charging contacts, with retries.',
    output: dockedOutput,
    completionTarget: 'dock.docked',
    preconditionText: 'map with a station, localised, not e-stopped, base and scan fresh; any battery level',
    available,
    precondition: ({ nowMs }) => available(nowMs),
    cancel: { method: 'stopMove', proof: 'wheel speed 0 for 0.3 s' },
    // The way home is planned anew from wherever the robot is then.
    pause: { carry: () => null },
    timeoutMs: 180_000,
    alreadyDone: ({ nowMs }) => {
      const facts = factsNow(services, nowMs);
      if (facts.docked !== true || facts.at === null) return null;
      return docked({ charging: facts.charging, pose: facts.pose, observedAtMs: facts.at, attempts: 0 });
    },
    run: (ctx) =>
      withWheelProof(services, ctx.signal, async () => {
        const request = {
          operation: ctx.taskId,
          fence: ctx.fence('motion'),
          ...stopCleaningFirst(services, ctx),
        };
        return docked(await services.motion.dock(request, ctx.signal, ctx.progress.bind(ctx)));
      }),
  });
}

function docked(seen: {
  charging: boolean | null;
  pose: object | null;
  observedAtMs: number;
  attempts: number;
}): Completion {
  return {
    stage: 'docking.docked',
    evidence: {
      completion_target: 'dock.docked',
      observed_at_ms: seen.observedAtMs,
      docked: true,
      charging: seen.charging,
      attempts: seen.attempts,
      pose: seen.pose,
      idle: true,
    },
    output: { docked: true },
  };
}

export function undock(services: Services): MethodSpec {
  const clearance = services.settings.stationClearance;
  /** Metres from the docked pose; null while that is not known. */
  const away = (nowMs: number) => {
    const { pose, localized } = factsNow(services, nowMs);
    const station = services.rooms()?.station?.pose;
    return pose === null || localized !== true || station === undefined ? null : distance(pose, station);
  };
  const available = (nowMs: number) => {
    const facts = requireMotion(services, nowMs, { reserve: true, localized: false });
    const distanceNow = away(nowMs);
    const halfway = facts.docked === false && distanceNow !== null && distanceNow < clearance;
    if (facts.docked !== true && !halfway) {
      const at = facts.at ?? undefined;
      throw new Refusal('STATE_CONDITION_FAILED', 'the robot is not docked', undefined, at);
    }
  };
  return defineMethod<Record<string, never>>({
    ...common,
    name: 'undock',
    summary: 'Leaves the charging contacts until clear of the station.',
    output: dockedOutput,
    completionTarget: 'dock.undocked',
    preconditionText:
      'docked (or off the contacts and not yet clear of them), not e-stopped, battery above the reserve, base and scan fresh',
    available,
    precondition: ({ nowMs }) => available(nowMs),
    cancel: { method: 'stopMove', proof: 'wheel speed 0 for 0.3 s' },
    timeoutMs: 60_000,
    alreadyDone: ({ nowMs }) => {
      const facts = factsNow(services, nowMs);
      const clear = away(nowMs);
      if (facts.docked !== false || facts.at === null || clear === null || clear < clearance) return null;
      return undocked(clear, facts.pose, facts.at);
    },
    run: (ctx) =>
      withWheelProof(services, ctx.signal, async () => {
        const request = { operation: ctx.taskId, fence: ctx.fence('motion') };
        const result = await services.motion.undock(request, ctx.signal, ctx.progress.bind(ctx));
        return undocked(result.clearance, result.pose, result.observedAtMs);
      }),
  });
}

function undocked(clearance: number | null, pose: object | null, observedAtMs: number): Completion {
  return {
    stage: 'docking.undocked',
    evidence: {
      completion_target: 'dock.undocked',
      observed_at_ms: observedAtMs,
      docked: false,
      clearance_m: clearance,
      pose,
      idle: true,
    },
    output: { docked: false },
  };
}

export function relocalizeAtStation(services: Services): MethodSpec {
  const available = (nowMs: number) => {
    requireRooms(services);
    requireStation(services);
    const facts = requireMotion(services, nowMs, { reserve: false, localized: false });
    if (facts.docked !== true) {
      const at = facts.at ?? undefined;
      throw new Refusal('STATE_CONDITION_FAILED', 'the robot is not docked', undefined, at);
    }
  };
  return defineMethod<Record<string, never>>({
    ...common,
    name: 'relocalizeAtStation',
    summary: 'Takes the station as the place where the robot is, and checks it against the lidar.',
    output: z.strictObject({ pose: poseSchema, score: z.number().nullable() }),
    completionTarget: 'movement.localized',
    preconditionText: 'docked, map with a station, not e-stopped, base and scan fresh',
    available,
    precondition: ({ nowMs }) => available(nowMs),
    cancel: null,
    timeoutMs: 20_000,
    run: (ctx) =>
      withoutMotion(services, ctx.signal, async () => {
        const { pose, score, observedAtMs } = await services.motion.relocalizeAtStation(ctx.signal);
        return {
          stage: 'movement.localized',
          evidence: { completion_target: 'movement.localized', observed_at_ms: observedAtMs, pose, score },
          output: { pose, score },
        };
      }),
  });
}

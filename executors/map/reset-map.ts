/** `resetMap`: the robot forgets its home; `copyMap` brings it back. */
import { z } from 'zod';
import { Refusal } from '../../config/contracts/errors.js';
import { defineMethod, type MethodSpec } from '../method.js';
import { withoutMotion } from '../proof.js';
import type { Services } from '../services.js';
import { mapCompletion, mapOutput, requireRest } from './common.js';

const TARGET = 'map.reset';

export function resetMap(services: Services): MethodSpec {
  const { map } = services;
  const available = (nowMs: number) => {
    requireRest(services, nowMs);
    if (map.current() === null) {
      throw new Refusal('STATE_CONDITION_FAILED', 'there is no map to reset');
    }
  };
  return defineMethod<Record<string, never>>({
    name: 'resetMap',
    executor: 'map',
    summary: 'Takes the map out of use and keeps it; until another is there the robot goes to no room.',
    params: z.strictObject({}),
    output: mapOutput,
    resources: [],
    completionTarget: TARGET,
    preconditionText: 'a map is in use, the motion process reports, nothing drives',
    available,
    precondition: ({ nowMs }) => available(nowMs),
    cancel: null,
    compensation: { method: 'copyMap', params: { from: 'previous' } },
    timeoutMs: 30_000,
    stopGraceMs: 15_000,
    risk: 'high',
    idempotent: true,
    alreadyDone: () => {
      const seen = map.observed();
      return map.current() !== null || seen === null
        ? null
        : mapCompletion(TARGET, seen, map.previous(), true);
    },
    run: (ctx) =>
      withoutMotion(services, ctx.signal, async () => {
        const before = map.current()?.id ?? null;
        return mapCompletion(TARGET, await map.reset(), before, false);
      }),
  });
}

/** `copyMap`: puts a kept map in use again. */
import { z } from 'zod';
import { Refusal, shown } from '../../config/contracts/errors.js';
import { comparable } from '../../drivers/amr/map/rooms.js';
import { defineMethod, type MethodSpec } from '../method.js';
import { withoutMotion } from '../proof.js';
import type { Services } from '../services.js';
import { nameParam } from './areas-common.js';
import { mapCompletion, mapOutput, requireRest } from './common.js';

const TARGET = 'map.copied';

const paramsSchema = z
  .strictObject({
    from: z
      .string()
      .regex(/^(previous|m-[0-9a-f]{16})$/, 'allowed: "previous" or the id of a kept map')
      .optional(),
    /** As `saveMap` gave it. */
    name: nameParam.optional(),
  })
  .refine(
    ({ from, name }) => (from === undefined) !== (name === undefined),
    'allowed: exactly one of from, name',
  );
type Params = z.infer<typeof paramsSchema>;

export function copyMap(services: Services): MethodSpec {
  const { map } = services;
  const kept = () => map.kept().map(({ id }) => id);
  /** The kept map that `saveMap` gave this name; the newest, should there be several. */
  const byName = (name: string): string => {
    const found = map
      .kept()
      .find((one) => one.name !== undefined && comparable(one.name) === comparable(name));
    if (found !== undefined) return found.id;
    const names = map.kept().flatMap((one) => (one.name === undefined ? [] : [shown(one.name)]));
    const there = names.join(', ') || 'none';
    throw new Refusal('UNKNOWN_TARGET', `name: there is no map ${shown(name)}; kept are: ${there}`, 'name');
  };
  const idOf = ({ from, name }: Params): string => {
    if (name !== undefined) return byName(name);
    const current = map.current()?.id ?? null;
    // Brought back already, "previous" is what is in use. It never takes another map's place: an undo comes late.
    const back = current !== null && current === map.previous() ? current : map.outOfUse();
    const id = from === 'previous' || from === undefined ? back : from;
    if (id !== null && (kept().includes(id) || current === id)) return id;
    const there = kept().join(', ') || 'none';
    throw from === 'previous' || from === undefined
      ? new Refusal('UNKNOWN_TARGET', `from: no map is out of use; kept are: ${there}`, 'from')
      : new Refusal('UNKNOWN_TARGET', `from: there is no map ${shown(from)}; kept are: ${there}`, 'from');
  };
  const available = (nowMs: number) => {
    requireRest(services, nowMs);
    if (map.kept().length === 0) throw new Refusal('STATE_CONDITION_FAILED', 'no map is kept');
  };
  const done = (id: string) => (map.current()?.id === id ? map.observed() : null);
  return defineMethod<Params>({
    name: 'copyMap',
    executor: 'map',
    summary: 'Puts a kept map in use: the one that a reset took out of use, or one by its id or its name.',
    params: paramsSchema,
    output: mapOutput,
    resources: [],
    completionTarget: TARGET,
    preconditionText:
      'the map is kept, the motion process reports, nothing drives; in use already counts as done',
    // What "previous" is then is known when it runs: a reset may come first.
    admit: ({ params }) => {
      if (params.from !== 'previous') idOf(params);
    },
    available,
    precondition: ({ params, nowMs }) => {
      idOf(params);
      requireRest(services, nowMs);
    },
    cancel: null,
    compensation: null,
    timeoutMs: 60_000,
    stopGraceMs: 30_000,
    risk: 'low',
    idempotent: true,
    alreadyDone: ({ params }) => {
      const { from, name } = params;
      const wanted = from === 'previous' ? (map.previous() ?? '') : (from ?? byName(name ?? ''));
      const seen = done(wanted);
      return seen === null ? null : mapCompletion(TARGET, seen, null, true);
    },
    run: (ctx) =>
      withoutMotion(services, ctx.signal, async () => {
        const id = idOf(ctx.params);
        const before = map.current()?.id ?? null;
        const there = done(id);
        if (there !== null) return mapCompletion(TARGET, there, null, true);
        return mapCompletion(TARGET, await map.use(id), before, false);
      }),
  });
}

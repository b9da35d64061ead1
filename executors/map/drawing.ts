/** What the methods that draw on the map have in common: when they may, how they run, and how they are shown to be done. */
import type { MethodSpec } from '../method.js';
import { withoutMotion } from '../proof.js';
import type { AreaChange, Services } from '../services.js';
import { areasCompletion, areasOutput, requireStill } from './areas-common.js';

type Drawing<P> = Pick<
  MethodSpec<P>,
  | 'output'
  | 'resources'
  | 'admit'
  | 'available'
  | 'precondition'
  | 'cancel'
  | 'timeoutMs'
  | 'stopGraceMs'
  | 'risk'
  | 'idempotent'
  | 'alreadyDone'
  | 'run'
>;

export function drawing<P extends { undo?: true | undefined }>(
  services: Services,
  target: string,
  changeOf: (params: P) => AreaChange,
): Drawing<P> {
  const { areas } = services;
  return {
    output: areasOutput,
    resources: [],
    // Undone is what is the newest change then.
    admit: ({ params }) => {
      if (params.undo !== true) areas.check(changeOf(params));
    },
    available: (nowMs) => requireStill(services, nowMs),
    precondition: ({ params, nowMs }) => {
      requireStill(services, nowMs);
      areas.check(changeOf(params));
    },
    cancel: null,
    timeoutMs: 15_000,
    stopGraceMs: 10_000,
    risk: 'low',
    idempotent: true,
    alreadyDone: ({ params }) => {
      const seen = areas.done(changeOf(params));
      return seen === null ? null : areasCompletion(target, seen);
    },
    run: (ctx) =>
      withoutMotion(services, ctx.signal, async () =>
        areasCompletion(target, await areas.apply(changeOf(ctx.params), ctx.taskId)),
      ),
  };
}

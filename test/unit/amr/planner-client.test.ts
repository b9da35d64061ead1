import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { entryPath } from '../../../config/contracts/entry.js';
import { isRefusal } from '../../../config/contracts/errors.js';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { StaticCostmap } from '../../../drivers/amr/costmap/static-costmap.js';
import { mapBundle } from '../../../drivers/amr/map/bundle.js';
import { PlannerClient, type PlannerWorker } from '../../../drivers/amr/planner/planner-client.js';
import type { FromPlannerWorker, ToPlannerWorker } from '../../../drivers/amr/planner/worker-protocol.js';
import { EMPTY_AREAS, flat, freeGrid } from './support/grids.js';

const FROM = { x: 1, y: 1.2, theta: 0 };
const GOAL = { x: 5.5, y: 3.8, theta: 0 };
const NONE = new Int32Array(0);

/** A worker whose answers, errors and end the test decides. */
class FakeWorker implements PlannerWorker {
  readonly got: ToPlannerWorker[] = [];
  terminated = false;
  readonly #on: Record<string, ((value: never) => void)[]> = {};

  postMessage(message: ToPlannerWorker): void {
    this.got.push(message);
  }
  on(event: string, listener: (value: never) => void): void {
    this.#on[event] = [...(this.#on[event] ?? []), listener];
  }
  terminate(): Promise<unknown> {
    this.terminated = true;
    return Promise.resolve();
  }
  unref(): void {}
  emit(event: 'message' | 'error' | 'exit', value: FromPlannerWorker | Error | number): void {
    for (const listener of this.#on[event] ?? []) listener(value as never);
  }
  answer(n: number): void {
    this.emit('message', { t: 'planned', n, result: { ok: true, path: [FROM, GOAL], length: 5 } });
  }
}

function setUp(options: { maxPending?: number; startFails?: boolean } = {}) {
  const clock = new SimClock(0);
  const workers: FakeWorker[] = [];
  const client = new PlannerClient({
    clock,
    timeoutMs: 1000,
    ...(options.maxPending === undefined ? {} : { maxPending: options.maxPending }),
    startWorker: () => {
      if (options.startFails === true) throw new Error('no such file');
      const worker = new FakeWorker();
      workers.push(worker);
      return worker;
    },
  });
  client.setMap(new StaticCostmap(flat()));
  return { clock, workers, client };
}

/** The reason a plan was rejected with. */
async function rejection(plan: Promise<unknown>): Promise<string> {
  try {
    await plan;
  } catch (error) {
    if (isRefusal(error)) return `${error.reason}: ${error.message}`;
    throw error;
  }
  throw new Error('it was not rejected');
}

describe('the planner client', () => {
  it('has no map once it was told so, and nothing that it searches for is found on it', async () => {
    const { client, workers } = setUp();
    const plan = client.plan(FROM, GOAL, NONE);
    client.setMap(null);
    expect(await plan).toMatchObject({ ok: false, reason: 'no_map' });
    expect(workers[0]?.terminated).toBe(true);
    expect(client.pending).toBe(0);
    expect(await client.plan(FROM, GOAL, NONE)).toMatchObject({ ok: false, reason: 'no_map' });
  });

  it('starts its worker with the first plan, tells it the map first, and counts what is pending', async () => {
    const { workers, client } = setUp();
    expect(workers).toHaveLength(0);
    const plan = client.plan(FROM, GOAL, NONE);
    expect(client.pending).toBe(1);
    expect(workers[0]?.got.map((m) => m.t)).toEqual(['map', 'plan']);
    workers[0]?.answer(0);
    expect(await plan).toMatchObject({ ok: true, length: 5 });
    expect(client.pending).toBe(0);
  });

  it('ends a worker that takes too long, and starts another for the next plan', async () => {
    const { clock, workers, client } = setUp();
    const plan = rejection(client.plan(FROM, GOAL, NONE));
    clock.advance(1000);
    expect(await plan).toBe('TIMEOUT: planning took longer than 1000 ms');
    expect(workers[0]?.terminated).toBe(true);
    const next = client.plan(FROM, GOAL, NONE);
    workers[1]?.answer(1);
    expect(await next).toMatchObject({ ok: true });
    expect(client.counters()).toMatchObject({ planner_timeouts: 1, planner_crashes: 0 });
  });

  it('tries a plan once more after a crash', async () => {
    const { workers, client } = setUp();
    const plan = client.plan(FROM, GOAL, NONE);
    workers[0]?.emit('error', new Error('out of memory'));
    workers[0]?.emit('exit', 1);
    expect(workers).toHaveLength(2);
    expect(client.pending).toBe(1);
    workers[1]?.answer(0);
    expect(await plan).toMatchObject({ ok: true });
    expect(client.counters()).toMatchObject({ planner_crashes: 1 });
  });

  it('says that planning failed, not that there is no way, when the worker crashes again', async () => {
    const { workers, client } = setUp();
    const plan = rejection(client.plan(FROM, GOAL, NONE));
    workers[0]?.emit('exit', 1);
    workers[1]?.emit('exit', 1);
    expect(await plan).toBe('CAPABILITY_UNAVAILABLE: the planner thread ended: it ended with code 1');
    expect(client.pending).toBe(0);
  });

  it('survives a worker that cannot be started', async () => {
    const { client } = setUp({ startFails: true });
    expect(await rejection(client.plan(FROM, GOAL, NONE))).toContain('no such file');
  });

  it('takes a bounded number of plans at once', async () => {
    const { client, workers } = setUp({ maxPending: 2 });
    const plans = [client.plan(FROM, GOAL, NONE), client.plan(FROM, GOAL, NONE)];
    expect(await rejection(client.plan(FROM, GOAL, NONE))).toContain('RESOURCE_BUSY');
    workers[0]?.answer(0);
    workers[0]?.answer(1);
    expect(await Promise.all(plans)).toHaveLength(2);
  });

  it('does not hand out a path of a map that was replaced meanwhile', async () => {
    const { workers, client } = setUp();
    const plan = client.plan(FROM, GOAL, NONE);
    client.setMap(new StaticCostmap(mapBundle(freeGrid(2, 2), EMPTY_AREAS)));
    workers[0]?.answer(0);
    expect(await plan).toMatchObject({ ok: false, reason: 'no_map' });
  });

  it('answers everybody when it is closed, and nobody after', async () => {
    const { client, workers } = setUp();
    const plan = rejection(client.plan(FROM, GOAL, NONE));
    await client.close();
    expect(await plan).toContain('shut down');
    expect(await rejection(client.plan(FROM, GOAL, NONE))).toContain('shut down');
    expect(workers[0]?.terminated).toBe(true);
  });

  const built = existsSync(
    entryPath(new URL('../../../drivers/amr/planner/x.ts', import.meta.url).href, './worker.js'),
  );
  it.skipIf(!built)(
    `plans in a real thread${built ? '' : ' (skipped: run npm run build first)'}`,
    async () => {
      const client = new PlannerClient({ clock: new SimClock(0) });
      expect(await client.plan(FROM, GOAL, NONE)).toMatchObject({ reason: 'no_map' });
      client.setMap(new StaticCostmap(flat()));
      const [a, b] = await Promise.all([
        client.plan(FROM, GOAL, NONE),
        client.plan(GOAL, { ...FROM, x: 99 }, NONE),
      ]);
      expect(a).toMatchObject({ ok: true });
      expect(b).toMatchObject({ ok: false, reason: 'off_map' });
      await client.close();
    },
  );
});

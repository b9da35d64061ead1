/**
 * Trap 4: a cancel that answers before motion has stopped, and a task that is lost when its adapter restarts. (That
 * remaining steps do not run after a failed one is held by the tests of workflows.)
 */
import { describe, expect, it } from 'vitest';
import { inHome } from '../support/in-home.js';
import { turning } from '../support/truth.js';

describe('a cancel', () => {
  it.each(['cancelTask', 'pauseTask'])(
    '(%s) is accepted at once and done only when the wheels stand still',
    (method) =>
      inHome({}, async ({ home, witness }) => {
        const task = await home.task('setMoveTo', { positionName: '안방' });
        await home.until(() => witness.diary.travelled(0) > 2, 60_000, 'the robot is on its way');
        const answer = await home.command({ kind: 'control', method, params: { task_id: task } });
        expect(answer).toMatchObject({ status: 'accepted' });
        const state = () => home.daemon.runtime.tasks.getTask(task)?.state;
        const done = method === 'cancelTask' ? 'CANCELLED' : 'PAUSED';
        let whileTurning = 0;
        for (let i = 0; state() !== done; i++) {
          if (i > 500) throw new Error(`it is never ${done}`);
          if (turning(witness.diary.now)) whileTurning++;
          expect(witness.ended(task)).toBeNull();
          await home.run(20);
        }
        expect(whileTurning).toBeGreaterThan(0);
        expect(turning(witness.diary.now)).toBe(false);
        if (method !== 'cancelTask') return;
        const end = await witness.end(task);
        expect(end).toMatchObject({ event: 'CANCELLED', evidence: { stopped: true } });
        expect(turning(witness.observed(end))).toBe(false);
      }),
  );
});

describe('an accepted task', () => {
  it('is not lost when the base goes away under it and comes back: it ends once, and the next one runs', () =>
    inHome({}, async ({ home, witness }) => {
      const first = await home.task('setMoveTo', { positionName: '안방' });
      const next = await home.task('rotate', { angleDeg: 90 });
      await home.until(() => witness.diary.travelled(0) > 2, 60_000, 'the robot is on its way');
      await home.inject('unplug', 'base');
      await home.run(2_000);
      await home.inject('plug', 'base');
      await witness.end(first);
      await witness.end(next);
      await home.run(5_000);
      for (const task of [first, next]) expect(witness.endsOf(task)).toHaveLength(1);
    }));

  it('is not lost when the daemon dies: what runs, what waits and what is paused each end once', () =>
    inHome({}, async ({ home, witness }) => {
      const paused = await home.task('setMoveTo', { positionName: '거실' });
      await home.until(() => witness.diary.travelled(0) > 0.3, 60_000, 'the robot is on its way');
      const control = (method: string) =>
        home.command({ kind: 'control', method, params: { task_id: paused } });
      await control('pauseTask');
      const state = (task: string) => home.daemon.runtime.tasks.getTask(task)?.state;
      await home.until(() => state(paused) === 'PAUSED', 10_000, 'it is paused');
      const running = await home.task('setMoveTo', { positionName: '안방' });
      const waiting = await home.task('rotate', { angleDeg: 90 });
      await home.until(() => home.wheelsTurn, 30_000, 'the next one drives');
      home.killDaemon();
      await home.run(1_000);
      await home.startDaemon();
      expect([paused, running, waiting].map(state)).toEqual(['PAUSED', 'STARTED', 'PENDING']);
      expect(await witness.end(running)).toMatchObject({ event: 'COMPLETED', attempt: 2 });
      expect(await witness.end(waiting)).toMatchObject({ event: 'COMPLETED' });
      await control('resumeTask');
      expect(await witness.end(paused)).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '2' } });
      for (const task of [paused, running, waiting]) expect(witness.endsOf(task)).toEqual(['COMPLETED']);
    }));
});

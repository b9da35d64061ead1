/** Driving by hand in a whole home: what the wheels do while somebody holds a button, and when nobody does. */
import { describe, expect, it } from 'vitest';
import { isoWithOffset } from '../../config/contracts/clock.js';
import type { CommandResponse } from '../../config/contracts/wire/command.js';
import { TICK_MS } from '../../simulator/session/pace.js';
import { type InHome, inHome } from './support/in-home.js';
import { turning } from './support/truth.js';

/** From the last sign of life to wheels at rest: the 300 ms, one control cycle, braking from the speed, the answer. */
const SILENCE_MS = 300;
const REST_MS = 900;

let presses = 0;

/** A button goes down on the robot's own console: through the gate, as somebody at the robot. */
function press(
  { home }: InHome,
  params: object,
  task: object = { executionMode: 'IMMEDIATE' },
): CommandResponse {
  const { runtime } = home.daemon;
  const answer = runtime.intake.handle(
    {
      command_id: `press-${++presses}`,
      issued_at: isoWithOffset(runtime.clock.wall()),
      kind: 'task',
      method: 'manualMove',
      params,
      task,
    },
    { source: 'APP', name: 'console' },
  );
  if (answer.task_id !== null) runtime.presses.keep(answer.task_id);
  return answer;
}

function pressed(place: InHome, params: object): string {
  const { task_id: taskId, message } = press(place, params);
  if (taskId === null) throw new Error(`the press was refused: ${message}`);
  return taskId;
}

/** Held down for so long: a sign of life every tenth of a second. */
async function hold({ home }: InHome, taskId: string, ms: number): Promise<void> {
  for (let t = 0; t < ms; t += TICK_MS) {
    if (t % 105 === 0) home.daemon.runtime.presses.keep(taskId);
    await home.session.step();
  }
}

async function offStation({ home, witness }: InHome): Promise<void> {
  expect((await witness.end(await home.task('undock'))).event).toBe('COMPLETED');
}

describe('a press of a drive button', () => {
  it('drives while it is held, and is over when it is let go: the wheels stand, and it says so', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await offStation(place);
      const from = home.world.timeMs;
      const task = pressed(place, { v: 0.2, w: 0 });
      await hold(place, task, 1_200);
      expect(turning(witness.diary.now)).toBe(true);
      home.daemon.runtime.presses.release(task);
      const end = await witness.end(task);
      expect(end).toMatchObject({
        event: 'COMPLETED',
        evidence: { completion_target: 'movement.hand_drive_ended', ended: 'released', stopped: true },
        output: { ended: 'released' },
      });
      expect(turning(witness.observed(end))).toBe(false);
      const way = witness.diary.travelled(from);
      expect(way).toBeGreaterThan(0.1);
      expect(way).toBeLessThan(0.3);
      expect(witness.diary.collisions).toBe(0);
    }));

  it('ends by itself after its duration, however long it is held', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await offStation(place);
      const from = home.world.timeMs;
      const task = pressed(place, { v: 0, w: 0.8, durationMs: 1_000 });
      await hold(place, task, 2_500);
      const end = await witness.end(task);
      expect(end).toMatchObject({ event: 'COMPLETED', evidence: { ended: 'duration_over' } });
      const still = witness.diary.stillSince();
      expect((still ?? Number.POSITIVE_INFINITY) - from).toBeLessThan(1_000 + 600);
    }));

  it('stops soon after the last sign of life: a frozen page drives nobody', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await offStation(place);
      const task = pressed(place, { v: 0.25, w: 0 });
      await hold(place, task, 800);
      const silentFrom = home.world.timeMs;
      await home.run(SILENCE_MS + REST_MS);
      const still = witness.diary.stillSince();
      expect(still).not.toBeNull();
      expect((still ?? 0) - silentFrom).toBeLessThan(SILENCE_MS + REST_MS);
      const stood = home.world.timeMs;
      // The page wakes up: the press is over all the same.
      await hold(place, task, 1_000);
      expect(await witness.end(task)).toMatchObject({
        event: 'COMPLETED',
        evidence: { ended: 'no_keep_alive' },
      });
      expect(witness.diary.travelled(stood)).toBe(0);
    }));

  it('of a cloud, which holds no button, moves for the first 300 ms only', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await offStation(place);
      const from = home.world.timeMs;
      const end = await witness.end(await home.task('manualMove', { v: 0.2, w: 0 }));
      expect(end).toMatchObject({ event: 'COMPLETED', evidence: { ended: 'no_keep_alive' } });
      expect(witness.diary.travelled(from)).toBeLessThan(0.12);
    }));

  it('is for one at a time: the second is refused, and the first drives on', () =>
    inHome({}, async (place) => {
      const { witness } = place;
      await offStation(place);
      const first = pressed(place, { v: 0.15, w: 0 });
      await hold(place, first, 300);
      expect(press(place, { v: -0.15, w: 0 })).toMatchObject({
        status: 'rejected',
        reason_code: 'RESOURCE_BUSY',
      });
      await hold(place, first, 300);
      expect(turning(witness.diary.now)).toBe(true);
      place.home.daemon.runtime.presses.release(first);
      expect((await witness.end(first)).event).toBe('COMPLETED');
    }));

  it('that waited behind a journey moves nothing when its turn comes: it was for then', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await offStation(place);
      const move = await home.task('setMoveTo', { positionName: '거실' });
      await home.until(() => turning(witness.diary.now), 20_000, 'the robot is on its way');
      const late = press(place, { v: 0.3, w: 0 }, { executionMode: 'QUEUED' }).task_id ?? '';
      const arrived = await witness.end(move);
      const end = await witness.end(late);
      expect(end).toMatchObject({ event: 'FAILED', reason_code: 'STATE_CONDITION_FAILED' });
      expect(witness.diary.travelled(arrived.truth.timeMs)).toBe(0);
    }));

  it('is refused on the station, and for speeds and durations that are none', () =>
    inHome({}, async (place) => {
      const docked = await place.witness.end(await place.home.task('manualMove', { v: 0.1, w: 0 }));
      expect(docked).toMatchObject({ event: 'FAILED', reason_code: 'STATE_CONDITION_FAILED' });
      for (const params of [
        { v: 5, w: 0 },
        { v: 0.1, w: 0, durationMs: 2_001 },
        { v: 0.1 },
        { v: 0.1, w: 0, u: 1 },
      ]) {
        expect(press(place, params)).toMatchObject({ status: 'rejected', reason_code: 'INVALID_PARAMS' });
      }
      expect(place.witness.diary.travelled(0)).toBe(0);
    }));
});

describe('a person who drives', () => {
  it('is slowed before walls and furniture, and never touches one with the front', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await offStation(place);
      // Straight at the wall of the living room, press after press.
      for (let i = 0; i < 9; i++) {
        const task = pressed(place, { v: 0.4, w: 0 });
        await hold(place, task, 1_900);
        await home.run(1_000);
      }
      expect(witness.diary.collisions).toBe(0);
      const stood = home.world.timeMs;
      const task = pressed(place, { v: 0.4, w: 0 });
      await hold(place, task, 1_900);
      expect(witness.diary.travelled(stood)).toBeLessThan(0.05);
      expect((await witness.end(task)).event).toBe('COMPLETED');
    }));

  it('is stopped at once by the bumper: FAILED OBSTRUCTED, the wheels at rest', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await offStation(place);
      const task = pressed(place, { v: 0.2, w: 0 });
      await hold(place, task, 600);
      const from = home.world.timeMs;
      await home.inject('bump', 'left');
      await hold(place, task, 1_000);
      const end = await witness.end(task);
      expect(end).toMatchObject({ event: 'FAILED', reason_code: 'OBSTRUCTED' });
      expect(turning(end.truth)).toBe(false);
      expect(witness.diary.travelled(from)).toBeLessThan(0.08);
    }));

  it('is kept out of closed ground, and slow where an area is', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await offStation(place);
      const keepOut = await home.task('setKeepOut', {
        areas: [
          {
            id: 'rug',
            polygon: [
              [3.4, 0.2],
              [4.4, 0.2],
              [4.4, 1.6],
              [3.4, 1.6],
            ],
          },
        ],
      });
      expect((await witness.end(keepOut)).event).toBe('COMPLETED');
      await home.run(2_000);
      // Off its station the robot looks at it; half a turn, and it looks at the rug.
      expect((await witness.end(await home.task('rotate', { angleDeg: 180 }))).event).toBe('COMPLETED');
      for (let i = 0; i < 4; i++) {
        const task = pressed(place, { v: 0.3, w: 0 });
        await hold(place, task, 1_900);
        await home.run(800);
      }
      expect(witness.diary.now.pose.x + 0.17).toBeLessThan(3.45);
      expect(witness.diary.now.pose.x).toBeGreaterThan(2.7);
    }));

  it('cancelled, or stopped by stopMove and by the emergency stop, is over with the wheels at rest', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await offStation(place);
      const cancelled = pressed(place, { v: 0, w: 0.6 });
      await hold(place, cancelled, 400);
      await home.command({ kind: 'control', method: 'cancelTask', params: { task_id: cancelled } });
      const end = await witness.end(cancelled);
      expect(end).toMatchObject({ event: 'CANCELLED', evidence: { stopped: true } });
      expect(turning(end.truth)).toBe(false);

      const stopped = pressed(place, { v: 0, w: 0.6 });
      await hold(place, stopped, 400);
      expect((await witness.end(await home.task('stopMove'))).event).toBe('COMPLETED');
      expect((await witness.end(stopped)).event).toBe('CANCELLED');
      expect(turning(witness.diary.now)).toBe(false);

      const cut = pressed(place, { v: 0, w: 0.6 });
      await hold(place, cut, 400);
      await home.command({ kind: 'control', method: 'emergencyStop', params: {} });
      expect(await witness.end(cut)).toMatchObject({ event: 'FAILED', reason_code: 'EMERGENCY_STOP' });
      expect(turning(witness.diary.now)).toBe(false);
    }));

  it('whose robot restarts in the middle of a press has to press again: FAILED RESTARTED', () =>
    inHome({ baseWatchdog: true }, async (place) => {
      const { home, witness } = place;
      await offStation(place);
      const task = pressed(place, { v: 0.2, w: 0 });
      await hold(place, task, 600);
      home.killDaemon();
      await home.run(150);
      await home.startDaemon();
      expect(await witness.end(task)).toMatchObject({ event: 'FAILED', reason_code: 'RESTARTED' });
      await home.run(1_000);
      expect(turning(witness.diary.now)).toBe(false);
      const after = home.world.timeMs;
      await home.run(3_000);
      expect(witness.diary.travelled(after)).toBe(0);
    }));
});

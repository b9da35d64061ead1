/** What keeps a card from being available is one code and one sentence, in English and in Korean. */
import { describe, expect, it } from 'vitest';
import { inKorean } from '../../../daemon/api/console/robot-words-ko.js';
import { testContext } from '../../support/context.js';

const LIVING = { x: 6, y: 0, theta: 0 };
type Robot = ReturnType<typeof testContext>;

async function seen(change: (robot: Robot) => unknown, ms = 200) {
  const robot = testContext({ pose: LIVING });
  await robot.clock.advanceAsync(1000);
  await change(robot);
  await robot.clock.advanceAsync(ms);
  const cards = new Map(robot.sources.capabilities().map((card) => [card.id, card] as const));
  return (id: string) => {
    const { available, reasonCode, reason } = cards.get(id) ?? {};
    if (reason != null) expect(inKorean(reason), reason).toMatch(/[가-힣]/);
    return available === true ? 'available' : `${reasonCode}: ${reason}`;
  };
}

const reset = async ({ services }: Robot) => services.map.reset();

describe('a card is not available', () => {
  it.each<[string, (robot: Robot) => unknown, string, string | RegExp]>([
    ['nothing is wrong', () => {}, 'move_to_room', 'available'],
    ['nothing is wrong', () => {}, 'start_room_cleaning', 'available'],
    [
      'the battery is low',
      (r) => Object.assign(r.amr, { battery: 5 }),
      'move_to_room',
      /^LOW_BATTERY: .*5 %/,
    ],
    ['the battery is low', (r) => Object.assign(r.amr, { battery: 5 }), 'return_to_station', 'available'],
    ['the e-stop is latched', (r) => r.amr.estop('test'), 'move_to_room', /^EMERGENCY_STOP: /],
    ['the e-stop is latched', (r) => r.amr.estop('test'), 'stop_movement', 'available'],
    ['it is lost', (r) => Object.assign(r.amr, { localized: false }), 'visit_rooms', /^LOCALIZATION_LOST: /],
    ['it has no map', reset, 'move_to_room', /^CAPABILITY_UNAVAILABLE: no map is loaded/],
    ['it has no map', reset, 'return_to_station', /^CAPABILITY_UNAVAILABLE: no map is loaded/],
    ['it has no map', reset, 'speak', 'available'],
    [
      'its lidar is gone',
      (r) => Object.assign(r.amr, { lidarConnected: false }),
      'move_to_room',
      /_UNAVAILABLE: the lidar/,
    ],
    [
      'its base is gone',
      (r) => Object.assign(r.amr, { baseConnected: false }),
      'move_to_room',
      /_UNAVAILABLE: the base/,
    ],
    [
      'its fan is gone',
      (r) => Object.assign(r.fan, { connected: false }),
      'start_room_cleaning',
      /_UNAVAILABLE: the fan/,
    ],
    ['nothing moves', () => {}, 'pause_movement', /^STATE_CONDITION_FAILED: nothing is moving/],
    ['nothing is held', () => {}, 'resume_movement', /^STATE_CONDITION_FAILED: no journey is held/],
    ['nothing is purified', () => {}, 'pause_cleaning', /^STATE_CONDITION_FAILED: no cleaning runs/],
    [
      'it drives',
      (r) => void r.start('setMoveTo', { positionId: '3' }),
      'start_room_cleaning',
      /^STATE_CONDITION_FAILED: the robot is moving/,
    ],
    // The task waits for its turn: a lease that is held is no reason.
    ['it drives', (r) => void r.start('setMoveTo', { positionId: '3' }), 'move_to_room', 'available'],
    ['anything', () => {}, 'start_live_view', /_UNAVAILABLE: this version does not build startLiveView yet/],
  ])('while %s: %#', async (_when, change, id, expected) => {
    const said = (await seen(change))(id);
    if (typeof expected === 'string') expect(said).toBe(expected);
    else expect(said).toMatch(expected);
  });

  it('on the station: what drives leaves it first', async () => {
    const robot = testContext({ docked: true });
    await robot.clock.advanceAsync(1000);
    const of = (id: string) => robot.sources.capabilities().find((card) => card.id === id);
    expect(of('move_to_room')).toMatchObject({ available: true, reason: null });
    expect(of('return_to_station')).toMatchObject({ available: true });
  });

  it('every one of them has its words in Korean, whatever is wrong', async () => {
    for (const change of [
      reset,
      (r: Robot) => r.amr.estop('test'),
      (r: Robot) => Object.assign(r.amr, { linked: false }),
    ]) {
      const robot = testContext({ pose: LIVING });
      await robot.clock.advanceAsync(1000);
      await change(robot);
      await robot.clock.advanceAsync(3000);
      for (const { id, reason } of robot.sources.capabilities()) {
        if (reason !== null) expect(inKorean(reason), `${id}: ${reason}`).toMatch(/[가-힣]/);
      }
    }
  });
});

import { describe, expect, it } from 'vitest';
import { isRefusal } from '../../../config/contracts/errors.js';
import { HOME_MAP } from '../../support/fake-maps.js';
import { testRobot } from '../../support/services.js';

/** The reason a check gives, or null when it passes. */
function refusal(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (isRefusal(error)) return error.reason;
    throw error;
  }
}

async function rested() {
  const robot = testRobot();
  await robot.clock.advanceAsync(1000);
  const now = () => robot.clock.now();
  const available = (name: string) => refusal(() => robot.method(name).available?.(now()));
  return { ...robot, now, available };
}

describe('resetMap', () => {
  it('waits for an approval by its risk, takes no lease, and says what brings the map back', async () => {
    const { method } = await rested();
    expect(method('resetMap')).toMatchObject({
      risk: 'high',
      resources: [],
      completionTarget: 'map.reset',
      compensation: { method: 'copyMap', params: { from: 'previous' } },
    });
  });

  it('is COMPLETED with the word of the motion process that it has no map', async () => {
    const robot = await rested();
    const run = robot.start('resetMap');
    await robot.clock.advanceAsync(100);
    expect(run.result).toMatchObject({
      evidence: {
        completion_target: 'map.reset',
        map_id: null,
        previous_map_id: HOME_MAP,
        rt_boot_id: 'rt-1',
      },
      output: { map_id: null, previous_map_id: HOME_MAP },
    });
    expect(robot.amr.mapId).toBeNull();
  });

  it('leaves nothing to reset, and nothing to drive to', async () => {
    const robot = await rested();
    robot.start('resetMap');
    await robot.clock.advanceAsync(100);
    expect(robot.available('resetMap')).toBe('STATE_CONDITION_FAILED');
    for (const name of ['setMoveTo', 'returnToStation', 'relocalizeAtStation']) {
      expect(robot.available(name), name).toBe('CAPABILITY_UNAVAILABLE');
    }
    expect(robot.available('rotate')).toBeNull();
    expect(robot.available('stopMove')).toBeNull();
  });

  it('is refused while the robot drives or holds a journey, and while nobody reports', async () => {
    const robot = await rested();
    robot.start('setMoveTo', { positionId: '2' });
    await robot.clock.advanceAsync(1000);
    expect(robot.available('resetMap')).toBe('STATE_CONDITION_FAILED');
    robot.start('pauseMove');
    await robot.clock.advanceAsync(3000);
    expect(robot.available('resetMap')).toBe('STATE_CONDITION_FAILED');
    robot.start('stopMove');
    await robot.clock.advanceAsync(3000);
    expect(robot.available('resetMap')).toBeNull();
    robot.amr.linked = false;
    await robot.clock.advanceAsync(3000);
    expect(robot.available('resetMap')).toBe('CAPABILITY_UNAVAILABLE');
  });

  it('found done after a restart is COMPLETED; found not done is not', async () => {
    const robot = await rested();
    const done = () => robot.method('resetMap').alreadyDone?.({ params: {}, nowMs: robot.now() });
    expect(done()).toBeNull();
    robot.start('resetMap');
    await robot.clock.advanceAsync(100);
    expect(done()).toMatchObject({ evidence: { map_id: null, previous_map_id: HOME_MAP, already: true } });
    robot.amr.mapId = HOME_MAP;
    expect(done()).toBeNull();
  });
});

describe('copyMap', () => {
  it('brings back what was reset, and says of which map it is and whether the robot knows its place', async () => {
    const robot = await rested();
    robot.start('resetMap');
    await robot.clock.advanceAsync(100);
    const run = robot.start('copyMap', { from: 'previous' });
    await robot.clock.advanceAsync(100);
    expect(run.result).toMatchObject({
      evidence: {
        completion_target: 'map.copied',
        map_id: HOME_MAP,
        rooms: 5,
        localized: true,
        already: false,
      },
      output: { map_id: HOME_MAP },
    });
    expect(robot.available('setMoveTo')).toBeNull();
    const again = robot.start('copyMap', { from: 'previous' });
    await robot.clock.advanceAsync(100);
    expect(again.result).toMatchObject({ evidence: { map_id: HOME_MAP, already: true } });
  });

  it('never takes the place of a map that came since: an undo that comes late is refused', async () => {
    const robot = await rested();
    robot.start('resetMap');
    await robot.clock.advanceAsync(100);
    await robot.services.map.use('m-00000000000000b2');
    const check = () =>
      robot.method('copyMap').precondition?.({ params: { from: 'previous' }, nowMs: robot.now() });
    expect(refusal(check)).toBe('UNKNOWN_TARGET');
    expect(robot.services.map.current()?.id).toBe('m-00000000000000b2');
    // By its id it can still be had.
    const run = robot.start('copyMap', { from: HOME_MAP });
    await robot.clock.advanceAsync(100);
    expect(run.result).toMatchObject({ evidence: { map_id: HOME_MAP } });
  });

  it.each(['../../etc/passwd', 'm-123', '', 'M-00000000000000A1', 'm-00000000000000a1/..'])(
    'takes only ids of maps, never a path: %j',
    async (from) => {
      const robot = await rested();
      expect(robot.method('copyMap').params.safeParse({ from }).success).toBe(false);
    },
  );

  it('says which maps are kept when asked for one that is not', async () => {
    const robot = await rested();
    const admit = (from: string) =>
      refusal(() => robot.method('copyMap').admit?.({ params: { from }, nowMs: robot.now() }));
    expect(robot.available('copyMap')).toBe('STATE_CONDITION_FAILED');
    expect(admit('m-0123456789abcdef')).toBe('UNKNOWN_TARGET');
    expect(admit(HOME_MAP)).toBeNull();
    // In a workflow a reset may come first.
    expect(admit('previous')).toBeNull();
  });
});

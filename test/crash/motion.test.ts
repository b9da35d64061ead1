import { describe, expect, it } from 'vitest';
import { type DriveCommand, type KillMark, stopsAfter, withinBound } from './motion.js';

/** World time and wall time are the same here; the simulator reads its line every 15 ms. */
function at(wall: number, what: string, moving: boolean): DriveCommand {
  return { tick: Math.floor(wall / 15), world_ms: wall, wall, earliest_wall: wall - 15, what, moving };
}
const drive = (wall: number) => at(wall, 'drive_direct', true);
const stand = (wall: number) => at(wall, 'drive_direct', false);
const begin = (wall: number) => at(wall, 'start', false);

const kill = (target: KillMark['target'], wall: number, rtAlive = true): KillMark => ({
  target,
  at: wall,
  rtAlive,
});

describe('the motion that a kill leaves behind', () => {
  it('lasts until the base is told to stand still', () => {
    const record = [drive(900), drive(950), drive(1010), stand(1040), stand(1500), begin(1510), drive(3000)];
    const [stop] = stopsAfter([kill('daemon', 1000)], record);
    expect(stop).toMatchObject({ ms: 40, granularityMs: 15, wasMoving: true, hazard: 'guarded' });
  });

  it('is none where the robot stood, whatever its successor does later', () => {
    const record = [stand(900), begin(1500), drive(2500), stand(4000)];
    expect(stopsAfter([kill('daemon', 1000)], record)[0]).toMatchObject({ ms: 0, wasMoving: false });
  });

  it('counts a command that was still on its way, and a stop that was taken back', () => {
    const onItsWay = [stand(900), drive(1020), stand(1100), begin(1500)];
    expect(stopsAfter([kill('daemon', 1000)], onItsWay)[0]).toMatchObject({ ms: 100, wasMoving: true });
    const takenBack = [drive(990), stand(1020), drive(1070), stand(1290), begin(1500)];
    expect(stopsAfter([kill('daemon', 1000)], takenBack)[0]).toMatchObject({ ms: 290 });
  });

  it('ends with the successor at the latest, whose first word stops the wheels', () => {
    const record = [drive(990), begin(1800), drive(2600)];
    expect(stopsAfter([kill('rt', 1000)], record)[0]).toMatchObject({ ms: 800, hazard: 'residual' });
  });

  it('has no end where the base was never told', () => {
    const [stop] = stopsAfter([kill('daemon', 1000)], [drive(990), drive(1040)]);
    expect(stop).toMatchObject({ ms: null });
    expect(stop !== undefined && withinBound(stop)).toBe(false);
  });

  it('is not blamed on a later kill', () => {
    const record = [drive(990), begin(1800)];
    const stops = stopsAfter([kill('both', 1000), kill('daemon', 1400)], record);
    expect(stops).toMatchObject([
      { ms: 800, hazard: 'residual' },
      { ms: 400, hazard: 'residual' },
    ]);
  });

  it('is nobody left to stop it when the motion process is dead already', () => {
    const stops = stopsAfter([kill('daemon', 1000, false)], [drive(990), begin(1800)]);
    expect(stops).toMatchObject([{ ms: 800, hazard: 'residual' }]);
  });

  it('may take 200 ms, what the simulator needs to notice, and what the machine keeps everybody waiting', () => {
    const judged = (ms: number, lagMs = 0) =>
      withinBound({ ms, granularityMs: 15, lagMs, wasMoving: true, hazard: 'guarded' });
    expect(judged(215)).toBe(true);
    expect(judged(216)).toBe(false);
    expect(judged(240, 30)).toBe(true);
  });
});

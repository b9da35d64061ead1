import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Pose, relativeTo } from '../../../config/contracts/geometry.js';
import { stagingPose } from '../../../drivers/amr/control/dock.js';
import { Drive } from './support/drive.js';
import { flat, STATION } from './support/grids.js';

const DOCK = { kind: 'dock', station: STATION } as const;

/** A robot before the station; `truth` is where the station really stands. */
const robotAt = (pose: Pose, truth: Pose = STATION, seed = 1) =>
  new Drive(flat(), pose, { station: truth, seed, slip: 0.02, slipNoise: 0.04 }).settle();

describe('docking', () => {
  it('reaches live contacts from anywhere in front, and ends at rest on them', async () => {
    const num = (min: number, max: number) => fc.double({ min, max, noNaN: true });
    await fc.assert(
      fc.asyncProperty(
        num(0.5, 0.85),
        num(-0.15, 0.15),
        num(-0.5, 0.5),
        fc.nat(),
        async (x, y, turn, seed) => {
          const drive = await robotAt(
            { x: STATION.x + x, y: STATION.y + y, theta: Math.PI + turn },
            STATION,
            seed,
          );
          const end = await drive.act(DOCK);
          expect(end).toMatchObject({ status: 'succeeded', docked: true });
          expect(drive.robot.docked).toBe(true);
          expect(drive.command).toEqual({ v: 0, w: 0 });
        },
      ),
      { numRuns: 15, seed: 20_261_130 },
    );
  });

  it('is led by the station’s beams when the station stands 5 cm beside its place in the map', async () => {
    for (const side of [0.05, -0.05]) {
      const truth = { ...STATION, y: STATION.y + side };
      const drive = await robotAt(stagingPose(STATION), truth, 3);
      expect(await drive.act(DOCK)).toMatchObject({ status: 'succeeded' });
      expect(Math.abs(relativeTo(truth, drive.robot.pose).y)).toBeLessThan(0.03);
    }
  });

  it('ends no_contact and backs off when the contacts never become live', async () => {
    const drive = await robotAt(stagingPose(STATION));
    drive.input = { docked: false };
    const end = await drive.act(DOCK);
    expect(end).toMatchObject({ status: 'failed', failure: 'no_contact' });
    if (end.status === 'failed') expect(end.message).toContain('backed off 0.1');
    expect(drive.robot.pose.x).toBeGreaterThan(STATION.x + 0.1);
    expect(drive.robot.bumped).toBe(false);
  });

  it('backs off by itself also when the safety layer stopped it at the touch', async () => {
    const drive = await robotAt(stagingPose(STATION));
    drive.input = { docked: false };
    let cut = 0;
    const end = await drive.act(DOCK, 60_000, () => {
      // As the motion process does: cut at the touch, free again once the wheels stand.
      if (drive.robot.bumped && cut === 0) cut = drive.robot.timeMs;
      const settling = cut > 0 && drive.robot.timeMs - cut < 400;
      drive.safety = settling ? 'CUT' : 'OK';
      drive.input = { docked: false, ...(settling ? { bumps: { left: true, right: true } } : {}) };
    });
    expect(cut).toBeGreaterThan(0);
    expect(end).toMatchObject({ status: 'failed', failure: 'no_contact' });
    expect(drive.robot.pose.x).toBeGreaterThan(STATION.x + 0.1);
  });

  it('waits for the cat before the station, and gives up when it stays', async () => {
    const drive = await robotAt(stagingPose(STATION, 0.8));
    drive.robot.things = [{ x: STATION.x + 0.2, y: STATION.y, radius: 0.1 }];
    const end = await drive.act(DOCK);
    expect(end).toMatchObject({ status: 'failed', failure: 'blocked' });
    expect(drive.robot.collisions).toBe(0);
    drive.robot.things = [];
    expect(await drive.act(DOCK)).toMatchObject({ status: 'succeeded' });
  });

  it('is done at once on the contacts', async () => {
    const drive = await robotAt(STATION);
    expect(await drive.act(DOCK, 2000)).toMatchObject({ status: 'succeeded' });
  });
});

describe('undocking', () => {
  it('backs off until clear, with the contacts open', async () => {
    const drive = await robotAt(STATION);
    const end = await drive.act({ kind: 'undock', clearance: 0.45 });
    expect(end).toMatchObject({ status: 'succeeded', docked: false });
    expect(drive.robot.pose.x - STATION.x).toBeGreaterThan(0.41);
    expect(await drive.act({ kind: 'undock', clearance: 0.45 })).toMatchObject({ failure: 'not_docked' });
  });

  it('is refused while the contacts are not known', async () => {
    const drive = await robotAt(STATION);
    drive.input = { docked: null };
    expect(await drive.act({ kind: 'undock', clearance: 0.4 })).toMatchObject({ failure: 'not_docked' });
    expect(drive.robot.docked).toBe(true);
  });

  it('says so when the contacts stay live although it drove off', async () => {
    const drive = await robotAt(STATION);
    drive.input = { docked: true };
    expect(await drive.act({ kind: 'undock', clearance: 0.4 })).toMatchObject({ failure: 'hardware' });
  });

  it('looks behind itself', async () => {
    const drive = await robotAt(STATION);
    drive.robot.things = [{ x: STATION.x + 0.5, y: STATION.y, radius: 0.15 }];
    expect(await drive.act({ kind: 'undock', clearance: 0.45 })).toMatchObject({ failure: 'blocked' });
    expect(drive.robot.collisions).toBe(0);
  });

  it('is stuck when the wheels do not turn', async () => {
    const drive = await robotAt(STATION);
    drive.robot.wheelsHeld = true;
    expect(await drive.act({ kind: 'undock', clearance: 0.4 })).toMatchObject({ failure: 'stuck' });
  });
});

describe('the whole way', () => {
  it('leaves the station, visits two rooms, and is back on its contacts', async () => {
    const drive = await robotAt(STATION, STATION, 11);
    expect(await drive.act({ kind: 'undock', clearance: 0.45 })).toMatchObject({ status: 'succeeded' });
    for (const room of drive.bundle.areas.rooms) {
      expect(await drive.goTo(room.goal)).toMatchObject({ status: 'succeeded' });
    }
    expect(await drive.goTo(stagingPose(STATION))).toMatchObject({ status: 'succeeded' });
    expect(await drive.act(DOCK)).toMatchObject({ status: 'succeeded', docked: true });
    expect(drive.robot.collisions).toBe(0);
  });
});

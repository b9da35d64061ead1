/** The main job of the robot, from the sentence to the station, judged by the world and not by the robot. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { distance, wrapAngle } from '../../config/contracts/geometry.js';
import { closeHome, expectCleanLane, type InHome, openHome } from './support/in-home.js';
import { turning } from './support/truth.js';
import type { SeenEvent } from './support/witness.js';

const GOAL = '거실로 갔다가 안방으로 이동해서 청정해줘';
const SIX_MINUTES = 360_000;
const STEPS = ['undock', 'setMoveTo', 'setMoveTo', 'startCleaning', 'setLlmTts', 'returnToStation'];

interface Run extends InHome {
  workflowId: string;
  end: SeenEvent;
  /** World time at which the job was given. */
  fromMs: number;
  tookMs: number;
}

interface CleaningOutput {
  grade_reached: boolean;
  before: { grade: string; pm2_5: number };
  after: { grade: string; pm2_5: number };
}

async function runJob(seed: number): Promise<Run> {
  const place = await openHome({ seed });
  const { home, witness } = place;
  const fromMs = home.world.timeMs;
  const { document } = await home.goal(GOAL);
  const end = await witness.end(document.workflow_id, SIX_MINUTES);
  const tookMs = home.world.timeMs - fromMs;
  await home.run(3_000);
  return { ...place, workflowId: document.workflow_id, end, fromMs, tookMs };
}

const traces = new Map<number, string[]>();

describe.each([1, 2, 3])(`"${GOAL}" (seed %i)`, (seed) => {
  let run: Run;
  /** The end of each step's task, in the order of the steps. */
  let ends: SeenEvent[];
  beforeAll(async () => {
    run = await runJob(seed);
    ends = run.witness.events.filter((event) => event.event === 'COMPLETED' && event.task_id !== null);
  });
  afterAll(async () => {
    traces.set(seed, run.home.session.world.trace());
    await closeHome(run);
  });

  const endOf = (index: number): SeenEvent => {
    const event = ends[index];
    if (event === undefined) throw new Error(`step ${index} has no end`);
    return event;
  };
  const goalOf = (room: string) => {
    const goal = run.home.session.world.layout.rooms.find((one) => one.id === room)?.goal;
    if (goal === undefined) throw new Error(`no room ${room}`);
    return goal;
  };

  it('is COMPLETED in under six minutes of robot time, all six steps in order', () => {
    expect(run.end).toMatchObject({ event: 'COMPLETED', task_id: null, reason_code: null });
    expect(run.tookMs).toBeLessThan(SIX_MINUTES);
    expect(ends.map((event) => event.method)).toEqual(STEPS);
  });

  it('left the station at least 0.4 m behind, wheels still, when undocking was COMPLETED', () => {
    const undocked = endOf(0);
    expect(undocked.evidence).toMatchObject({ completion_target: 'dock.undocked', docked: false });
    const truth = run.witness.observed(undocked);
    expect(truth).toMatchObject({ docked: false, charging: false });
    const station = run.home.session.world.layout.dock?.station;
    expect(distance(truth.pose, station ?? truth.pose)).toBeGreaterThanOrEqual(0.4);
    expect(turning(truth)).toBe(false);
  });

  it.each([
    [1, '2'],
    [2, '4'],
  ])('really stood at the goal of room %# when its move was COMPLETED', (index, room) => {
    const arrival = endOf(index);
    expect(arrival.evidence).toMatchObject({
      completion_target: 'movement.arrived',
      area_id: room,
      idle: true,
    });
    for (const truth of [run.witness.observed(arrival), arrival.truth]) {
      expect(truth.room).toBe(room);
      expect(distance(truth.pose, goalOf(room))).toBeLessThan(0.2);
      expect(Math.abs(wrapAngle(truth.pose.theta - goalOf(room).theta))).toBeLessThan(0.3);
      expect(turning(truth)).toBe(false);
    }
    const told = arrival.evidence?.pose as { x: number; y: number; theta: number };
    const really = run.witness.observed(arrival).pose;
    expect(distance(told, really)).toBeLessThan(0.08);
    expect(Math.abs(wrapAngle(told.theta - really.theta))).toBeLessThan(0.1);
    const { diary, worldTime } = ofRun();
    // An encoder count is half a millimetre: what creeps slower than 1 cm/s may already count as standing.
    for (const { wheels } of diary.between(worldTime(arrival) - 280, worldTime(arrival))) {
      expect(Math.max(Math.abs(wheels.left), Math.abs(wheels.right))).toBeLessThan(0.01);
    }
  });

  it('let the fan spin for the dwell, and had it at rest when the cleaning was COMPLETED', () => {
    const cleaned = endOf(3);
    const { diary, worldTime } = ofRun();
    expect(cleaned.evidence).toMatchObject({ completion_target: 'cleaning.stopped', rpm: 0, area_id: '4' });
    expect(run.witness.observed(cleaned).rpm).toBe(0);
    const spinning = diary.between(run.fromMs, worldTime(cleaned)).filter((page) => page.rpm > 1200);
    expect(spinning.length * 15).toBeGreaterThanOrEqual(60_000);
    expect(spinning.every((page) => page.room === '4' && !turning(page))).toBe(true);
    expect(cleaned.evidence?.peak_rpm).toBeCloseTo(Math.max(...spinning.map((page) => page.rpm)), -2);
  });

  it('purified the air of the bedroom, and says so with the values before and after', () => {
    const { before, after, grade_reached } = endOf(3).output as CleaningOutput;
    expect({ grade_reached, before: before.grade, after: after.grade }).toEqual({
      grade_reached: true,
      before: 'moderate',
      after: 'good',
    });
    expect(Math.abs((run.home.world.airByRoom['4']?.pm2_5 ?? 0) - after.pm2_5)).toBeLessThan(2);
  });

  it('says what the cleaning came to, and only calls it said after its time', () => {
    const said = endOf(4);
    const started = run.witness.events.find((one) => one.event === 'STARTED' && one.task_id === said.task_id);
    expect(said.evidence).toMatchObject({ completion_target: 'tts.playbackCompleted', simulated: true });
    expect(said.truth.timeMs - (started?.truth.timeMs ?? 0)).toBeGreaterThan(1_000);
  });

  it('stands on live contacts at the end, and charges', () => {
    const home = endOf(5);
    expect(home.evidence).toMatchObject({ completion_target: 'dock.docked', docked: true });
    expect(run.witness.observed(home)).toMatchObject({ docked: true });
    expect(run.home.world).toMatchObject({ docked: true, battery: { charging: true } });
  });

  it('touched neither wall nor furniture nor anybody', () => {
    expect(run.witness.diary.collisions).toBe(0);
  });

  it('told the cloud everything once, in order, without a gap', () => {
    expectCleanLane(run);
    const lane = run.witness.events;
    const first = lane[0]?.seq ?? 0;
    expect(lane.map((event) => event.seq)).toEqual(lane.map((_, i) => first + i));
    expect(run.home.cloud.report().repeats).toBe(0);
    const tasks = new Set(lane.flatMap((event) => event.task_id ?? []));
    for (const id of [...tasks, run.workflowId]) expect(run.witness.endsOf(id)).toEqual(['COMPLETED']);
    for (const id of tasks) {
      const story = lane.filter((event) => event.task_id === id && event.topic === 'events/task');
      const names = story.map((event) => event.event);
      expect(names.indexOf('STARTED')).toBeLessThan(names.indexOf('COMPLETED'));
    }
  });

  it('told of arrivals, the station, charging and the air as observations', () => {
    const told = run.witness.events.filter((e) => e.topic === 'events/observation').map((e) => e.event);
    for (const type of [
      'movement.arrived',
      'cleaning.stopped',
      'dock.stateChanged',
      'battery.chargingChanged',
    ]) {
      expect(told).toContain(type);
    }
  });

  function ofRun() {
    const { diary } = run.witness;
    const worldTime = (event: SeenEvent) => run.witness.worldTime(Number(event.evidence?.observed_at_ms));
    return { diary, worldTime };
  }
});

it('leaves the same trace in the world from the same seed, and another one from another', async () => {
  const run = await runJob(1);
  const trace = run.home.session.world.trace();
  await closeHome(run);
  expect(trace).toEqual(traces.get(1));
  expect(trace).not.toEqual(traces.get(2));
});

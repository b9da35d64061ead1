/** The daemon ends in the middle of the job, in good order or from one moment to the next, and a new one takes over. */
import { describe, expect, it } from 'vitest';
import { expectCleanLane, type InHome, inHome } from './support/in-home.js';
import { turning } from './support/truth.js';

/** The main job with a shorter dwell. */
const JOB = {
  goal: '거실로 갔다가 안방으로 이동해서 청정',
  steps: [
    { method: 'undock', params: {} },
    { method: 'setMoveTo', params: { positionName: '거실' } },
    { method: 'setMoveTo', params: { positionName: '안방' } },
    { method: 'startCleaning', params: { cleanMinTimeMs: 20_000 } },
    { method: 'setLlmTts', params: { text: '{{s4.output.summary}}' }, failure_policy: 'CONTINUE' },
    { method: 'returnToStation', params: {} },
  ].map((step, i) => ({ ...step, step_id: `s${i + 1}`, depends_on: i === 0 ? [] : [`s${i}`] })),
};
const METHODS = ['undock', 'setMoveTo', 'setMoveTo', 'startCleaning', 'setLlmTts', 'returnToStation'];
/** Without anybody who drives it, from the cut to the first stop that the base hears, ms. */
const BLIND_MS = 600;

interface Moment {
  name: string;
  step: string;
  method: string;
  /** Also ended in good order, as before an update. */
  orderly: boolean;
  /** True in the middle of that step. */
  when: (place: InHome) => boolean;
}

const started = ({ witness }: InHome, step: string) =>
  witness.events.some((event) => event.event === 'STARTED' && event.step_id === step);
const sinceStart = (place: InHome, step: string) => {
  const at = place.witness.events.find((e) => e.event === 'STARTED' && e.step_id === step)?.truth.timeMs;
  return at === undefined ? -1 : place.home.world.timeMs - at;
};

const MOMENTS: Moment[] = [
  {
    name: 'backing off the station',
    step: 's1',
    method: 'undock',
    orderly: false,
    when: (place) => started(place, 's1') && !place.home.world.docked && turning(place.witness.diary.now),
  },
  {
    name: 'driving to the living room',
    step: 's2',
    method: 'setMoveTo',
    orderly: false,
    when: (place) => sinceStart(place, 's2') > 6_000 && place.home.wheelsTurn,
  },
  {
    name: 'driving to the bedroom',
    step: 's3',
    method: 'setMoveTo',
    orderly: true,
    when: (place) => sinceStart(place, 's3') > 4_000 && place.home.wheelsTurn,
  },
  {
    name: 'purifying',
    step: 's4',
    method: 'startCleaning',
    orderly: true,
    when: (place) => sinceStart(place, 's4') > 12_000,
  },
  {
    name: 'speaking',
    step: 's5',
    method: 'setLlmTts',
    orderly: false,
    when: (place) => sinceStart(place, 's5') > 2_000,
  },
  {
    name: 'driving home',
    step: 's6',
    method: 'returnToStation',
    orderly: false,
    when: (place) => sinceStart(place, 's6') > 8_000 && place.home.wheelsTurn,
  },
  {
    name: 'creeping onto the station',
    step: 's6',
    method: 'returnToStation',
    orderly: true,
    when: ({ home, witness }) =>
      witness.progress.at(-1)?.domain_stage === 'docking.aligning' && home.wheelsTurn,
  },
];

async function giveJob({ home }: InHome): Promise<string> {
  const workflow = { workflow_id: 'wf-job', ...JOB };
  const { status, message } = await home.command({ kind: 'workflow', workflow });
  if (status !== 'accepted') throw new Error(`the job was refused: ${message}`);
  return workflow.workflow_id;
}

async function jobUpTo(place: InHome, moment: Moment): Promise<string> {
  const id = await giveJob(place);
  await place.home.until(() => moment.when(place), 240_000, moment.name);
  return id;
}

/** What must hold however the daemon ended. */
async function allIsWell(place: InHome, workflowId: string): Promise<void> {
  const { home, witness } = place;
  const end = await witness.end(workflowId, 600_000);
  await home.run(3_000);
  expectCleanLane(place);
  const { events, firstSeq, lastSeq } = home.cloud.report();
  expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => (firstSeq ?? 0) + i));
  expect(home.daemon.runtime.outbox.stats().nextSeq - 1).toBe(lastSeq);
  const ids = new Set(witness.events.flatMap((event) => event.task_id ?? []));
  for (const id of [...ids, workflowId]) expect(witness.endsOf(id)).toHaveLength(1);
  expect(end.event).toBe('COMPLETED');
  expect(home.world.docked).toBe(true);
  expect(home.world.fan.rpm).toBe(0);
}

/** How each step's task ended, in order. */
function stepEnds({ witness }: InHome): string[] {
  return witness.events
    .filter(
      (e) =>
        e.task_id !== null && ['COMPLETED', 'FAILED', 'CANCELLED'].includes(e.event) && e.step_id !== null,
    )
    .map((e) => `${e.method} ${e.event}${e.reason_code === null ? '' : ` ${e.reason_code}`}`);
}

describe.each(MOMENTS)('while $name', (moment) => {
  const spoken = moment.method === 'setLlmTts';
  const expected = METHODS.map((method) =>
    spoken && method === moment.method ? `${method} FAILED RESTARTED` : `${method} COMPLETED`,
  );

  it('the computer is cut off: the base is stopped first, and the job ends as it should', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const id = await jobUpTo(place, moment);
      const cut = home.world.timeMs;
      const before = witness.diary.collisions;
      home.killDaemon();
      await home.run(150);
      const up = home.world.timeMs;
      await home.startDaemon();
      const first = home.wheelCommands(up)[0];
      expect(first).toMatchObject({ left: 0, right: 0 });
      expect((first?.timeMs ?? 0) - cut).toBeLessThan(BLIND_MS);
      expect(witness.diary.collisions).toBe(before);
      await allIsWell(place, id);
      expect(stepEnds(place)).toEqual(expected);
      const attempts = witness.events.filter((e) => e.step_id === moment.step && e.event === 'STARTED');
      if (!spoken) expect(Math.max(...attempts.map((e) => e.attempt))).toBe(2);
    }));
});

describe.each(MOMENTS.filter((moment) => moment.orderly))('while $name', (moment) => {
  it('the daemon is restarted in good order: the job ends as it should', () =>
    inHome({}, async (place) => {
      const { home } = place;
      const id = await jobUpTo(place, moment);
      await home.restartDaemon();
      await allIsWell(place, id);
      expect(stepEnds(place)).toEqual(METHODS.map((method) => `${method} COMPLETED`));
    }));
});

it('a cleaning that was cut short only makes up for what was left of it', () =>
  inHome({}, async ({ home, witness }) => {
    const task = await home.task('startCleaning', { cleanMinTimeMs: 60_000 });
    await home.run(45_000);
    home.killDaemon();
    await home.run(500);
    await home.startDaemon();
    const end = await witness.end(task);
    expect(end).toMatchObject({ event: 'COMPLETED', attempt: 2 });
    const ran = witness.diary.between(0).filter((page) => page.rpm > 1_000).length * 15;
    expect(ran).toBeGreaterThanOrEqual(60_000);
    expect(ran).toBeLessThan(85_000);
  }));

it('a rotation that was cut short is not begun anew: FAILED RESTARTED', () =>
  inHome({}, async ({ home, witness }) => {
    await witness.end(await home.task('undock'));
    const task = await home.task('rotate', { angleDeg: 300 });
    await home.run(1_500);
    home.killDaemon();
    await home.run(150);
    await home.startDaemon();
    expect(await witness.end(task)).toMatchObject({ event: 'FAILED', reason_code: 'RESTARTED' });
    await home.run(1_000);
    const from = home.world.timeMs;
    await home.run(5_000);
    expect(witness.diary.between(from).some(turning)).toBe(false);
  }));

it('a cancel that was not yet carried out is not forgotten: the move does not go on', () =>
  inHome({}, async (place) => {
    const { home, witness } = place;
    const task = await home.task('setMoveTo', { positionName: '안방' });
    await home.until(() => witness.diary.travelled(0) > 2, 60_000, 'the robot is on its way');
    await home.command({ kind: 'control', method: 'cancelTask', params: { task_id: task } });
    home.killDaemon();
    await home.run(150);
    await home.startDaemon();
    const end = await witness.end(task);
    expect(['CANCELLED', 'FAILED']).toContain(end.event);
    await home.run(1_000);
    const from = home.world.timeMs;
    await home.run(5_000);
    expect(witness.diary.travelled(from)).toBe(0);
    expect(witness.endsOf(task)).toHaveLength(1);
  }));

it('tasks that wait in line are still in line, in order, after a cut', () =>
  inHome({}, async (place) => {
    const { home, witness } = place;
    const first = await home.task('setMoveTo', { positionName: '거실' });
    const second = await home.task('setMoveTo', { positionName: '현관' });
    const third = await home.task('returnToStation');
    await home.until(() => witness.diary.travelled(0) > 1, 60_000, 'the robot is on its way');
    home.killDaemon();
    await home.run(150);
    await home.startDaemon();
    for (const id of [first, second, third]) expect((await witness.end(id)).event).toBe('COMPLETED');
    const order = witness.events
      .filter((e) => e.event === 'COMPLETED' && e.task_id !== null)
      .map((e) => e.task_id);
    expect(order).toEqual([first, second, third]);
  }));

it('a move that is held is still held after a cut, and goes on when it is resumed', () =>
  inHome({}, async (place) => {
    const { home, witness } = place;
    const task = await home.task('setMoveTo', { positionName: '안방' });
    await home.until(() => witness.diary.travelled(0) > 2, 60_000, 'the robot is on its way');
    await witness.end(await home.task('pauseMove'));
    home.killDaemon();
    await home.run(500);
    await home.startDaemon();
    const from = home.world.timeMs;
    await home.run(10_000);
    expect(witness.diary.travelled(from)).toBeLessThan(0.01);
    expect(witness.ended(task)).toBeNull();
    await witness.end(await home.task('resumeMove'));
    expect(await witness.end(task)).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '4' } });
  }));

it('a delay between steps goes on through a cut: the step begins when it was to begin, neither at once nor anew', () =>
  inHome({}, async (place) => {
    const { home, witness } = place;
    const steps = [
      { step_id: 'a', method: 'setLlmTts', params: { text: '하나' } },
      {
        step_id: 'b',
        method: 'setLlmTts',
        params: { text: '둘' },
        depends_on: ['a'],
        after_step: { step_id: 'a', delay_ms: 20_000 },
      },
    ];
    await home.command({ kind: 'workflow', workflow: { workflow_id: 'wf-delay', steps } });
    const event = (name: string, step: string) =>
      witness.events.find((e) => e.event === name && e.step_id === step);
    await home.until(() => event('COMPLETED', 'a') !== undefined, 10_000, 'the first step');
    await home.run(8_000);
    home.killDaemon();
    await home.run(4_000);
    await home.startDaemon();
    expect((await witness.end('wf-delay')).event).toBe('COMPLETED');
    const between =
      Number(event('STARTED', 'b')?.truth.timeMs) - Number(event('COMPLETED', 'a')?.truth.timeMs);
    expect(between).toBeGreaterThan(19_500);
    expect(between).toBeLessThan(23_000);
    expect(event('WORKFLOW_STEP_WAITING', 'b')).toBeDefined();
  }));

it('a latched emergency stop is still latched after a cut', () =>
  inHome({}, async ({ home, witness }) => {
    await home.command({ kind: 'control', method: 'emergencyStop', params: {} });
    await home.run(500);
    home.killDaemon();
    await home.run(150);
    await home.startDaemon();
    const from = home.world.timeMs;
    const answer = await home.command({ kind: 'task', method: 'undock', params: {}, task: {} });
    const refused = answer.task_id === null ? answer : await witness.end(answer.task_id);
    expect(refused.reason_code).toBe('EMERGENCY_STOP');
    await home.run(2_000);
    expect(witness.diary.travelled(from)).toBe(0);
  }));

it('cut off every 20 seconds, the job still ends once, with every event told once and in order', () =>
  inHome({ seed: 9 }, async (place) => {
    const { home, witness } = place;
    const id = await giveJob(place);
    for (let i = 0; i < 6 && witness.ended(id) === null; i++) {
      await home.run(20_000);
      home.killDaemon();
      await home.run(150);
      await home.startDaemon();
    }
    const end = await witness.end(id, 600_000);
    expect(['COMPLETED', 'FAILED']).toContain(end.event);
    if (end.event === 'FAILED') expect(end.reason_code).toMatch(/RESTARTED|DEPENDENCY_FAILED/);
    await home.run(2_000);
    const { events, firstSeq } = home.cloud.report();
    expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => (firstSeq ?? 0) + i));
    const ids = new Set(witness.events.flatMap((event) => event.task_id ?? []));
    for (const one of [...ids, id]) expect(witness.endsOf(one)).toHaveLength(1);
  }));

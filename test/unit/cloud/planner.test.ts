import { describe, expect, it } from 'vitest';
import { workflowSchema } from '../../../config/contracts/wire/workflow.js';
import { planGoal } from '../../../simulator/cloud/planner.js';
import type { PlannerContext } from '../../../simulator/cloud/rooms.js';

const HOME: PlannerContext = {
  contract_version: 'device_context.v1',
  device_id: 'da-test',
  battery: { on_station: true },
  map: {
    available: true,
    rooms: [
      { id: '1', name: '현관', aliases: ['entrance', 'hallway'] },
      { id: '2', name: '거실', aliases: ['living room'] },
      { id: '3', name: '주방', aliases: ['kitchen'] },
      { id: '4', name: '안방', aliases: ['bedroom', '큰방'] },
      { id: '5', name: '작은방', aliases: ['small room', 'small bedroom'] },
    ],
  },
};

const plan = (goal: string) => planGoal(goal, HOME, { workflow: 'wf-1', plan: 'p-1' });
/** Each step in a word: `→4` for a move, the method otherwise. */
const outline = (goal: string) =>
  plan(goal).steps.map((step) =>
    step.method === 'setMoveTo' ? `→${String(step.params?.positionId)}` : step.method,
  );

describe("the simulated cloud's planner", () => {
  it.each([
    [
      '거실로 갔다가 안방으로 이동해서 청정해줘',
      ['undock', '→2', '→4', 'startCleaning', 'setLlmTts', 'returnToStation'],
    ],
    ['거실 갔다가 안방 가서 청정', ['undock', '→2', '→4', 'startCleaning', 'setLlmTts', 'returnToStation']],
    [
      '거실을 청정하고 주방으로 가줘',
      ['undock', '→2', 'startCleaning', '→3', 'setLlmTts', 'returnToStation'],
    ],
    [
      '거실하고 작은방 청정하고 안방도 청정해줘',
      ['undock', '→2', '→5', 'startCleaning', '→4', 'startCleaning', 'setLlmTts', 'returnToStation'],
    ],
    ['작은방으로 가', ['undock', '→5', 'setLlmTts', 'returnToStation']],
    [
      'go to the living room, then purify the bedroom',
      ['undock', '→2', '→4', 'startCleaning', 'setLlmTts', 'returnToStation'],
    ],
    [
      'go to the living room and clean, then go to the kitchen',
      ['undock', '→2', 'startCleaning', '→3', 'setLlmTts', 'returnToStation'],
    ],
    ['purify the small bedroom', ['undock', '→5', 'startCleaning', 'setLlmTts', 'returnToStation']],
    ['여기 공기 청정해줘', ['startCleaning', 'setLlmTts']],
    ['충전하러 가', ['returnToStation']],
  ])('%s', (goal, steps) => {
    expect(outline(goal)).toEqual(steps);
  });

  it('visits every room when asked to', () => {
    const steps = outline('모든 방을 청정해줘');
    expect(steps.filter((step) => step === 'startCleaning')).toHaveLength(5);
    expect(steps.filter((step) => step?.startsWith('→'))).toEqual(['→1', '→2', '→3', '→4', '→5']);
  });

  it('writes documents that fit the contract, each step after the one before it', () => {
    const document = plan('거실로 갔다가 안방으로 이동해서 청정해줘');
    expect(workflowSchema.parse(document)).toEqual(document);
    expect(document.steps.map((step) => step.depends_on)).toEqual([
      [],
      ['s1'],
      ['s2'],
      ['s3'],
      ['s4'],
      ['s5'],
    ]);
  });

  it('leaves the contacts only where the robot stands on them, as the device itself sees it', () => {
    expect(plan('거실로 가').steps[0]).toMatchObject({
      method: 'undock',
      condition: 'context.battery.on_station == true',
      on_condition_false: 'SKIP',
    });
  });

  it('purifies for the dwell and until the air is good, and reports what came of it', () => {
    const [, , clean, report] = plan('안방 청정해줘').steps;
    expect(clean?.params).toEqual({ mode: 'auto', cleanMinTimeMs: 60_000, untilGrade: 'good' });
    expect(report).toMatchObject({
      params: { text: '{{s3.output.summary}}', language: 'ko' },
      failure_policy: 'CONTINUE',
    });
  });

  it.each([
    ['안방을 조용히 10분 청정해줘', { mode: 'quiet', cleanMinTimeMs: 600_000 }],
    ['purify the kitchen for 5 minutes on turbo', { mode: 'turbo', cleanMinTimeMs: 300_000 }],
  ])('understands mode and time: %s', (goal, params) => {
    expect(plan(goal).steps.find((step) => step.method === 'startCleaning')?.params).toMatchObject(params);
  });

  it.each(['안방에 가서 공기가 나쁘면 청정해줘', 'go to the bedroom and purify if the air is bad'])(
    'makes purifying depend on the air: %s',
    (goal) => {
      expect(plan(goal).steps.find((step) => step.method === 'startCleaning')).toMatchObject({
        condition: expect.stringContaining('context.air_quality.usable'),
        on_condition_false: 'SKIP',
      });
    },
  );

  it('refuses what it does not understand, naming the rooms it knows', () => {
    expect(() => plan('노래 불러줘')).toThrow(/노래 불러줘.*거실/);
  });
});

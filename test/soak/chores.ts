/** What a household asks of its robot in the course of a week. */
import type { SoakRobot } from './robot.js';

/** Asks for one thing; resolves to what was asked for, and whether it was taken. */
export type Chore = (robot: SoakRobot, random: () => number) => Promise<{ what: string; taken: boolean }>;

const ROOMS = ['거실', '안방', '주방', '현관'] as const;
const MODES = ['auto', 'quiet', 'turbo'] as const;

export const CHORES: readonly { weight: number; ask: Chore }[] = [
  { weight: 4, ask: task('setMoveTo', (random) => ({ positionName: pick(ROOMS, random) })) },
  {
    weight: 3,
    ask: task('startCleaning', (random) => ({
      mode: pick(MODES, random),
      cleanMinTimeMs: between(5, 90, random) * 1000,
    })),
  },
  { weight: 2, ask: task('returnToStation', () => ({})) },
  { weight: 1, ask: task('undock', () => ({})) },
  { weight: 1, ask: task('rotate', (random) => ({ angleDeg: between(-180, 180, random) })) },
  { weight: 2, ask: task('setLlmTts', () => ({ text: '공기가 좋아졌어요' })) },
  { weight: 1, ask: task('syncState', () => ({})) },
  { weight: 2, ask: task('setMoveTo', () => ({ positionName: '없는 방' })) },
  { weight: 1, ask: task('stopMove', () => ({})) },
  { weight: 1, ask: task('stopCleaning', () => ({})) },
  { weight: 1, ask: urgentMove },
  { weight: 4, ask: rounds },
  { weight: 2, ask: conditional },
  { weight: 2, ask: cancelSomething },
  { weight: 2, ask: pauseSomething },
];

export function nextChore(random: () => number): Chore {
  let left = random() * CHORES.reduce((sum, { weight }) => sum + weight, 0);
  for (const { weight, ask } of CHORES) {
    left -= weight;
    if (left < 0) return ask;
  }
  return rounds;
}

function task(method: string, params: (random: () => number) => object): Chore {
  return async (robot, random) => {
    const answer = await robot.api('POST', '/api/tasks', { method, params: params(random) });
    return { what: method, taken: answer.status === 202 };
  };
}

/** Takes the wheels from whatever is less urgent. */
async function urgentMove(robot: SoakRobot, random: () => number) {
  const answer = await robot.api('POST', '/api/tasks', {
    method: 'setMoveTo',
    params: { positionName: pick(ROOMS, random) },
    task: { priority: 90, preemptPolicy: 'PREEMPT_LOWER' },
  });
  return { what: 'an urgent move', taken: answer.status === 202 };
}

/** Two rooms, purified one after the other, then home; now and then a step fails. */
async function rounds(robot: SoakRobot, random: () => number) {
  const [first, second] = [pick(ROOMS, random), pick(ROOMS, random)];
  const dwell = { mode: 'auto', cleanMinTimeMs: between(5, 60, random) * 1000 };
  return workflow(robot, random, 'rounds', [
    { method: 'setMoveTo', params: { positionName: first } },
    { method: 'startCleaning', params: dwell, failure_policy: 'CONTINUE' },
    { method: 'setMoveTo', params: { positionName: second }, retry: { max: 1, backoff_ms: 2000 } },
    { method: 'startCleaning', params: dwell },
    { method: 'returnToStation', params: {}, failure_policy: 'RETRY' },
  ]);
}

/** Purifies only bad air, and speaks beside it. */
async function conditional(robot: SoakRobot, random: () => number) {
  return workflow(robot, random, 'conditional', [
    { method: 'setMoveTo', params: { positionName: pick(ROOMS, random) } },
    {
      method: 'startCleaning',
      params: { mode: 'turbo', cleanMinTimeMs: 10_000 },
      condition: 'context.air_quality.usable && context.air_quality.pm2_5 > 15',
      on_condition_false: 'SKIP',
    },
    { method: 'setLlmTts', params: { text: '다 했어요' }, failure_policy: 'CONTINUE' },
  ]);
}

async function workflow(robot: SoakRobot, random: () => number, what: string, steps: readonly object[]) {
  const answer = await robot.api('POST', '/api/workflows', {
    workflow: {
      workflow_id: `wf-soak-${Math.floor(random() * 2 ** 48).toString(36)}`,
      goal: what,
      steps: steps.map((step, i) => ({
        ...step,
        step_id: `s${i + 1}`,
        depends_on: i === 0 ? [] : [`s${i}`],
      })),
    },
  });
  return { what: `a workflow: ${what}`, taken: answer.status === 202 };
}

async function cancelSomething(robot: SoakRobot, random: () => number) {
  const path = await somethingLive(robot, random);
  if (path === null) return { what: 'cancel', taken: false };
  const answer = await robot.api('POST', `${path}/cancel`, {});
  return { what: 'cancel', taken: answer.status === 202 };
}

/** Whoever pauses something goes on with it a little later. */
async function pauseSomething(robot: SoakRobot, random: () => number) {
  const path = await somethingLive(robot, random);
  if (path === null) return { what: 'pause', taken: false };
  const answer = await robot.api('POST', `${path}/pause`, {});
  await robot.pass(between(1, 30, random) * 1000);
  await robot.api('POST', `${path}/resume`, {});
  return { what: 'pause', taken: answer.status === 202 };
}

async function somethingLive(robot: SoakRobot, random: () => number): Promise<string | null> {
  const paths = await livePaths(robot);
  return paths.length === 0 ? null : pick(paths, random);
}

/** Paths of the API of every task and workflow that has not ended. */
export async function livePaths(robot: SoakRobot): Promise<string[]> {
  const tasks = await robot.api('GET', '/api/tasks?active=true&limit=500');
  const workflows = await robot.api('GET', '/api/workflows?active=true&limit=500');
  return [
    ...ids(tasks.body, 'tasks', 'task_id').map((id) => `/api/tasks/${id}`),
    ...ids(workflows.body, 'workflows', 'workflow_id').map((id) => `/api/workflows/${id}`),
  ];
}

function ids(body: unknown, list: string, id: string): string[] {
  const entries: unknown = Object.entries(body ?? {}).find(([key]) => key === list)?.[1];
  if (!Array.isArray(entries)) throw new Error(`the API gave no ${list}`);
  return entries.flatMap((entry: object) => {
    const found: unknown = Object.entries(entry).find(([key]) => key === id)?.[1];
    return typeof found === 'string' ? [found] : [];
  });
}

function pick<T>(items: readonly T[], random: () => number): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

/** A whole number. */
export function between(low: number, high: number, random: () => number): number {
  return low + Math.floor(random() * (high - low + 1));
}

/**
 * The main job in a short form: leave the station, two places, purify, report, back to the station. And which step of
 * it runs, as far as the cloud can tell.
 */
import type { Pose } from '../../config/contracts/geometry.js';
import type { BookedEvent } from './event-book.js';

export const MAIN_JOB_STEPS = [
  'undock',
  'setMoveTo',
  'startCleaning',
  'setLlmTts',
  'returnToStation',
] as const;
export type MainJobStep = (typeof MAIN_JOB_STEPS)[number];

/** Free floor near the station of the home that comes along, so that a run of the job is short. */
export const NEARBY: readonly [Pose, ...Pose[]] = [
  { x: 3.0, y: 0.95, theta: 0 },
  { x: 3.3, y: 1.7, theta: 1.57 },
  { x: 2.75, y: 1.9, theta: 3.14 },
  { x: 3.7, y: 1.2, theta: -1.57 },
];
const ROOMS = ['거실', '안방', '주방'] as const;
/** Share of runs that go through the home instead of staying near the station. */
const FAR_SHARE = 0.15;

export interface MainJob {
  workflowId: string;
  document: Record<string, unknown>;
}

export function mainJob(workflowId: string, random: () => number): MainJob {
  const far = random() < FAR_SHARE;
  const places = far ? pickTwo(ROOMS, random).map((positionName) => ({ positionName })) : nearby(random);
  const dwellMs = 1500 + Math.floor(random() * 2500);
  const steps = [
    {
      method: 'undock',
      params: {},
      condition: 'context.battery.on_station == true',
      on_condition_false: 'SKIP',
    },
    ...places.map((params) => ({ method: 'setMoveTo', params })),
    { method: 'startCleaning', params: { mode: 'auto', cleanMinTimeMs: dwellMs } },
    {
      method: 'setLlmTts',
      params: { text: '{{s4.output.summary}}', language: 'ko' },
      failure_policy: 'CONTINUE',
    },
    { method: 'returnToStation', params: {} },
  ].map((step, i) => ({ step_id: `s${i + 1}`, depends_on: i === 0 ? [] : [`s${i}`], ...step }));
  return { workflowId, document: { workflow_id: workflowId, goal: '짧은 순회', steps, on_cancel: 'NONE' } };
}

/** Follows the main job that is live. */
export class JobWatch {
  #workflowId: string | null = null;
  #step: { method: MainJobStep; since: number } | null = null;

  begin(workflowId: string): void {
    this.#workflowId = workflowId;
    this.#step = null;
  }

  get workflowId(): string | null {
    return this.#workflowId;
  }

  /** The step that runs, and since when (wall ms); null between steps. */
  get step(): { method: MainJobStep; since: number } | null {
    return this.#step;
  }

  note(event: BookedEvent, wall: number): void {
    if (event.workflowId === null || event.workflowId !== this.#workflowId) return;
    if (event.stepId === null) {
      if (['COMPLETED', 'FAILED', 'CANCELLED'].includes(event.event)) this.#workflowId = null;
      if (this.#workflowId === null) this.#step = null;
      return;
    }
    const method = MAIN_JOB_STEPS.find((known) => known === event.method);
    if (event.event === 'STARTED' && method !== undefined) {
      if (this.#step?.method !== method) this.#step = { method, since: wall };
    } else if (['COMPLETED', 'FAILED', 'CANCELLED'].includes(event.event)) this.#step = null;
  }
}

function nearby(random: () => number): { position: Pose }[] {
  return pickTwo(NEARBY, random).map((position) => ({ position }));
}

function pickTwo<T>(from: readonly T[], random: () => number): T[] {
  const first = Math.floor(random() * from.length);
  const second = (first + 1 + Math.floor(random() * (from.length - 1))) % from.length;
  return [from[first], from[second]].flatMap((item) => (item === undefined ? [] : [item]));
}

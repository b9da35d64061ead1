/** How far a workflow is, for people: what is done, what runs, what is waited for. */
import type { WorkflowView } from '../views.js';
import { span } from './format.js';
import { type Language, robotWords, type Translate, translator } from './language.js';

type StepView = WorkflowView['steps'][number];

/** What a step waits for; empty when it does not wait. */
export function waitingText(
  language: Language,
  { hold, waiting_for }: Pick<StepView, 'hold' | 'waiting_for'>,
): string {
  if (waiting_for === null) return '';
  const t = translator(language);
  if (hold !== 'condition') return inTime(robotWords(language, waiting_for));
  const [, condition, why] = /^(.*?) \(((?:stale|unknown|").*)\)$/s.exec(waiting_for) ?? [];
  if (condition === undefined || why === undefined) return waiting_for;
  return t('waitsUntil', { condition, why: robotWords(language, why) });
}

/** Long times of the robot's sentences as people say them: `60000 ms` is `1 min`. */
export function inTime(text: string): string {
  return text.replace(/\b(\d{4,}) ms\b/g, (_, ms: string) => span(Number(ms)));
}

/** `3 of 7 steps done · now living_room (setMoveTo) · waiting: reminder (1 min after the end of greeting)` */
export function progressLine(language: Language, workflow: Pick<WorkflowView, 'steps' | 'state'>): string {
  const { steps } = workflow;
  const t = translator(language);
  const over = steps.filter(({ state }) => !['PENDING', 'WAITING', 'RUNNING'].includes(state));
  const running = steps.filter(({ state }) => state === 'RUNNING').map((s) => `${s.step_id} (${s.method})`);
  const waiting = steps
    .filter(({ state }) => state === 'WAITING')
    .map((s) => ({ step_id: s.step_id, text: waitingText(language, s) }));
  const undoing = workflow.state === 'CANCELLING' && running.length === 0;
  return joined(t, over.length, steps.length, running, waiting, undoing ? t('takingBack') : '');
}

interface ProgressOnTheWire {
  steps_done: number;
  steps_total: number;
  running: string[];
  waiting: Pick<StepView, 'step_id' | 'hold' | 'waiting_for'>[];
  taking_back: string[];
}

/** The same from a PROGRESS event; null when it is not one of a workflow. */
export function progressOfEvent(language: Language, progress: unknown): string | null {
  if (!isProgress(progress)) return null;
  const t = translator(language);
  const waiting = progress.waiting.map((s) => ({ step_id: s.step_id, text: waitingText(language, s) }));
  const undo =
    progress.taking_back.length === 0 ? '' : `${t('takingBack')} ${progress.taking_back.join(', ')}`;
  return joined(t, progress.steps_done, progress.steps_total, progress.running, waiting, undo);
}

function isProgress(value: unknown): value is ProgressOnTheWire {
  return (
    typeof value === 'object' &&
    value !== null &&
    'steps_done' in value &&
    'steps_total' in value &&
    'running' in value &&
    Array.isArray(value.running) &&
    'waiting' in value &&
    Array.isArray(value.waiting) &&
    'taking_back' in value &&
    Array.isArray(value.taking_back)
  );
}

function joined(
  t: Translate,
  done: number,
  total: number,
  running: readonly string[],
  waiting: readonly { step_id: string; text: string }[],
  undo: string,
): string {
  const waits = waiting.map(({ step_id, text }) => (text === '' ? step_id : `${step_id} (${text})`));
  return [
    t('stepsDone', { done, total }),
    running.length === 0 ? '' : t('runsNow', { steps: running.join(', ') }),
    waits.length === 0 ? '' : t('waitsNow', { steps: waits.join(', ') }),
    undo,
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

/**
 * The main job, told while it happens: the simulated cloud pushes a workflow, and what the terminal shows is what
 * the cloud hears from the robot. Ends with a table of steps with their evidence, and one of what was received.
 */
import { type Clock, delay } from '../../../config/contracts/clock.js';
import type { CloudReport, PushedWorkflow, ReceivedEvent, SimCloud } from '../../../simulator/cloud/types.js';
import type { WorldView } from '../../../simulator/types.js';
import { cutToWidth, displayWidth } from '../display-width.js';
import type { Translate } from '../language.js';
import { textTable } from '../text-table.js';

export const MAIN_JOB = '거실로 갔다가 안방으로 이동해서 청정해줘';

export interface StoryOptions {
  cloud: SimCloud;
  world(): WorldView;
  /** The name of a room; null for what is no room's id. */
  roomName(id: string): string | null;
  /** Robot time. */
  clock: Clock;
  /** Real time: how often the live line is drawn. */
  wall: Clock;
  goal: string;
  t: Translate;
  /** Columns of the terminal. */
  columns: number;
  /** Finished lines. */
  print(line: string): void;
  /** The line that is drawn over and over; the empty string clears it. */
  live(line: string): void;
}

export interface StoryResult {
  ok: boolean;
  problems: string[];
}

/** How long the robot may take to be online and show its context, and how often that is looked at, robot ms. */
const READY_MS = 60_000;
const READY_LOOK_MS = 100;
/** How long the whole workflow may take, robot ms. */
const JOB_MS = 20 * 60_000;
const DRAW_MS = 200;
/** What the labels before facts are filled up to, columns. */
const LABEL = 17;

/** `broker           mqtt://127.0.0.1:1883` */
export function labelled(label: string, fact: string): string {
  return `${label}${' '.repeat(Math.max(1, LABEL - displayWidth(label)))}${fact}`;
}

interface StepStory {
  stepId: string;
  method: string;
  startedMs: number | null;
  endedMs: number | null;
  outcome: string;
  evidence: string;
}

export async function tellStory(options: StoryOptions): Promise<StoryResult> {
  const { cloud, clock, print, t } = options;
  if (!(await robotIsReady(options))) {
    return { ok: false, problems: [t('simNotOnline')] };
  }
  const startedAt = clock.now();
  print(labelled(t('simToRobot'), `“${options.goal}”`));
  const pushed = await cloud.pushWorkflow(options.goal);
  const teller = new Teller(options, pushed, startedAt);
  const response = await pushed.response;
  print(
    labelled(
      t('simToCloud'),
      `${response.status}${response.message === null ? '' : `: ${response.message}`}`,
    ),
  );
  if (response.status !== 'accepted')
    return { ok: false, problems: [t('simRefused', { code: response.reason_code ?? '' })] };

  const ended = await teller.untilEnd();
  const seconds = ((clock.now() - startedAt) / 1000).toFixed(1);
  print('');
  print(teller.stepTable());
  print('');
  const report = cloud.report();
  print(receivedTable(report, t));
  const problems = judge(ended, report, t);
  for (const problem of problems) print(`✗ ${problem}`);
  print(t(problems.length === 0 ? 'simDone' : 'simNotDone', { seconds }));
  return { ok: problems.length === 0, problems };
}

/** On the robot's clock, so that the same seed starts the job at the same tick. */
async function robotIsReady({ cloud, clock, live, t }: StoryOptions): Promise<boolean> {
  const deadline = clock.mono() + READY_MS;
  while (cloud.report().status !== 'online' || cloud.context() === null) {
    if (clock.mono() > deadline) return false;
    live(t('simWaiting'));
    await delay(clock, READY_LOOK_MS);
  }
  live('');
  return true;
}

function judge(ended: ReceivedEvent | null, report: CloudReport, t: Translate): string[] {
  const problems: string[] = [];
  if (ended === null) problems.push(t('simTooLong'));
  else if (ended.event !== 'COMPLETED') {
    problems.push(t('simEnded', { end: [ended.event, ended.reasonCode ?? ''].join(' ').trim() }));
  }
  if (report.missing.length > 0) problems.push(t('simMissing', { seqs: report.missing.join(', ') }));
  for (const problem of report.problems) problems.push(`${problem.kind}: ${problem.text}`);
  return problems;
}

/** Follows one workflow as the cloud sees it. */
class Teller {
  readonly #options: StoryOptions;
  readonly #pushed: PushedWorkflow;
  readonly #startedAt: number;
  readonly #steps = new Map<string, StepStory>();
  readonly #unsubscribe: (() => void)[];
  #drawnAt = Number.NEGATIVE_INFINITY;

  constructor(options: StoryOptions, pushed: PushedWorkflow, startedAt: number) {
    this.#options = options;
    this.#pushed = pushed;
    this.#startedAt = startedAt;
    this.#unsubscribe = [
      options.cloud.onEvent((event) => this.#onEvent(event)),
      options.cloud.onProgress((event) => this.#onProgress(event)),
    ];
    for (const step of pushed.document.steps) {
      this.#steps.set(step.step_id, {
        stepId: step.step_id,
        method:
          `${step.method ?? step.capability ?? '?'} ${briefParams(step.params ?? {}, options.roomName)}`.trim(),
        startedMs: null,
        endedMs: null,
        outcome: '',
        evidence: '',
      });
    }
  }

  async untilEnd(): Promise<ReceivedEvent | null> {
    const { clock, live } = this.#options;
    let cancel: () => void = () => {};
    const tooLate = new Promise<null>((resolve) => {
      cancel = clock.after(JOB_MS, () => resolve(null));
    });
    const ended = await Promise.race([this.#pushed.ended, tooLate]);
    cancel();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    live('');
    return ended;
  }

  stepTable(): string {
    const used = Math.max(...[...this.#steps.values()].map((s) => displayWidth(s.method)));
    const room = Math.max(20, this.#options.columns - used - 48);
    const { t } = this.#options;
    const seconds = (ms: number | null) => (ms === null ? null : ((ms - this.#startedAt) / 1000).toFixed(1));
    return textTable(
      [t('hStep'), t('hMethod'), t('hFromS'), t('hToS'), t('hEnd'), t('hEvidence')],
      [...this.#steps.values()].map((s) => [
        s.stepId,
        s.method,
        seconds(s.startedMs),
        seconds(s.endedMs),
        s.outcome,
        cut(s.evidence, room),
      ]),
    );
  }

  #onEvent(event: ReceivedEvent): void {
    if (event.workflowId !== this.#pushed.document.workflow_id || event.stepId === null) return;
    const step = this.#steps.get(event.stepId);
    if (step === undefined) return;
    const at = event.occurredAt === null ? this.#options.clock.now() : Date.parse(event.occurredAt);
    if (event.event === 'WORKFLOW_STEP_STARTED') {
      step.startedMs = at;
      this.#say(`${step.stepId}  ${step.method}`);
    } else if (event.event === 'WORKFLOW_STEP_COMPLETED') {
      step.endedMs = at;
      step.outcome ||= 'SKIPPED';
    } else if (event.event === 'COMPLETED' || event.event === 'FAILED' || event.event === 'CANCELLED') {
      step.endedMs = at;
      step.outcome = event.reasonCode === null ? event.event : `${event.event} ${event.reasonCode}`;
      step.evidence = briefEvidence(event.evidence);
      this.#say(cut(`${step.stepId}  ${step.outcome}  ${step.evidence}`, this.#options.columns - 10));
    }
  }

  #onProgress(event: Record<string, unknown>): void {
    if (event.workflow_id !== this.#pushed.document.workflow_id) return;
    const stage = typeof event.domain_stage === 'string' ? event.domain_stage : '';
    // Where it goes stands in the line above, and where it is comes from the world.
    const { pose: _, area_id: __, ...progress } = { ...(event.progress as Record<string, unknown> | null) };
    const now = `${event.step_id ?? ''}  ${stage}  ${briefValues(progress)}`;
    const wallNow = this.#options.wall.mono();
    if (wallNow - this.#drawnAt < DRAW_MS) return;
    this.#drawnAt = wallNow;
    const { pose, battery } = this.#options.world();
    const place = `(${pose.x.toFixed(2)}, ${pose.y.toFixed(2)})`;
    const charge = `${this.#options.t('simBattery')} ${battery.percent.toFixed(0)} %`;
    this.#options.live(`${this.#time()}  ${now}   ${place}  ${charge}`);
  }

  #say(text: string): void {
    this.#options.live('');
    this.#options.print(`${this.#time()}  ${text}`);
  }

  #time(): string {
    return `${((this.#options.clock.now() - this.#startedAt) / 1000).toFixed(1).padStart(6)} s`;
  }
}

function receivedTable(report: CloudReport, t: Translate): string {
  const rows = report.events.map((e) => [
    String(e.seq),
    e.topic,
    e.event,
    e.stepId ?? '',
    e.method ?? '',
    e.reasonCode ?? '',
  ]);
  const inOrder = report.missing.length === 0 && report.problems.length === 0;
  const { firstSeq, lastSeq, repeats, telemetry, responses } = report;
  const summary = t('simReceived', {
    events: report.events.length,
    first: firstSeq ?? '–',
    last: lastSeq ?? '–',
    order: t(inOrder ? 'simInOrder' : 'simNotInOrder'),
    missing: report.missing.length,
    repeats,
    telemetry,
    responses,
  });
  const heads = [t('hSeq'), t('hTopic'), t('hEvent'), t('hStep'), t('hMethod'), t('hReason')];
  return `${textTable(heads, rows)}\n${summary}`;
}

function briefParams(params: Record<string, unknown>, roomName: (id: string) => string | null): string {
  return Object.entries(params)
    .map(([key, value]) =>
      typeof value === 'string' ? cut(roomName(value) ?? value, 28) : `${key} ${JSON.stringify(value)}`,
    )
    .join(' ');
}

/** Small facts on one line: numbers rounded, nested objects by their own facts. */
function briefValues(value: unknown): string {
  if (value === null || typeof value !== 'object') return '';
  return Object.entries(value)
    .filter(([, v]) => v !== null && v !== undefined)
    .map(([k, v]) => `${k} ${brief(v)}`)
    .join('  ');
}

function briefEvidence(evidence: unknown): string {
  if (evidence === null || typeof evidence !== 'object') return '';
  const facts: Record<string, unknown> = { ...evidence };
  const target = facts.completion_target;
  delete facts.completion_target;
  delete facts.observed_at_ms;
  return `${typeof target === 'string' ? target : ''}  ${briefValues(facts)}`.trim();
}

function brief(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : value.toFixed(2);
  if (value === null) return '–';
  if (Array.isArray(value)) return `[${value.map(brief).join(', ')}]`;
  if (typeof value === 'object') return `(${briefValues(value)})`;
  return String(value);
}

function cut(text: string, columns: number): string {
  return displayWidth(text) <= columns ? text : `${cutToWidth(text, columns - 1)}…`;
}

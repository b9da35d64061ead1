/**
 * What a busy cloud does to a robot: always one main job under way, and beside it single moves, cleanings, speech,
 * small workflows with timers, settings, legacy commands, cancellations, pauses, questions, repeats and mistakes.
 */
import { isoWithOffset } from '../../config/contracts/clock.js';
import type { CommandBook, SentCommand } from './command-book.js';
import type { BookedEvent, EventBook } from './event-book.js';
import { JobWatch, mainJob, NEARBY } from './main-job.js';
import { type Bell, sleep } from './waiting.js';

export interface LoadDeps {
  random: () => number;
  commands: CommandBook;
  events: EventBook;
  bell: Bell;
  publish(text: string): void;
}

type Body = Record<string, unknown>;

interface Deed {
  weight: number;
  /** The command, or null when it makes no sense now. */
  body(): { what: string; body: Body } | null;
}

/** Between two deeds, ms. */
const PAUSE_MS = { least: 150, most: 600 };
/** Of each kind at most so many live at once, so that the robot keeps up. */
const AT_MOST: Readonly<Record<string, number>> = { setMoveTo: 1, startCleaning: 1, setLlmTts: 3, rotate: 1 };
const MAX_LIVE = 12;
const BURST = 15;
/** The next main job begins so long after the end of the one before, ms. */
const JOB_GAP_MS = 200;
/** So often a single task comes between two main jobs, and for so long the next job waits for it at most, ms. */
const SINGLE_SHARE = 0.5;
const SINGLE_MS = 6000;
/** A paused workflow goes on after this long, ms. */
const PAUSED_MS = 1500;
/** A main job that never ends, for whatever reason, is given up and followed by another, ms. */
const JOB_PATIENCE_MS = 180_000;

export class Load {
  readonly watch = new JobWatch();
  readonly #deps: LoadDeps;
  readonly #prefix: string;
  readonly #deeds: readonly Deed[];
  readonly #paused = new Map<string, number>();
  #n = 0;
  #running: Promise<unknown> | null = null;
  #stopping = false;

  constructor(deps: LoadDeps, prefix: string) {
    this.#deps = deps;
    this.#prefix = prefix;
    this.#deeds = this.#allDeeds();
  }

  start(): void {
    this.#running ??= Promise.all([this.#mainJobs(), this.#deedsInBetween()]);
  }

  /** No more of it; what has been asked for goes on. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#deps.bell.ring();
    await this.#running;
  }

  note(event: BookedEvent): void {
    this.watch.note(event, Date.now());
  }

  /** Publishes a command under an id of its own. */
  send(what: string, body: Body): SentCommand {
    this.#n += 1;
    const id = `c-${this.#prefix}-${this.#n}`;
    const text = JSON.stringify({
      command_id: id,
      correlation_id: `co-${this.#n}`,
      reply_to: null,
      issued_at: isoWithOffset(Date.now()),
      expires_at: null,
      ...body,
    });
    const command = this.#deps.commands.sent({ id, kind: String(body.kind), what, text });
    this.#deps.publish(text);
    return command;
  }

  /** Many small commands at once: work for the database and for the outbox. */
  burst(): void {
    for (let i = 0; i < BURST; i++) {
      const body = i % 3 === 0 ? legacy('syncState', {}) : task('syncState', {});
      this.send('syncState', i % 5 === 4 ? { ...body, params: { unknown: i } } : body);
    }
  }

  /** What was accepted and has not ended. */
  get live(): { id: string; command: SentCommand }[] {
    return this.#deps.commands.promises.filter(({ id }) => this.#deps.events.endOf(id) === null);
  }

  /** Schedules whose run has not been seen. */
  get waitingSchedules(): string[] {
    return this.#deps.commands.schedules.filter((id) => this.#deps.events.runsOf(id).length === 0);
  }

  /** Asks for the end of everything that is live. */
  cancelAll(): void {
    for (const { id, command } of this.live) {
      if (command.kind === 'workflow')
        this.send('cancelWorkflow', control('cancelWorkflow', { workflow_id: id }));
      else this.send('cancelTask', control('cancelTask', { task_id: id }));
    }
  }

  async #mainJobs(): Promise<void> {
    while (!this.#stopping) {
      const { workflowId, document } = mainJob(this.#id('wf'), this.#deps.random);
      this.watch.begin(workflowId);
      const command = this.send('main job', { kind: 'workflow', workflow: document });
      const over = () =>
        this.#stopping ||
        command.answer?.status === 'rejected' ||
        this.#deps.events.endOf(workflowId) !== null;
      if (!(await this.#deps.bell.until(over, JOB_PATIENCE_MS))) {
        this.send('cancelWorkflow', control('cancelWorkflow', { workflow_id: workflowId }));
      }
      await this.#singles();
      await sleep(JOB_GAP_MS);
    }
  }

  /** Between two main jobs: a task or two that need the wheels or the fan. */
  async #singles(): Promise<void> {
    while (!this.#stopping && this.#deps.random() < SINGLE_SHARE) {
      const { what, body } = this.#any<{ what: string; body: Body }>([
        { what: 'setMoveTo', body: task('setMoveTo', { position: this.#any(NEARBY) }) },
        { what: 'move_to_room', body: capability('move_to_room', { positionName: '거실' }) },
        { what: 'rotate', body: task('rotate', { angleDeg: 60 }) },
        { what: 'startCleaning', body: task('startCleaning', { mode: 'quiet', cleanMinTimeMs: 2000 }) },
        { what: 'setMoveTo', body: legacy('setMoveTo', { position: this.#any(NEARBY) }) },
      ]);
      const command = this.send(what, body);
      const over = () =>
        this.#stopping ||
        command.answer?.status === 'rejected' ||
        this.#deps.events.endOf(command.answer?.taskId ?? '') !== null;
      await this.#deps.bell.until(over, SINGLE_MS);
    }
  }

  async #deedsInBetween(): Promise<void> {
    while (!this.#stopping) {
      await sleep(PAUSE_MS.least + this.#deps.random() * (PAUSE_MS.most - PAUSE_MS.least));
      if (this.#stopping) return;
      this.#resumePaused();
      const deed = this.#pick();
      const wanted = this.live.length < MAX_LIVE ? deed.body() : null;
      if (wanted !== null) this.send(wanted.what, wanted.body);
    }
  }

  #allDeeds(): Deed[] {
    return [
      this.#task(3, 'syncState', () => ({})),
      this.#task(3, 'setLlmTts', () => ({ text: this.#any(SENTENCES), language: 'ko' })),
      this.#task(0.5, 'stopTts', () => ({})),
      { weight: 1, body: () => ({ what: 'syncState', body: legacy('syncState', {}) }) },
      {
        weight: 1,
        body: () => this.#limited('setLlmTts', legacy('setLlmTts', { text: this.#any(SENTENCES) })),
      },
      // What follows gets in the way of the main job, and would never let it end if it came often.
      this.#task(0.05, 'setMoveTo', () => ({ positionName: '거실' })),
      this.#task(0.05, 'startCleaning', () => ({ mode: 'quiet', cleanMinTimeMs: 1000 })),
      { weight: 0.03, body: () => ({ what: 'stopMove', body: legacy('stopMove', {}) }) },
      { weight: 1.5, body: () => this.#smallWorkflow() },
      { weight: 2, body: () => this.#cancelSomething() },
      { weight: 0.15, body: () => this.#pauseJob() },
      { weight: 0.6, body: () => this.#pauseTask() },
      { weight: 0.8, body: () => this.#amendSmallWorkflow() },
      { weight: 1, body: () => this.#schedule() },
      { weight: 1, body: () => this.#question() },
      { weight: 1.5, body: () => this.#repeat() },
      {
        weight: 0.5,
        body: () => ({ what: 'mistake', body: task('setMoveTo', { positionName: '다락방' }) }),
      },
    ];
  }

  #task(weight: number, method: string, params: () => Body): Deed {
    return { weight, body: () => this.#limited(method, task(method, params())) };
  }

  #limited(method: string, body: Body): { what: string; body: Body } | null {
    const limit = AT_MOST[method];
    const now = this.live.filter(({ command }) => command.what === method).length;
    return limit !== undefined && now >= limit ? null : { what: method, body };
  }

  /** A timer of the workflow engine has to survive whatever comes in between. */
  #smallWorkflow(): { what: string; body: Body } | null {
    const now = this.live.filter(({ command }) => command.what === 'small workflow').length;
    if (now >= 2) return null;
    const delay_ms = 300 + this.#below(2500);
    const steps = [
      { step_id: 'a', method: 'syncState', params: {} },
      { step_id: 'b', method: 'syncState', depends_on: ['a'], after_step: { step_id: 'a', delay_ms } },
      {
        step_id: 'c',
        method: 'setLlmTts',
        params: { text: this.#any(SENTENCES), language: 'ko' },
        depends_on: ['b'],
        failure_policy: 'CONTINUE',
        retry: { max: 1, backoff_ms: 200 },
      },
    ];
    return {
      what: 'small workflow',
      body: { kind: 'workflow', workflow: { workflow_id: this.#id('ws'), goal: '알림', steps } },
    };
  }

  #cancelSomething(): { what: string; body: Body } | null {
    const victims = this.live.filter(({ command }) => command.what !== 'main job');
    const victim = victims[this.#below(victims.length)];
    if (victim === undefined) return null;
    const { id, command } = victim;
    return command.kind === 'workflow'
      ? { what: 'cancelWorkflow', body: control('cancelWorkflow', { workflow_id: id }) }
      : { what: 'cancelTask', body: control('cancelTask', { task_id: id }) };
  }

  #pauseJob(): { what: string; body: Body } | null {
    const workflow_id = this.watch.workflowId;
    if (workflow_id === null || this.#paused.has(workflow_id)) return null;
    this.#paused.set(workflow_id, Date.now());
    return { what: 'pauseWorkflow', body: control('pauseWorkflow', { workflow_id }) };
  }

  #resumePaused(): void {
    const tasks = new Set(this.live.flatMap(({ id, command }) => (command.kind === 'workflow' ? [] : [id])));
    for (const [id, since] of this.#paused) {
      if (Date.now() - since < PAUSED_MS) continue;
      this.#paused.delete(id);
      if (tasks.has(id)) this.send('resumeTask', control('resumeTask', { task_id: id }));
      else this.send('resumeWorkflow', control('resumeWorkflow', { workflow_id: id }));
    }
  }

  /** What can pause pauses, and goes on when it is told to. */
  #pauseTask(): { what: string; body: Body } | null {
    const victim = this.live.find(
      ({ id, command }) => PAUSABLE.includes(command.what) && !this.#paused.has(id),
    );
    if (victim === undefined) return null;
    this.#paused.set(victim.id, Date.now());
    return { what: 'pauseTask', body: control('pauseTask', { task_id: victim.id }) };
  }

  /** Another step for a workflow that is under way; one that comes too late is refused. */
  #amendSmallWorkflow(): { what: string; body: Body } | null {
    const victim = this.live.find(({ command }) => command.what === 'small workflow');
    if (victim === undefined) return null;
    const add = [{ step_id: 'later', method: 'syncState', params: {}, depends_on: ['c'] }];
    const params = { workflow_id: victim.id, base_revision: 1, add, replace: [], remove: [] };
    return { what: 'amendWorkflow', body: control('amendWorkflow', params) };
  }

  /** One run at one time, whatever dies in between. */
  #schedule(): { what: string; body: Body } | null {
    if (this.waitingSchedules.length >= MAX_SCHEDULES) return null;
    const schedule = {
      schedule_id: this.#id('sch'),
      at: isoWithOffset(Date.now() + 1500 + this.#below(4000)),
      timezone: 'Asia/Seoul',
      missed_run_grace_ms: SCHEDULE_GRACE_MS,
    };
    return {
      what: 'schedule',
      body: { kind: 'schedule_task', schedule, method: 'syncState', params: {}, task: {} },
    };
  }

  #question(): { what: string; body: Body } {
    const id = this.live[this.#below(this.live.length)]?.id ?? 'none';
    const method = this.#any(['listTasks', 'outboxStatus', 'getTask', 'getDevicePlanningContext'] as const);
    const params = method === 'getTask' ? { task_id: id } : {};
    return { what: method, body: { kind: 'query', method, params } };
  }

  /** The same command once more, byte for byte, as a broker or an anxious cloud does. */
  #repeat(): null {
    const { all } = this.#deps.commands;
    const again = all[all.length - 1 - this.#below(Math.min(all.length, 30))];
    if (again !== undefined && again.text !== null) this.#deps.publish(again.text);
    return null;
  }

  #pick(): Deed {
    const total = this.#deeds.reduce((sum, deed) => sum + deed.weight, 0);
    let at = this.#deps.random() * total;
    const found = this.#deeds.find((deed) => {
      at -= deed.weight;
      return at < 0;
    });
    const last = found ?? this.#deeds.at(-1);
    if (last === undefined) throw new Error('there is nothing to do');
    return last;
  }

  #id(kind: string): string {
    this.#n += 1;
    return `${kind}-${this.#prefix}-${this.#n}`;
  }

  #below(n: number): number {
    return Math.floor(this.#deps.random() * n);
  }

  #any<T>(items: readonly [T, ...T[]]): T {
    return items[this.#below(items.length)] ?? items[0];
  }
}

/** Of tasks by themselves. */
const PAUSABLE: readonly string[] = ['setMoveTo', 'move_to_room', 'startCleaning', 'setLlmTts'];
const MAX_SCHEDULES = 4;
/** Longer than any time that the robot is away. */
const SCHEDULE_GRACE_MS = 120_000;
const SENTENCES = ['안녕하세요', '공기가 좋아요', '곧 갈게요', '잠시만요'] as const;

function task(method: string, params: Body): Body {
  return { kind: 'task', method, params, task: {} };
}

function capability(id: string, params: Body): Body {
  return { kind: 'task', capability: id, params, task: {} };
}

function legacy(method: string, params: Body): Body {
  return { kind: 'legacy', method, params };
}

function control(method: string, params: Body): Body {
  return { kind: 'control', method, params };
}

/** The TaskManager against the reference, by random commands; `MODEL_SEED=<seed it prints>` runs the same again. */
import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { isRefusal } from '../../../../config/contracts/errors.js';
import { removeTemporaryDirectories } from '../../store/store-world.js';
import { openTaskWorld, type Run, type TaskWorld } from '../task-world.js';
import {
  type Asked,
  conflict,
  GRACE_MS,
  isOver,
  mayPreempt,
  Reference,
  SHAPES,
  shares,
  type Task,
  TIMEOUT_MS,
} from './reference.js';

afterEach(removeTemporaryDirectories);

/** Ageing and reservations have tests of their own. */
const LIMITS = { ageingMsPerPoint: 1e12, reserveAfterMs: 1e12 };

class Real {
  world: TaskWorld = openTaskWorld({ taskLimits: LIMITS });
  lastFence = 0;

  openRun(task: Task): Run | undefined {
    return this.world.runs.findLast((run) => run.taskId === task.id && !run.over);
  }
}

type Step = fc.AsyncCommand<Reference, Real>;

/** A command on one of the tasks, picked by a number; left out where there is none to pick. */
function on(
  name: string,
  pick: number,
  eligible: (task: Task) => boolean,
  act: (task: Task, model: Reference, real: Real) => void | Promise<void>,
): Step {
  const of = (model: Pick<Reference, 'tasks'>) => model.tasks.filter(eligible);
  return {
    check: (model) => of(model).length > 0,
    async run(model, real) {
      const tasks = of(model);
      const task = tasks[pick % tasks.length];
      if (task === undefined) return;
      await act(task, model, real);
      await compare(model, real);
    },
    toString: () => `${name}(${pick})`,
  };
}

const isRunning = (task: Task) => task.state === 'STARTED' || task.state === 'CANCELLING';
const anyTask = () => true;

function endRun(how: 'complete' | 'fail' | 'prove' | 'abort', pick: number): Step {
  const eligible = (task: Task) => isRunning(task) && (how !== 'abort' || task.cause !== null);
  return on(how, pick, eligible, (task, model, real) => {
    const run = real.openRun(task);
    if (run === undefined) throw new Error(`${task.method} ${task.id} is ${task.state} and does not run`);
    if (how === 'complete') run.complete();
    else if (how === 'fail') run.fail('OBSTRUCTED');
    else if (how === 'prove') run.proveStop();
    else run.throw(run.context.signal.reason);
    model.runEnded(task, how === 'abort' ? 'unproven' : how);
  });
}

/** Does it in both, and checks that both take it or both refuse it. */
function control(
  name: 'cancel' | 'pause' | 'resume',
  pick: number,
  ask: (real: Real, id: string) => void,
): Step {
  return on(name, pick, anyTask, (task, model, real) => {
    const taken = model[name](task);
    expect(`${name} ${task.method}: ${takes(() => ask(real, task.id))}`).toBe(
      `${name} ${task.method}: ${taken}`,
    );
  });
}

function takes(act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if (isRefusal(error) && error.reason === 'ILLEGAL_STATE') return false;
    throw error;
  }
}

function submit(asked: Asked): Step {
  return {
    check: (model) => model.tasks.filter((task) => !isOver(task)).length < 8,
    async run(model, real) {
      const task = model.submit(asked, null);
      const { method, priority, mode, preempt, key } = asked;
      const metadata = {
        priority,
        executionMode: mode,
        preemptPolicy: preempt,
        timeoutMs: TIMEOUT_MS,
        ...(key === undefined ? {} : { queueKey: key }),
      };
      try {
        const record = real.world.submit(method, metadata);
        if (task === null) throw new Error(`${method} was taken, and could not start now`);
        task.id = record.taskId;
      } catch (error) {
        if (!isRefusal(error) || task !== null) throw error;
        expect(error.reason).toBe('RESOURCE_BUSY');
      }
      await compare(model, real);
    },
    toString: () =>
      `submit(${asked.method}, ${asked.priority}, ${asked.mode}, ${asked.preempt}, ${asked.key ?? '-'})`,
  };
}

function wait(seconds: number): Step {
  return {
    check: () => true,
    async run(model, real) {
      for (let i = 0; i < seconds; i++) {
        await real.world.clock.advanceAsync(1_000);
        model.tick(1_000);
        // What was not proven in time is over; its run may come back whenever it wants.
        for (const task of model.tasks) if (isOver(task)) real.openRun(task)?.throw(new Error('too late'));
        await compare(model, real);
      }
    },
    toString: () => `wait(${seconds} s)`,
  };
}

const emergencyStop: Step = {
  check: () => true,
  async run(model, real) {
    real.world.tasks.emergencyStop('pressed', real.world.clock.now());
    model.emergencyStop();
    await compare(model, real);
  },
  toString: () => 'emergencyStop',
};

const restart: Step = {
  check: () => true,
  async run(model, real) {
    real.world = await real.world.powerCut();
    model.restart();
    await compare(model, real);
  },
  toString: () => 'restart',
};

/** Lets the robot make its choices, checks them, follows them, and checks what always holds. */
async function compare(model: Reference, real: Real): Promise<void> {
  const { world } = real;
  await world.quiet();
  follow(model, real);
  for (const task of model.tasks) {
    const record = world.tasks.getTask(task.id);
    expect(`${task.method} ${task.n}: ${record?.state}`).toBe(`${task.method} ${task.n}: ${task.state}`);
    if (record?.state === 'PAUSED') {
      const by = task.until === null || task.until === 'resumed' ? null : task.until.ended;
      expect(record.progress).toMatchObject({ preempted_by: by });
    }
  }
  expectRules(model);
  expectLeases(model, real);
  expectEvents(model, world);
}

/** Takes over what the robot decided, as far as it was allowed to. */
function follow(model: Reference, real: Real): void {
  const { world } = real;
  for (let changed = true; changed; ) {
    changed = false;
    for (const task of model.tasks) {
      const record = world.tasks.getTask(task.id);
      if (record === null) continue;
      if (isRunning(task) && task.cause === null && stopping(real, task)) {
        const rival = model.candidates().find((c) => conflict(c, task) && mayPreempt(c, task));
        if (rival === undefined) throw new Error(`${task.method} ${task.n} is stopped for nobody`);
        changed = true;
        if (SHAPES[task.method]?.pausable === true) model.pausing(task, { ended: rival.id });
        else {
          Object.assign(task, {
            state: 'CANCELLING',
            cause: { as: 'CANCELLED', reason: 'PREEMPTED' },
            causeAt: model.now,
          });
        }
      }
      if (task.state === 'PENDING' && record.state === 'PAUSED') {
        // Somebody else takes the place at once: it is not let go on only to be stopped again.
        const by = String(record.progress?.preempted_by);
        mayTake(model.get(by), task);
        Object.assign(task, { state: 'PAUSED', until: { ended: by }, proven: !task.begun || task.proven });
        task.begun = true;
        changed = true;
      }
      if (task.state === 'PENDING' && record.reasonCode === 'PREEMPTED') {
        // Its turn came, and somebody took it before it had begun.
        const rival = [...model.running(), ...model.candidates()].find((c) => mayPreempt(c, task));
        if (rival === undefined) throw new Error(`${task.method} ${task.n} was stopped for nobody`);
        model.end(task, 'CANCELLED', 'PREEMPTED');
        changed = true;
      }
      if (task.state !== 'PENDING' || !isRunning({ ...task, state: record.state })) continue;
      if (!model.candidates().includes(task)) continue;
      if (model.plan(task) !== 'start') continue;
      model.start(task);
      changed = true;
    }
  }
  // Which of several took a place shows only in what the paused one says.
  for (const task of model.tasks) {
    if (task.until === null || task.until === 'resumed') continue;
    const by = world.tasks.getTask(task.id)?.progress?.preempted_by;
    if (typeof by !== 'string' || by === task.until.ended) continue;
    mayTake(model.get(by), task);
    task.until = { ended: by };
  }
}

function mayTake(rival: Task, task: Task): void {
  if (!conflict(rival, task) || !mayPreempt(rival, task)) {
    throw new Error(`${rival.method} ${rival.n} may not take the place of ${task.method} ${task.n}`);
  }
}

function inLine(a: Task, b: Task): boolean {
  return a.mode === 'QUEUED' && b.mode === 'QUEUED' && a.line === b.line;
}

function stopping(real: Real, task: Task): boolean {
  const run = real.openRun(task);
  return run?.context.signal.aborted === true;
}

function expectRules(model: Reference): void {
  const running = model.running();
  for (const a of running) {
    for (const b of running) {
      if (a !== b && conflict(a, b)) throw new Error(`${a.method} ${a.n} runs beside ${b.method} ${b.n}`);
    }
  }
  const candidates = model.candidates();
  for (const [i, task] of candidates.entries()) {
    const kept = candidates
      .slice(0, i)
      .some((better) => shares(better, task) && model.plan(better) === 'preempt');
    if (kept) continue;
    const plan = model.plan(task);
    if (plan === 'start') throw new Error(`${task.method} ${task.n} waits for nothing`);
    // Whoever stood behind another in line when that one started waits for its end.
    const behind = model.running().some((other) => other.since > task.n && inLine(other, task));
    // It looks again when those that it waits for have stopped; what came between gives way then.
    if (plan === 'preempt' && !behind && model.blockers(task).every((other) => other.cause === null)) {
      throw new Error(`nobody gives way to ${task.method} ${task.n}`);
    }
  }
  for (const task of model.tasks) {
    if (task.state !== 'PAUSED' || task.until === null || task.until === 'resumed') continue;
    const other = model.get(task.until.ended);
    if (isOver(other)) throw new Error(`${task.method} ${task.n} waits for ${other.id}, which is over`);
    if (other.state === 'PAUSED' && other.until === 'resumed') {
      throw new Error(`${task.method} ${task.n} waits for ${other.id}, which waits for a person`);
    }
  }
}

/** No lease outlives its task, nothing paused holds one, and tokens only grow. */
function expectLeases(model: Reference, real: Real): void {
  const owners = new Map(real.world.tasks.leases().map(({ resource, owner }) => [resource, owner]));
  for (const resource of ['motion', 'fan', 'speaker']) {
    const holder = model.running().find((task) => SHAPES[task.method]?.resources.includes(resource));
    expect(`${resource}: ${owners.get(resource)}`).toBe(`${resource}: ${holder?.id ?? null}`);
  }
  const driving = model.running().find((task) => SHAPES[task.method]?.resources.includes('motion'));
  const run = driving === undefined ? undefined : real.openRun(driving);
  if (run === undefined) return;
  const fence = run.context.fence('motion');
  expect(fence).toBeGreaterThanOrEqual(real.lastFence);
  real.lastFence = fence;
}

/** Each ended task has told so once, and as foreseen; no other has. */
function expectEvents(model: Reference, world: TaskWorld): void {
  const ends = new Map<string, string[]>();
  const starts = new Set<string>();
  for (const { event, task_id, reason_code, idempotency_key } of world.events()) {
    if (event === 'STARTED') {
      expect(starts.has(idempotency_key)).toBe(false);
      starts.add(idempotency_key);
    } else if (task_id !== null) {
      const text = reason_code === null ? event : `${event} ${reason_code}`;
      ends.set(task_id, [...(ends.get(task_id) ?? []), text]);
    }
  }
  for (const task of model.tasks) {
    const told = { task: `${task.method} ${task.n}`, ends: ends.get(task.id) ?? [] };
    expect(told).toEqual({ task: told.task, ends: task.ended === null ? [] : [task.ended] });
  }
}

const pick = fc.nat(7);
const COMMANDS: fc.Arbitrary<Step>[] = [
  ...Array<fc.Arbitrary<Step>>(4).fill(
    fc
      .record({
        method: fc.constantFrom('drive', 'drive', ...Object.keys(SHAPES)),
        priority: fc.constantFrom(10, 50, 80),
        mode: fc.constantFrom(
          'QUEUED' as const,
          'QUEUED' as const,
          'IMMEDIATE' as const,
          'PARALLEL' as const,
        ),
        preempt: fc.constantFrom('NONE' as const, 'PREEMPT_LOWER' as const, 'PREEMPT_SAME_QUEUE' as const),
        key: fc.constantFrom(undefined, undefined, 'x'),
      })
      .map(submit),
  ),
  ...(['complete', 'fail', 'prove', 'prove', 'abort'] as const).map((how) => pick.map((n) => endRun(how, n))),
  pick.map((n) => control('cancel', n, ({ world }, id) => world.tasks.cancelTask(id, 'USER'))),
  ...[1, 2].flatMap(() => [
    pick.map((n) => control('pause', n, ({ world }, id) => world.tasks.pauseTask(id))),
    pick.map((n) => control('resume', n, ({ world }, id) => world.tasks.resumeTask(id))),
  ]),
  fc.integer({ min: 1, max: 4 }).map(wait),
  fc.constant(emergencyStop),
  fc.constant(restart),
];

const RUNS = Number(process.env.MODEL_RUNS ?? 120);
const seed = process.env.MODEL_SEED === undefined ? {} : { seed: Number(process.env.MODEL_SEED) };

it('does with every task what the reference says, whatever comes in whatever order', async () => {
  expect(GRACE_MS).toBe(2_000);
  await fc.assert(
    fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 40, size: 'max' }), async (commands) => {
      await fc.asyncModelRun(() => ({ model: new Reference(), real: new Real() }), commands);
    }),
    { numRuns: RUNS, ...seed, endOnFailure: false },
  );
}, 300_000);

import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  scheduleTaskCommandSchema,
  scheduleWorkflowCommandSchema,
} from '../../../config/contracts/wire/command.js';
import { envelope, IntakeHarness, LOCAL } from './harness.js';

let h: IntakeHarness;
beforeEach(() => {
  h = new IntakeHarness();
});
afterEach(() => h.dispose());

const daily = { schedule_id: 's-1', cron: '0 8 * * *', timezone: 'Asia/Seoul' };
const steps = [{ step_id: 'a', method: 'setMoveTo', params: {} }];

const task = (fields: Record<string, unknown> = {}) =>
  envelope({ kind: 'schedule_task', schedule: daily, method: 'setMoveTo', params: {}, ...fields });
const flow = (fields: Record<string, unknown> = {}) =>
  envelope({
    kind: 'schedule_workflow',
    schedule: daily,
    workflow: { workflow_id: 'wf-s', steps },
    ...fields,
  });
const control = (method: string, params: Record<string, unknown> = { schedule_id: 's-1' }) =>
  envelope({ kind: 'control', method, params });

describe('a schedule', () => {
  it('for a task is accepted with the time of its next run', () => {
    expect(h.send(task({ task: { priority: 40, dryRun: true } }))).toMatchObject({
      status: 'accepted',
      schedule_id: 's-1',
      task_id: null,
      result: { next_run_at: '2026-12-01T08:00:00.000+09:00' },
    });
    expect(h.tasks.schedules.get('s-1')?.request).toMatchObject({
      createdBy: 'CLOUD',
      target: { kind: 'task', method: 'setMoveTo', task: { priority: 40, dryRun: true, managed: true } },
    });
  });

  it('names a capability as well, and holds a workflow as well', () => {
    expect(h.send(task({ method: undefined, capability: 'move_to_room' })).status).toBe('accepted');
    expect(h.tasks.schedules.get('s-1')?.request.target).toMatchObject({ method: 'setMoveTo' });
    const other = { ...daily, schedule_id: 's-2' };
    expect(h.send(flow({ schedule: other }))).toMatchObject({ status: 'accepted', schedule_id: 's-2' });
  });

  it('may do no more than who made it, and no more than a schedule', () => {
    expect(h.send(task({ task: { priority: 75 } }))).toMatchObject({
      status: 'accepted',
      result: { clamped: [{ field: 'task.priority', requested: 75, applied: 60 }] },
    });
    const denied = { status: 'rejected', reason_code: 'POLICY_DENIED' };
    const s = { ...daily, schedule_id: 's-2' };
    for (const asked of [
      { executionMode: 'IMMEDIATE' },
      { preemptPolicy: 'PREEMPT_LOWER' },
      { stateAware: false },
    ])
      expect(h.send(task({ schedule: s, task: asked }))).toMatchObject(denied);
    for (const principal of [undefined, LOCAL]) {
      const asked = task({ schedule: s, method: 'releaseEstop' });
      expect(h.send(asked, principal === undefined ? {} : { principal }).status).toBe('rejected');
    }
    const workflow = { workflow_id: 'wf-s', steps: [{ ...steps[0], priority: 90 }] };
    expect(h.send(flow({ schedule: s, workflow }))).toMatchObject({
      result: {
        clamped: [
          { field: 'workflow.steps.0.priority', requested: 90, applied: 80 },
          { field: 'workflow.steps.0.priority', requested: 80, applied: 60 },
        ],
      },
    });
  });

  it.each([
    [
      'two rules',
      { schedule: { ...daily, at: '2027-01-01T00:00:00Z' } },
      'exactly one of at, cron and rrule',
    ],
    ['no rule', { schedule: { schedule_id: 's', timezone: 'UTC' } }, 'exactly one of at, cron and rrule'],
    ['no zone', { schedule: { schedule_id: 's', cron: '* * * * *' } }, 'schedule.timezone'],
    [
      'an unknown zone',
      { schedule: { ...daily, timezone: 'Nowhere' } },
      'schedule.timezone: found "Nowhere"',
    ],
    ['an unknown field', { schedule: { ...daily, color: 1 } }, 'color'],
    [
      'a grace beyond a day',
      { schedule: { ...daily, missed_run_grace_ms: 90_000_000 } },
      'missed_run_grace_ms',
    ],
    ['a task that is not managed', { task: { managed: false } }, 'task.managed'],
    ['method and capability', { capability: 'move_to_room' }, 'exactly one of method and capability'],
    ['a workflow beside it', { workflow: { workflow_id: 'w', steps } }, 'workflow'],
  ])('is refused with %s', (_what, fields, words) => {
    const answer = h.send(task(fields));
    expect(answer).toMatchObject({ status: 'rejected', reason_code: 'INVALID_PARAMS', schedule_id: null });
    expect(answer.message).toContain(words);
  });

  it('is refused for a method that does not exist, and for a workflow that cannot run', () => {
    expect(h.send(task({ method: 'dance' })).reason_code).toBe('UNKNOWN_METHOD');
    const workflow = { workflow_id: 'wf-s', steps: [{ ...steps[0], depends_on: ['z'] }] };
    expect(h.send(flow({ workflow })).message).toContain('there is no such step');
  });

  it('is refused while the robot does not know the time', () => {
    h.clockTrusted = false;
    expect(h.send(task()).reason_code).toBe('CLOCK_UNTRUSTED');
  });

  it('sent twice is added once', () => {
    const message = task();
    h.send(message);
    expect(h.send(message)).toMatchObject({ status: 'accepted', duplicate: true, schedule_id: 's-1' });
    expect(h.send(task())).toMatchObject({ reason_code: 'INVALID_PARAMS' });
  });
});

describe('controls and the query', () => {
  it('pause, resume and remove', () => {
    h.send(task());
    for (const method of ['pauseSchedule', 'resumeSchedule', 'removeSchedule']) {
      expect(h.send(control(method))).toMatchObject({ status: 'accepted', schedule_id: 's-1' });
    }
    expect(h.tasks.schedules.calls).toEqual(['pause s-1 CLOUD', 'resume s-1', 'remove s-1 CLOUD']);
    expect(h.send(control('pauseSchedule'))).toMatchObject({ reason_code: 'NOT_FOUND' });
    expect(h.send(control('pauseSchedule', {}))).toMatchObject({ reason_code: 'INVALID_PARAMS' });
  });

  it('listSchedules tells the cloud of all, and the texts of its own', () => {
    h.send(task({ schedule: { ...daily, title: '아침' } }));
    h.send(task({ schedule: { ...daily, schedule_id: 's-2', title: '비밀' } }), { principal: LOCAL });
    const { result } = h.send(envelope({ kind: 'query', method: 'listSchedules' }));
    expect(result).toMatchObject({
      schedules: [
        { schedule_id: 's-2', source: 'LOCAL', method: 'setMoveTo' },
        { schedule_id: 's-1', source: 'CLOUD', title: '아침', state: 'ACTIVE', last_run: null },
      ],
    });
    expect(JSON.stringify(result)).not.toContain('비밀');
  });
});

it('the examples of the documentation are what the schemas take', () => {
  const example = (name: string) =>
    parse(readFileSync(new URL(`../../../docs/examples/${name}.yaml`, import.meta.url), 'utf8'));
  const around = { command_id: 'c', issued_at: '2026-11-30T09:00:00Z' };
  scheduleTaskCommandSchema.parse({ ...around, kind: 'schedule_task', ...example('schedule-task') });
  scheduleWorkflowCommandSchema.parse({
    ...around,
    kind: 'schedule_workflow',
    ...example('schedule-workflow'),
  });
});

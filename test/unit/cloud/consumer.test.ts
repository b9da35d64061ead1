import { beforeEach, describe, expect, it } from 'vitest';
import { EventConsumer, isWorkflowEnd } from '../../../simulator/cloud/consumer.js';

const event = (seq: number, change: Record<string, unknown> = {}) => ({
  contract_version: 'device-task-event.v1',
  event_id: `ev-${seq}`,
  seq,
  store_epoch: 'e-1',
  device_id: 'da-test',
  boot_id: 'b-1',
  idempotency_key: `t-${seq}:STARTED:1`,
  event: 'STARTED',
  task_id: `t-${seq}`,
  method: 'setMoveTo',
  attempt: 1,
  workflow_id: null,
  step_id: null,
  plan_id: null,
  cloud_output_key: null,
  source: 'CLOUD',
  reason_code: null,
  message: null,
  domain_stage: null,
  progress: null,
  evidence: null,
  output: null,
  correlation_id: null,
  trace_id: null,
  occurred_at: '2026-11-30T09:00:00+09:00',
  ...change,
});

describe("the simulated cloud's consumer", () => {
  let consumer: EventConsumer;
  const accept = (payload: object) => consumer.accept('events/task', JSON.stringify(payload));
  beforeEach(() => {
    consumer = new EventConsumer();
  });

  it('takes events in order without complaint', () => {
    for (const seq of [7, 8, 9]) expect(accept(event(seq))).toMatchObject({ seq, event: 'STARTED' });
    expect(consumer.report()).toMatchObject({
      firstSeq: 7,
      lastSeq: 9,
      missing: [],
      repeats: 0,
      problems: [],
    });
  });

  it('removes repeats by key and counts them', () => {
    accept(event(1));
    expect(accept(event(1))).toBeNull();
    expect(consumer.report()).toMatchObject({ repeats: 1, problems: [] });
    expect(consumer.report().events).toHaveLength(1);
  });

  it('sees a gap as long as it is one, and a row that comes late as out of order', () => {
    accept(event(1));
    accept(event(3));
    expect(consumer.report()).toMatchObject({ missing: [2], problems: [{ kind: 'gap' }] });
    accept(event(2));
    expect(consumer.report()).toMatchObject({ missing: [], problems: [{ kind: 'out_of_order' }] });
  });

  it('takes a tombstone for the row it stands for, also a late one', () => {
    accept(event(1));
    accept(event(3));
    const { event_id, seq, store_epoch, device_id, boot_id, contract_version } = event(2);
    const tombstone = {
      event_id,
      seq,
      store_epoch,
      device_id,
      boot_id,
      contract_version,
      idempotency_key: 't-2:STARTED:1',
      event: 'DEAD_LETTERED',
      reason: 'too large',
    };
    accept(tombstone);
    expect(consumer.report()).toMatchObject({ missing: [], deadLettered: 1, problems: [] });
    accept(event(4, { idempotency_key: 't-2:STARTED:1' }));
    expect(consumer.report().problems).toEqual([]);
  });

  it('complains about one key under two numbers, and two keys under one', () => {
    accept(event(1));
    accept(event(2, { idempotency_key: 't-1:STARTED:1' }));
    accept(event(2));
    expect(consumer.report().problems.map((problem) => problem.kind)).toEqual([
      'key_conflict',
      'key_conflict',
    ]);
  });

  it('does not take the failure of a step that never had a task for the end of its workflow', () => {
    const failed = {
      event: 'FAILED',
      task_id: null,
      workflow_id: 'wf-1',
      reason_code: 'STATE_CONDITION_FAILED',
    };
    const step = accept(event(1, { ...failed, step_id: 's1', idempotency_key: 'wf-1:s1:FAILED:1' }));
    const own = accept(event(2, { ...failed, step_id: null, idempotency_key: 'wf-1:FAILED:1' }));
    expect(consumer.report().problems).toEqual([]);
    expect([step, own].map((one) => one !== null && isWorkflowEnd(one))).toEqual([false, true]);
  });

  it('complains about a second terminal event of a task', () => {
    accept(event(1, { event: 'COMPLETED', task_id: 't-1', idempotency_key: 'a' }));
    accept(event(2, { event: 'FAILED', task_id: 't-1', idempotency_key: 'b', reason_code: 'TIMEOUT' }));
    expect(consumer.report().problems).toMatchObject([
      { kind: 'second_terminal', text: expect.stringContaining('t-1') },
    ]);
  });

  it('complains about what does not fit the contract', () => {
    consumer.accept('events/task', 'no json');
    accept(event(1, { event: 'DANCED' }));
    expect(consumer.report().problems.map((problem) => problem.kind)).toEqual(['malformed', 'malformed']);
  });

  it('counts anew in a new store epoch', () => {
    accept(event(50));
    accept(event(1, { store_epoch: 'e-2', idempotency_key: 'n' }));
    expect(consumer.report()).toMatchObject({ firstSeq: 1, lastSeq: 1, missing: [], problems: [] });
  });

  it('keeps telemetry apart', () => {
    const { seq: _seq, ...rest } = event(1, { event: 'PROGRESS', telemetry_seq: 4 });
    expect(accept(rest)).toBeNull();
    expect(consumer.report()).toMatchObject({ telemetry: 1, firstSeq: null, problems: [] });
  });
});

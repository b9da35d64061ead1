/** The harness must see what it is there to see: each of these is a robot that did something wrong. */
import { describe, expect, it } from 'vitest';
import { CommandBook } from './command-book.js';
import { EventBook } from './event-book.js';

const EPOCH = 'e-1';

function event(seq: number, fields: Record<string, unknown> = {}): string {
  return JSON.stringify({
    seq,
    store_epoch: EPOCH,
    idempotency_key: `key-${seq}`,
    event: 'STARTED',
    task_id: 't-1',
    workflow_id: null,
    ...fields,
  });
}

function book(...texts: string[]): EventBook {
  const events = new EventBook();
  for (const text of texts) events.accept('events/task', text);
  return events;
}

describe('the book of events', () => {
  it('finds nothing wrong with a lane that repeats itself after a restart', () => {
    const events = book(event(1), event(2), event(3), event(2), event(3), event(4));
    expect(events.problems).toEqual([]);
    expect(events.missing(EPOCH)).toEqual([]);
    expect(events.counts).toMatchObject({ events: 4, repeats: 2 });
  });

  it('misses what never came, also at the end', () => {
    const events = book(event(1), event(4));
    expect(events.missing(EPOCH)).toEqual([2, 3]);
    expect(events.missing(EPOCH, 6)).toEqual([2, 3, 5, 6]);
  });

  it('does not miss what was published before it began', () => {
    expect(book(event(5), event(6)).missing(EPOCH)).toEqual([]);
  });

  it('sees a first occurrence that comes after a later one', () => {
    const events = book(event(1), event(3), event(2));
    expect(events.count('out_of_order')).toBe(1);
    expect(events.missing(EPOCH)).toEqual([]);
  });

  it('sees one number, or one key, with two bodies', () => {
    expect(book(event(1), event(1, { event: 'FAILED' })).count('key_conflict')).toBe(1);
    expect(book(event(1), event(2, { idempotency_key: 'key-1' })).count('key_conflict')).toBe(1);
  });

  it('sees a second end of a task and of a workflow, and not the end of a step beside that of its workflow', () => {
    const end = { event: 'COMPLETED', task_id: 't-1', workflow_id: 'w-1' };
    const whole = { event: 'COMPLETED', task_id: null, workflow_id: 'w-1' };
    const events = book(event(1, end), event(2, whole));
    expect(events.problems).toEqual([]);
    expect(events.endOf('t-1')).toMatchObject({ event: 'COMPLETED' });
    events.accept('events/task', event(3, { ...end, event: 'FAILED' }));
    events.accept('events/task', event(4, { ...whole, event: 'CANCELLED' }));
    expect(events.count('second_terminal')).toBe(2);
  });

  it('sees two runs for one time of a schedule, and takes a run that expired for one', () => {
    const run = { schedule_id: 's-1', scheduled_for: '2026-12-01T08:00:00Z' };
    const events = book(
      event(1, { ...run, event: 'BLOCKED', reason_code: 'TASK_MANAGER_BUSY', task_id: null }),
    );
    expect(events.runsOf('s-1')).toEqual([]);
    events.accept('events/task', event(2, { ...run, task_id: 't-1' }));
    events.accept('events/task', event(3, { ...run, event: 'COMPLETED', task_id: 't-1' }));
    expect(events.runsOf('s-1')).toEqual(['t-1']);
    expect(events.problems).toEqual([]);
    events.accept('events/task', event(4, { ...run, task_id: 't-2' }));
    expect(events.count('second_terminal')).toBe(1);
    const late = { ...run, schedule_id: 's-2', event: 'BLOCKED', reason_code: 'MISSED_RUN_EXPIRED' };
    events.accept('events/task', event(5, { ...late, task_id: null }));
    expect(events.runsOf('s-2')).toEqual(['expired']);
  });

  it('leaves telemetry out of the order', () => {
    const events = book(JSON.stringify({ telemetry_seq: 7, event: 'PROGRESS' }), event(1));
    expect(events.problems).toEqual([]);
    expect(events.counts).toEqual({ events: 1, repeats: 0, telemetry: 1 });
  });

  it('counts a dead letter and what it cannot read', () => {
    const events = book(event(1, { event: 'DEAD_LETTERED' }), 'oops', '{"seq":1}');
    expect(events.problems.map(({ kind }) => kind)).toEqual(['dead_letter', 'malformed', 'malformed']);
  });
});

describe('the book of commands', () => {
  const answer = (fields: Record<string, unknown> = {}) =>
    JSON.stringify({
      command_id: 'c-1',
      status: 'accepted',
      task_id: 't-1',
      workflow_id: null,
      duplicate: false,
      ...fields,
    });
  const commands = (kind = 'task') => {
    const sent = new CommandBook();
    sent.sent({ id: 'c-1', kind, what: 'syncState', text: '{}' });
    return sent;
  };

  it('takes a repeated answer for what it is', () => {
    const sent = commands();
    sent.answered(answer());
    sent.answered(answer({ duplicate: true }));
    expect(sent.problems).toEqual([]);
    expect(sent.promises.map(({ id }) => id)).toEqual(['t-1']);
  });

  it('sees one command that was carried out twice', () => {
    const sent = commands();
    sent.answered(answer());
    sent.answered(answer({ task_id: 't-2' }));
    expect(sent.problems).toMatchObject([{ kind: 'answered_differently' }]);
  });

  it('sees a command that was accepted after it had been refused', () => {
    const sent = commands();
    sent.answered(answer({ status: 'rejected', task_id: null }));
    sent.answered(answer());
    expect(sent.problems).toMatchObject([{ kind: 'answered_differently' }]);
  });

  it('knows what was never answered, and what was accepted without a name', () => {
    const silent = commands();
    expect(silent.unanswered.map(({ id }) => id)).toEqual(['c-1']);
    const nameless = commands();
    nameless.answered(answer({ task_id: null }));
    expect(nameless.problems).toMatchObject([{ kind: 'accepted_without_id' }]);
  });

  it('expects no end of a question or a control', () => {
    const sent = commands('query');
    sent.answered(answer({ task_id: null, result: {} }));
    expect(sent.problems).toEqual([]);
    expect(sent.promises).toEqual([]);
  });
});

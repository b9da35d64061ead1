import { describe, expect, it } from 'vitest';
import { CommandBook } from './command-book.js';
import type { DatabaseFindings } from './database.js';
import { EventBook } from './event-book.js';
import { judge, type RunFacts } from './report.js';

const SOUND: DatabaseFindings = {
  corrupt: 0,
  problems: [],
  epoch: 'e-1',
  nextSeq: 3,
  pendingSeqs: new Set(),
  unfinished: [],
};

function facts(change: Partial<RunFacts> = {}): RunFacts {
  const commands = new CommandBook();
  commands.sent({ id: 'c-1', kind: 'task', what: 'syncState', text: '{}' });
  commands.answered(JSON.stringify({ command_id: 'c-1', status: 'accepted', task_id: 't-1' }));
  const events = new EventBook();
  const lane = { store_epoch: 'e-1', task_id: 't-1', workflow_id: null };
  events.accept('events/task', JSON.stringify({ ...lane, seq: 1, idempotency_key: 'a', event: 'STARTED' }));
  events.accept('events/task', JSON.stringify({ ...lane, seq: 2, idempotency_key: 'b', event: 'COMPLETED' }));
  return {
    seed: 1,
    baseWatchdog: false,
    durationMs: 1000,
    kills: [{ target: 'daemon', step: 'setMoveTo', moment: 'at random', readyMs: 900 }],
    stops: [{ ms: 40, granularityMs: 15, lagMs: 0, wasMoving: true, hazard: 'guarded' }],
    events,
    commands,
    database: SOUND,
    broker: 'aedes, MQTT 3.1.1',
    brokerRestarts: 0,
    brokerForgot: 0,
    troubles: {},
    diskNotFilled: null,
    inherited: [],
    commandLines: 0,
    stillWorks: true,
    trouble: [],
    ...change,
  };
}

describe('the verdict on a crash run', () => {
  it('is right when everything came once, in order, and the wheels stood in time', () => {
    expect(judge(facts())).toMatchObject({
      kills: 1,
      accepted_lost: 0,
      events_lost: 0,
      out_of_order: 0,
      second_terminals: 0,
      corrupt_dbs: 0,
      motion_after_kill_ms_max: 40,
      seed: 1,
      ok: true,
    });
  });

  it('names accepted work that never ended', () => {
    const report = judge(facts({ events: new EventBook() }));
    expect(report).toMatchObject({ accepted_lost: 1, ok: false });
    expect(report.problems[0]).toContain('t-1');
  });

  it('names work that the robot itself believes to be under way, and steps that never ended', () => {
    expect(judge(facts({ database: { ...SOUND, unfinished: ['t-9'] } })).accepted_lost).toBe(1);
  });

  it('names what an earlier version left behind and nobody ended, and a schedule that never ran', () => {
    expect(judge(facts({ inherited: ['t-old-1'] })).accepted_lost).toBe(1);
    const commands = new CommandBook();
    commands.sent({ id: 'c-2', kind: 'schedule_task', what: 'schedule', text: '{}' });
    commands.answered(JSON.stringify({ command_id: 'c-2', status: 'accepted', schedule_id: 's-1' }));
    expect(judge(facts({ commands })).accepted_lost).toBe(1);
  });

  it('misses an event that the robot takes for delivered, and not one that still waits', () => {
    expect(judge(facts({ database: { ...SOUND, nextSeq: 5 } })).events_lost).toBe(2);
    const waiting = { ...SOUND, nextSeq: 5, pendingSeqs: new Set([3, 4]) };
    expect(judge(facts({ database: waiting })).events_lost).toBe(0);
  });

  it.each([
    ['wheels that stood too late', { stops: [stopAt(260)] }, 'motion_over_bound'],
    ['wheels that nobody stopped', { stops: [stopAt(null)] }, 'not_stopped'],
    ['a database that was moved aside', { database: { ...SOUND, corrupt: 1 } }, 'corrupt_dbs'],
  ])('is wrong with %s', (_name, change, key) => {
    expect(judge(facts(change))).toMatchObject({ [key]: 1 });
  });

  it('is wrong when the robot does not work any more', () => {
    expect(judge(facts({ stillWorks: false })).ok).toBe(false);
  });

  it('measures what nobody could have stopped apart from the bound', () => {
    const kills = (['rt', 'both'] as const).map((target) => ({
      target,
      step: 'undock',
      moment: 'at random',
      readyMs: null,
    }));
    const stops = [500, 900].map((ms) => ({ ...stopAt(ms), hazard: 'residual' as const }));
    const report = judge(facts({ kills, stops }));
    expect(report).toMatchObject({ motion_after_kill_ms_max: 0, ok: true });
    expect(report.residual_motion_ms).toEqual({
      rt: { kills: 1, moving: 1, median: 500, max: 500 },
      both: { kills: 1, moving: 1, median: 900, max: 900 },
    });
  });
});

function stopAt(ms: number | null) {
  return { ms, granularityMs: 15, lagMs: 0, wasMoving: true, hazard: 'guarded' as const };
}

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createApi } from '../../../daemon/api/api.js';
import { type Served, serve } from '../../support/api/serve.js';
import { sampleWorkflow, task, taskEvent } from '../../support/api/work.js';
import { Terminal } from '../../support/cli/fake-io.js';
import { until } from '../../support/until.js';

let served: Served;
beforeEach(async () => {
  served = await serve();
});
afterEach(() => served.stop());

const start = (line: string[], lang?: string) =>
  new Terminal([...line, '--state-dir', served.dir], lang === undefined ? {} : { lang });

type End = 'COMPLETED' | 'FAILED' | 'CANCELLED';
const WHY = { COMPLETED: null, FAILED: 'OBSTRUCTED', CANCELLED: 'CANCELLED_BY_USER' } as const;
const EVIDENCE = { completion_target: 'movement.arrived', observed_at_ms: 1, idle: true };

/** The task ends: its state and its event, as one commit would show them. */
function end(taskId: string, state: End): void {
  const record = task({
    taskId,
    method: 'setMoveTo',
    state,
    startedAt: 0,
    endedAt: 1000,
    reasonCode: WHY[state],
    evidence: state === 'COMPLETED' ? EVIDENCE : null,
  });
  served.runtime.taskRecords = served.runtime.taskRecords.filter((t) => t.taskId !== taskId).concat(record);
  served.runtime.append(
    'events/task',
    taskEvent({ event: state, task_id: taskId, workflow_id: null, step_id: null, reason_code: WHY[state] }),
  );
}

/** Until the person has been told that the task is accepted. */
async function accepted(terminal: Terminal): Promise<void> {
  await until(() => terminal.err.includes('task t-1 accepted'));
}

describe('task submit --wait', () => {
  for (const [state, code] of [
    ['COMPLETED', 0],
    ['FAILED', 1],
    ['CANCELLED', 1],
  ] as const) {
    it(`ends with ${code} when the task ends ${state}, and not before`, async () => {
      const terminal = start(['task', 'submit', 'setMoveTo', '{}', '--wait']);
      await accepted(terminal);
      served.runtime.append('events/task', taskEvent({ event: 'STARTED', task_id: 't-1' }));
      end('t-other', 'COMPLETED');
      await until(() => terminal.err.includes('STARTED'));
      expect(terminal.out).toBe('');
      end('t-1', state);
      const ran = await terminal.done;
      expect(ran.code).toBe(code);
      expect(ran.out).toContain(`${state}  setMoveTo`);
      if (state === 'COMPLETED') expect(ran.out).toContain('completion_target movement.arrived');
      else expect(ran.out).toContain(WHY[state]);
    });
  }

  it('does not miss an end that comes before the answer', async () => {
    served.runtime.heldCommits = [];
    const terminal = start(['task', 'submit', 'setMoveTo', '{}', '--wait', '--json']);
    await until(() => served.runtime.handled.length > 0);
    end('t-1', 'COMPLETED');
    for (const resolve of served.runtime.heldCommits) resolve();
    served.runtime.heldCommits = null;
    const ran = await terminal.done;
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.out)).toMatchObject({ task_id: 't-1', state: 'COMPLETED', evidence: EVIDENCE });
    await until(() => served.runtime.taskEvents.size === 0);
  });

  it('goes on through a restart of the daemon', async () => {
    const terminal = start(['task', 'submit', 'setMoveTo', '{}', '--wait']);
    await accepted(terminal);
    await served.api.stop();
    await until(() => terminal.err.includes('reconnecting'));
    end('t-1', 'FAILED');
    const again = createApi(served.runtime, { tcp: null });
    await again.start();
    const ran = await terminal.done;
    await again.stop();
    expect(ran.code).toBe(1);
    expect(ran.out).toContain('FAILED');
  });

  it('on Ctrl-C says that the task goes on, and how to cancel it', async () => {
    const terminal = start(['task', 'submit', 'setMoveTo', '{}', '--wait']);
    await accepted(terminal);
    served.runtime.append('events/task', taskEvent({ event: 'STARTED', task_id: 't-1' }));
    await until(() => terminal.err.includes('STARTED'));
    terminal.interrupt();
    const ran = await terminal.done;
    expect(ran.code).toBe(130);
    expect(ran.err).toContain('deviceagent task cancel t-1');
  });

  it('is refused like any other submission', async () => {
    served.runtime.refuse.set('setMoveTo', { reason: 'POLICY_DENIED', message: 'not now' });
    const ran = await start(['task', 'submit', 'setMoveTo', '{}', '--wait'], 'ko_KR.UTF-8').done;
    expect([ran.code, ran.err]).toEqual([1, 'deviceagent: 거부됨 POLICY_DENIED: not now\n']);
  });
});

describe('workflow submit --wait', () => {
  it('ends with the workflow, not with one of its steps', async () => {
    const document = JSON.stringify(sampleWorkflow().document);
    const terminal = new Terminal(['workflow', 'submit', '-', '--wait', '--state-dir', served.dir], {
      stdin: document,
    });
    await until(() => terminal.err.includes('workflow wf-1 accepted'));
    served.runtime.append('events/task', taskEvent({ event: 'COMPLETED', step_id: 's2' }));
    await until(() => terminal.err.includes('COMPLETED  s2'));
    expect(terminal.out).toBe('');
    served.runtime.workflowRecords = [
      { ...sampleWorkflow(), state: 'FAILED', reasonCode: 'DEPENDENCY_FAILED' },
    ];
    served.runtime.append(
      'events/task',
      taskEvent({
        event: 'FAILED',
        task_id: null,
        step_id: null,
        method: null,
        reason_code: 'DEPENDENCY_FAILED',
      }),
    );
    const ran = await terminal.done;
    expect(ran.code).toBe(1);
    expect(ran.out).toContain('FAILED  거실로 갔다가 안방으로 이동해서 청정  DEPENDENCY_FAILED');
    expect(ran.out).toContain('s1  COMPLETED  setMoveTo');
  });
});

describe('events --follow', () => {
  it('prints what there is, then what happens, until Ctrl-C', async () => {
    const terminal = start(['events', '--since', '6', '--follow', '--json']);
    await until(() => terminal.out.includes('"seq":7'));
    await until(() => served.runtime.taskEvents.size === 1);
    served.runtime.append('events/task', taskEvent({ event: 'COMPLETED' }));
    served.runtime.taskEvents.emit(taskEvent({ event: 'PROGRESS', progress: { remaining_m: 1 } }));
    await until(() => terminal.out.trim().split('\n').length === 3);
    terminal.interrupt();
    const ran = await terminal.done;
    expect(ran.code).toBe(0);
    expect(
      ran.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ).toMatchObject([
      { seq: 7 },
      { seq: 8, payload: { event: 'COMPLETED' } },
      { telemetry: true, payload: { event: 'PROGRESS' } },
    ]);
  });
});

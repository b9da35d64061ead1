/** `deviceagent workflow …` */
import type { CommandResponse } from '../../../config/contracts/wire/command.js';
import type { WorkflowView } from '../../views.js';
import type { Cli } from '../cli.js';
import { clockTime, duration, facts, reason } from '../format.js';
import { CliError, EXIT } from '../io.js';
import { document } from '../options.js';
import { progressLine, waitingText } from '../progress.js';
import { keyHeader, type ListOptions, listQuery } from './task.js';
import { submitAndWait, type Target } from './wait.js';

export async function submitWorkflow(
  cli: Cli,
  file: string,
  options: { wait?: boolean; key?: string },
): Promise<number> {
  const workflow = await document(cli, file);
  const submit = () =>
    cli.client.post<CommandResponse>('/api/workflows', { workflow }, keyHeader(options.key));
  if (options.wait === true) return submitAndWait(cli, async () => target(cli, await submit()));
  const accepted = await submit();
  cli.result(accepted, () =>
    accepted.duplicate ? cli.t('duplicate') : cli.t('acceptedWorkflow', { id: accepted.workflow_id ?? '?' }),
  );
  return EXIT.ok;
}

function target(cli: Cli, accepted: CommandResponse): Target {
  const id = accepted.workflow_id ?? '';
  if (!cli.json) cli.note(cli.t('acceptedWorkflow', { id }));
  return { kind: 'workflow', id };
}

export async function listWorkflows(cli: Cli, options: ListOptions): Promise<number> {
  const answer = await cli.client.get<{ workflows: WorkflowView[] }>(
    `/api/workflows${listQuery(cli, options, 20)}`,
  );
  const { t } = cli;
  cli.result(answer, () =>
    answer.workflows.length === 0
      ? t('noWorkflows')
      : cli.table(
          [t('hId'), t('hGoal'), t('hState'), t('hSteps'), t('hStarted'), t('hTook'), t('hReason')],
          answer.workflows.map((w) => [
            w.workflow_id,
            w.goal,
            w.state,
            `${w.steps.filter((s) => s.state === 'COMPLETED' || s.state === 'SKIPPED').length}/${w.steps.length}`,
            clockTime(w.created_at_ms),
            duration(w.created_at_ms, w.ended_at_ms),
            reason(cli.language, w.reason_code, w.message),
          ]),
        ),
  );
  return EXIT.ok;
}

export async function showWorkflow(cli: Cli, id: string): Promise<number> {
  const workflow = await cli.client.get<WorkflowView>(`/api/workflows/${encodeURIComponent(id)}`);
  cli.result(workflow, () =>
    [headline(cli, workflow), progressLine(cli.language, workflow), stepTable(cli, workflow)].join('\n'),
  );
  return EXIT.ok;
}

function headline({ language }: Cli, w: WorkflowView): string {
  const revision = w.revision === 1 ? '' : `revision ${w.revision}`;
  return [w.workflow_id, w.state, revision, w.goal ?? '', reason(language, w.reason_code, w.message)]
    .filter((part) => part !== '')
    .join('  ');
}

function stepTable(cli: Cli, { steps }: WorkflowView): string {
  const { t } = cli;
  return cli.table(
    [t('hStep'), t('hMethod'), t('hState'), t('hStarted'), t('hTook'), t('hEvidence')],
    steps.map((s) => [
      s.step_id,
      s.method,
      s.waiting_for === null ? s.state : `${s.state} (${waitingText(cli.language, s)})`,
      clockTime(s.started_at_ms),
      duration(s.started_at_ms, s.ended_at_ms),
      s.reason_code === null ? facts(s.evidence) : reason(cli.language, s.reason_code, s.message),
    ]),
  );
}

/** The file holds `base_revision`, `add`, `replace` and `remove`, as `amendWorkflow` takes them. */
export async function amendWorkflow(
  cli: Cli,
  id: string,
  file: string,
  options: { key?: string },
): Promise<number> {
  const { workflow_id: named = id, ...amendment } = await document(cli, file);
  if (named !== id) throw new CliError(cli.t('otherWorkflow', { file, id: String(named) }), EXIT.usage);
  const accepted = await cli.client.post<CommandResponse>(
    `/api/workflows/${encodeURIComponent(id)}/amend`,
    amendment,
    keyHeader(options.key),
  );
  const { revision = '?' } = (accepted.result ?? {}) as { revision?: number };
  cli.result(accepted, () =>
    accepted.duplicate ? cli.t('duplicate') : cli.t('amended', { id, revision: String(revision) }),
  );
  return EXIT.ok;
}

export async function controlWorkflow(
  cli: Cli,
  verb: 'pause' | 'resume' | 'cancel',
  id: string,
): Promise<number> {
  const accepted = await cli.client.post<CommandResponse>(`/api/workflows/${encodeURIComponent(id)}/${verb}`);
  cli.result(accepted, () => cli.t('accepted'));
  return EXIT.ok;
}

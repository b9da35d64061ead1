/** `deviceagent task …` */
import type { CommandResponse } from '../../../config/contracts/wire/command.js';
import type { TaskView } from '../../views.js';
import type { Cli } from '../cli.js';
import { clockTime, duration, reason } from '../format.js';
import { EXIT } from '../io.js';
import { jsonObject, wholeNumber } from '../options.js';
import { submitAndWait, type Target } from './wait.js';

export interface SubmitOptions {
  wait?: boolean;
  capability?: boolean;
  dryRun?: boolean;
  priority?: string;
  key?: string;
}

export async function submitTask(
  cli: Cli,
  name: string,
  params: string | undefined,
  options: SubmitOptions,
): Promise<number> {
  const body = {
    [options.capability === true ? 'capability' : 'method']: name,
    params: params === undefined ? {} : jsonObject(cli, 'params', params),
    task: {
      ...(options.dryRun === true ? { dryRun: true } : {}),
      ...(options.priority === undefined
        ? {}
        : { priority: wholeNumber(cli, '--priority', options.priority, 0, 100) }),
    },
  };
  const submit = () => cli.client.post<CommandResponse>('/api/tasks', body, keyHeader(options.key));
  if (options.wait === true) return submitAndWait(cli, async () => target(cli, await submit()));
  const accepted = await submit();
  cli.result(accepted, () => (accepted.duplicate ? cli.t('duplicate') : acceptedText(cli, accepted)));
  return EXIT.ok;
}

function target(cli: Cli, accepted: CommandResponse): Target {
  const id = accepted.task_id ?? '';
  if (!cli.json) cli.note(acceptedText(cli, accepted));
  return { kind: 'task', id };
}

/** Whoever has to be asked first is named at once: otherwise the task would only seem to wait. */
function acceptedText(cli: Cli, { task_id, result }: CommandResponse): string {
  const id = task_id ?? '?';
  const approval: unknown = Object.entries(result ?? {}).find(([key]) => key === 'approval_id')?.[1];
  return typeof approval === 'string'
    ? cli.t('acceptedWaits', { id, approval })
    : cli.t('acceptedTask', { id });
}

export function keyHeader(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { 'idempotency-key': key };
}

export interface ListOptions {
  active?: boolean;
  limit?: string;
}

export function listQuery(cli: Cli, options: ListOptions, defaultLimit: number): string {
  const limit =
    options.limit === undefined ? defaultLimit : wholeNumber(cli, '--limit', options.limit, 1, 500);
  return `?limit=${limit}${options.active === true ? '&active=true' : ''}`;
}

export async function listTasks(cli: Cli, options: ListOptions): Promise<number> {
  const answer = await cli.client.get<{ tasks: TaskView[] }>(`/api/tasks${listQuery(cli, options, 20)}`);
  const { t } = cli;
  cli.result(answer, () =>
    answer.tasks.length === 0
      ? t('noTasks')
      : cli.table(
          [t('hId'), t('hMethod'), t('hState'), t('hSource'), t('hStarted'), t('hTook'), t('hReason')],
          answer.tasks.map((task) => [
            task.task_id,
            task.method,
            task.state,
            task.source,
            clockTime(task.started_at_ms),
            duration(task.started_at_ms, task.ended_at_ms),
            task.state === 'PENDING' && task.approval_id !== null
              ? cli.t('waitsForApproval', { approval: task.approval_id })
              : reason(cli.language, task.reason_code, task.message),
          ]),
        ),
  );
  return EXIT.ok;
}

export async function showTask(cli: Cli, id: string): Promise<number> {
  const task = await cli.client.get<TaskView>(`/api/tasks/${encodeURIComponent(id)}`);
  const { stringify } = await import('yaml');
  cli.result(task, () => stringify(task).trimEnd());
  return EXIT.ok;
}

export async function controlTask(
  cli: Cli,
  verb: 'pause' | 'resume' | 'cancel',
  id: string,
): Promise<number> {
  const accepted = await cli.client.post<CommandResponse>(`/api/tasks/${encodeURIComponent(id)}/${verb}`);
  cli.result(accepted, () => cli.t('accepted'));
  return EXIT.ok;
}

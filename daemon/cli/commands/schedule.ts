/** `deviceagent schedule …` */
import type { CommandResponse } from '../../../config/contracts/wire/command.js';
import type { ScheduleView } from '../../schedule-view.js';
import type { Cli } from '../cli.js';
import { reason } from '../format.js';
import { EXIT } from '../io.js';
import { document, wholeNumber } from '../options.js';
import { keyHeader } from './task.js';

const LIMIT = 50;

/** The document is the body of the request: `schedule`, and a method, a capability or a workflow. */
export async function addSchedule(cli: Cli, file: string, options: { key?: string }): Promise<number> {
  const body = await document(cli, file);
  const accepted = await cli.client.post<CommandResponse>('/api/schedules', body, keyHeader(options.key));
  cli.result(accepted, () =>
    accepted.duplicate
      ? cli.t('duplicate')
      : cli.t('acceptedSchedule', { id: accepted.schedule_id ?? '?', next: nextOf(accepted) }),
  );
  return EXIT.ok;
}

export async function listSchedules(cli: Cli, options: { limit?: string }): Promise<number> {
  const limit = options.limit === undefined ? LIMIT : wholeNumber(cli, '--limit', options.limit, 1, 500);
  const answer = await cli.client.get<{ schedules: ScheduleView[] }>(`/api/schedules?limit=${limit}`);
  const { t } = cli;
  cli.result(answer, () =>
    answer.schedules.length === 0
      ? t('noSchedules')
      : cli.table(
          [t('hId'), t('hState'), t('hRule'), t('hDoes'), t('hNext'), t('hLast'), t('hBlocked')],
          answer.schedules.map((schedule) => row(cli, schedule)),
        ),
  );
  return EXIT.ok;
}

export async function showSchedule(cli: Cli, id: string): Promise<number> {
  const schedule = await cli.client.get<ScheduleView>(`/api/schedules/${encodeURIComponent(id)}`);
  const { stringify } = await import('yaml');
  cli.result(schedule, () => stringify(schedule).trimEnd());
  return EXIT.ok;
}

export async function controlSchedule(
  cli: Cli,
  verb: 'pause' | 'resume' | 'remove',
  id: string,
): Promise<number> {
  const path = `/api/schedules/${encodeURIComponent(id)}`;
  const accepted =
    verb === 'remove'
      ? await cli.client.call<CommandResponse>({ method: 'DELETE', path })
      : await cli.client.post<CommandResponse>(`${path}/${verb}`);
  cli.result(accepted, () => cli.t('accepted'));
  return EXIT.ok;
}

function row(cli: Cli, s: ScheduleView): string[] {
  const { last_run: last, blocked } = s;
  return [
    s.schedule_id,
    s.state,
    `${s.at ?? s.cron ?? s.rrule ?? ''} ${s.timezone}`,
    s.title ?? s.method ?? s.goal ?? s.workflow_id ?? '',
    s.next_run_at ?? cli.t('never'),
    last === null ? '' : `${last.state} ${last.scheduled_for}`,
    blocked === null ? '' : reason(cli.language, blocked.reason_code, blocked.message),
  ];
}

function nextOf({ result }: CommandResponse): string {
  const next =
    typeof result === 'object' && result !== null && 'next_run_at' in result ? result.next_run_at : null;
  return typeof next === 'string' ? next : '?';
}

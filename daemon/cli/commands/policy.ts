/** `deviceagent approvals …`, `settings …` and `audit …` */
import type { ApprovalView } from '../../policy/approval-view.js';
import type { AuditEntry, AuditVerdict } from '../../policy/audit-log.js';
import type { SettingsValues } from '../../policy/setting-values.js';
import type { Cli } from '../cli.js';
import { clockTime } from '../format.js';
import { CliError, EXIT } from '../io.js';

export async function listApprovals(cli: Cli): Promise<number> {
  const answer = await cli.client.get<{ approvals: ApprovalView[] }>(
    `/api/approvals?limit=100&language=${cli.language}`,
  );
  const { t } = cli;
  cli.result(answer, () =>
    answer.approvals.length === 0
      ? t('noApprovals')
      : cli.table(
          [t('hId'), t('hState'), t('hTitle'), t('hDetail'), t('hReason'), t('hExpires')],
          answer.approvals.map((a) => [a.id, a.status, a.title, a.detail, a.why, a.expires_at.slice(0, 19)]),
        ),
  );
  return EXIT.ok;
}

export async function decideApproval(
  cli: Cli,
  verdict: 'approve' | 'deny' | 'undo',
  id: string,
): Promise<number> {
  const path = `/api/approvals/${encodeURIComponent(id)}/${verdict}?language=${cli.language}`;
  const approval = await cli.client.post<ApprovalView>(path);
  cli.result(approval, () =>
    cli.t('approvalNow', { id: approval.id, status: approval.status, title: approval.title }),
  );
  return EXIT.ok;
}

export async function settings(
  cli: Cli,
  key: string | undefined,
  value: string | undefined,
): Promise<number> {
  const path = '/api/settings';
  const before = await cli.client.get<SettingsValues>(path);
  if (key !== undefined && !Object.hasOwn(before, key)) {
    throw new CliError(cli.t('noSetting', { key, known: Object.keys(before).join(', ') }), EXIT.usage);
  }
  const now =
    key === undefined || value === undefined
      ? before
      : await cli.client.call<SettingsValues>({
          method: 'PUT',
          path,
          body: { [key]: settingOf(cli, key, value) },
        });
  const entries = Object.entries(now).filter(([name]) => key === undefined || name === key);
  cli.result(Object.fromEntries(entries), () =>
    cli.table(
      [cli.t('hField'), cli.t('hValue')],
      entries.map(([name, set]) => [name, said(set)]),
    ),
  );
  return EXIT.ok;
}

export async function auditList(cli: Cli): Promise<number> {
  const answer = await cli.client.get<{ entries: AuditEntry[] }>('/api/audit?limit=100');
  const { t } = cli;
  cli.result(answer, () =>
    cli.table(
      ['n', t('hStarted'), t('hMethod'), t('hSource'), t('hValue')],
      answer.entries.map(({ n, at, kind, by, data }) => [
        String(n),
        clockTime(at),
        kind,
        by,
        JSON.stringify(data),
      ]),
    ),
  );
  return EXIT.ok;
}

/** Exit code 1 when a row was changed, removed or moved. */
export async function auditVerify(cli: Cli): Promise<number> {
  const verdict = await cli.client.get<AuditVerdict>('/api/audit/verify');
  const { ok, checked, head, problem } = verdict;
  cli.result(verdict, () =>
    ok
      ? cli.t('auditWhole', { n: checked, head })
      : cli.t('auditBroken', { n: problem?.n ?? 0, what: problem?.what ?? '' }),
  );
  return ok ? EXIT.ok : EXIT.failed;
}

/** `on`, `off` and `22:00-07:00` as people write them; anything else is a text. */
function settingOf(cli: Cli, key: string, text: string): unknown {
  if (key === 'quiet_hours' && text === 'off') return null;
  if (text === 'on' || text === 'true') return true;
  if (text === 'off' || text === 'false') return false;
  if (key !== 'quiet_hours') return text;
  const hours = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(text);
  if (hours === null) throw new CliError(cli.t('quietForm'), EXIT.usage);
  return { from: hours[1], to: hours[2] };
}

function said(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (value === null) return '–';
  return typeof value === 'object' ? Object.values(value).join('-') : String(value);
}

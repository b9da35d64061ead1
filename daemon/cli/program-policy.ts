/** The commands of `deviceagent approvals`, `settings` and `audit`. */
import type { Command } from 'commander';
import type { Translate } from './language.js';
import type { Define } from './program-schedules.js';

export function policyCommands(program: Command, t: Translate, define: Define): void {
  const commands = () => import('./commands/policy.js');
  const approvals = program.command('approvals').description(t('cmdApprovals'));
  define(approvals, 'list', 'cmdApprovalsList', async (cli) => (await commands()).listApprovals(cli));
  const verdicts = [
    ['approve', 'cmdApprovalsApprove'],
    ['deny', 'cmdApprovalsDeny'],
    ['undo', 'cmdApprovalsUndo'],
  ] as const;
  for (const [verdict, description] of verdicts) {
    define(approvals, `${verdict} <id>`, description, async (cli, [id = '']) =>
      (await commands()).decideApproval(cli, verdict, id),
    );
  }
  define(program, 'settings [key] [value]', 'cmdSettings', async (cli, [key, value]) =>
    (await commands()).settings(cli, key, value),
  );
  const audit = program.command('audit').description(t('cmdAudit'));
  define(audit, 'list', 'cmdAuditList', async (cli) => (await commands()).auditList(cli));
  define(audit, 'verify', 'cmdAuditVerify', async (cli) => (await commands()).auditVerify(cli));
}

/** `deviceagent doctor`: this machine, then what the daemon says about its parts. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { DoctorCheck } from '../../runtime.js';
import type { Cli } from '../cli.js';
import { CliError, EXIT } from '../io.js';

interface Status {
  ready: boolean;
  device_id: string;
  version: string;
  profile: string;
}

const STATES = {
  ok: 'stateOk',
  missing: 'stateMissing',
  faulty: 'stateFaulty',
  off: 'stateOff',
} as const;

/** Exit code 1 when a part is faulty; one that is missing or switched off is not. */
export async function doctor(cli: Cli, options: { config?: string } = {}): Promise<number> {
  const checks = [
    nodeCheck(cli),
    directoryCheck(cli),
    udevCheck(cli),
    ...(await robotChecks(cli, options.config)),
  ];
  const healthy = checks.every((check) => check.state !== 'faulty');
  const { t } = cli;
  cli.result({ healthy, checks }, () =>
    cli.table(
      [t('hPart'), t('hState'), t('hMessage')],
      checks.map((c) => [c.part, t(STATES[c.state]), c.message]),
    ),
  );
  return healthy ? EXIT.ok : EXIT.failed;
}

function nodeCheck({ t }: Cli): DoctorCheck {
  const version = process.versions.node;
  const fits = Number(version.split('.')[0]) >= 20;
  return {
    part: t('partNode'),
    state: fits ? 'ok' : 'faulty',
    message: t(fits ? 'nodeOk' : 'nodeOld', { version }),
  };
}

function directoryCheck({ t, stateDir }: Cli): DoctorCheck {
  const part = t('partDir');
  const found = statSync(stateDir, { throwIfNoEntry: false });
  if (found === undefined) return { part, state: 'missing', message: t('dirMissing', { dir: stateDir }) };
  if ((found.mode & 0o077) !== 0) return { part, state: 'faulty', message: t('dirOpen', { dir: stateDir }) };
  return { part, state: 'ok', message: t('dirOk', { dir: stateDir }) };
}

function udevCheck({ t, io }: Cli): DoctorCheck {
  const found = (io.env.PATH ?? '').split(delimiter).some((dir) => isExecutable(join(dir, 'udevadm')));
  return { part: 'udevadm', state: found ? 'ok' : 'missing', message: t(found ? 'udevOk' : 'udevMissing') };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Of a running daemon; without one, the serial lines of a profile are tried here. */
async function robotChecks(cli: Cli, config: string | undefined): Promise<DoctorCheck[]> {
  const found = await daemonChecks(cli);
  const runs = found.some((check) => check.state === 'ok');
  if (runs || config === undefined) return found;
  const { checkPorts } = await import('./doctor-ports.js');
  return [...found, ...(await checkPorts(cli, config))];
}

async function daemonChecks(cli: Cli): Promise<DoctorCheck[]> {
  const { t, client } = cli;
  const part = t('partDaemon');
  try {
    const status = await client.get<Status>('/api/status');
    const { checks } = await client.get<{ checks: DoctorCheck[] }>(`/api/doctor?language=${cli.language}`);
    const { device_id: device, version, profile } = status;
    const message = status.ready ? t('daemonRuns', { device, version, profile }) : t('daemonStarting');
    return [{ part, state: 'ok', message }, ...checks];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return [{ part, state: 'faulty', message: error.message }];
  }
}

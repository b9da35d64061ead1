/** `deviceagent context`, `methods`, `capabilities`, `estop`, `console`. */
import type { CapabilityView, MethodView } from '../../views.js';
import type { Cli } from '../cli.js';
import { reason, span, yesNo } from '../format.js';
import { CliError, EXIT } from '../io.js';
import { wholeNumber } from '../options.js';

export async function showContext(cli: Cli, options: { v2?: boolean; maxBytes?: string }): Promise<number> {
  const limit =
    options.maxBytes === undefined
      ? ''
      : `&max_bytes=${wholeNumber(cli, '--max-bytes', options.maxBytes, 256, 1_048_576)}`;
  const context = await cli.client.get<object>(`/api/context?version=${options.v2 === true ? 2 : 1}${limit}`);
  const { stringify } = await import('yaml');
  cli.result(context, () => stringify(context).trimEnd());
  return EXIT.ok;
}

export async function showMethods(cli: Cli, name: string | undefined): Promise<number> {
  const { methods } = await cli.client.get<{ methods: MethodView[] }>('/api/methods');
  if (name === undefined) cli.result({ methods }, () => methodTable(cli, methods));
  else await showMethod(cli, methods, name);
  return EXIT.ok;
}

async function showMethod(cli: Cli, methods: readonly MethodView[], name: string): Promise<void> {
  const method = methods.find((m) => m.name === name);
  if (method === undefined) {
    throw new CliError(cli.t('methodUnknown', { name, names: methods.map((m) => m.name).join(', ') }));
  }
  const { stringify } = await import('yaml');
  cli.result(method, () => stringify(method).trimEnd());
}

function methodTable(cli: Cli, methods: readonly MethodView[]): string {
  const { t } = cli;
  return cli.table(
    [
      t('hExecutor'),
      t('hMethod'),
      t('hParams'),
      t('hCompletion'),
      t('hCancel'),
      t('hResources'),
      t('hTimeout'),
      t('hRisk'),
      t('hIdempotent'),
    ],
    methods.map((m) => [
      m.executor,
      m.name,
      Object.keys((m.params.properties ?? {}) as object).join(' '),
      m.completion_target,
      m.cancel === null ? '–' : `${m.cancel.method} → ${m.cancel.proof}`,
      m.resources.map((r) => (r.mode === 'shared' ? `${r.resource} (shared)` : r.resource)).join(' '),
      m.timeout_ms === null ? t('dependsOnParams') : span(m.timeout_ms),
      m.risk,
      m.idempotent ? t('yes') : t('no'),
    ]),
  );
}

export async function showCapabilities(cli: Cli): Promise<number> {
  const answer = await cli.client.get<{ capabilities: CapabilityView[] }>('/api/capabilities');
  const { t, language } = cli;
  cli.result(answer, () =>
    cli.table(
      [t('hId'), t('hTitle'), t('hAvailable'), t('hReason'), t('hMethod')],
      answer.capabilities.map((c) => [
        c.id,
        c.title[language],
        c.built ? yesNo(t, c.available) : t('notBuilt'),
        reason(language, c.reason_code, c.reason),
        c.methods.join(' '),
      ]),
    ),
  );
  return EXIT.ok;
}

export async function pressEstop(cli: Cli): Promise<number> {
  const state = await cli.client.post<object>('/api/estop');
  cli.result(state, () => cli.t('estopOn'));
  return EXIT.ok;
}

export async function releaseEstop(cli: Cli): Promise<number> {
  const state = await cli.client.post<object>('/api/estop/release');
  cli.result(state, () => cli.t('estopOff'));
  return EXIT.ok;
}

export async function consoleAddress(cli: Cli): Promise<number> {
  const address = await cli.client.post<{ url: string }>('/api/console/address');
  cli.result(address, () => cli.t('consoleAt', { url: address.url }));
  return EXIT.ok;
}

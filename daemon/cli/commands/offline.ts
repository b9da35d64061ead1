/** Commands that need no daemon: `config check`, `failsafe`, `replay`. */
import { errorText } from '../../../config/contracts/errors.js';
import { ConfigError, loadConfig, missingParts } from '../../../config/load.js';
import type { Cli } from '../cli.js';
import { facts } from '../format.js';
import { CliError, EXIT } from '../io.js';
import { fileBytes } from '../options.js';
import { said } from '../words-ko.js';

export async function checkConfig(cli: Cli, file: string): Promise<number> {
  const words = (text: string) => said(cli.language, 'profile', text);
  try {
    const { config } = loadConfig(file, cli.io.env, cli.stateDir);
    const missing = missingParts(config);
    cli.result({ valid: true, file, profile: config.profile, device_id: config.device_id, missing }, () => {
      const ok = cli.t('configOk', { file, profile: config.profile, device: config.device_id });
      return missing.length === 0
        ? ok
        : [ok, cli.t('configLacks'), ...missing.map((m) => `  ${words(m)}`)].join('\n');
    });
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (cli.json) cli.result({ valid: false, file, problems: error.problems }, () => '');
    else for (const problem of error.problems) cli.note(`${file}: ${words(problem)}`);
    return EXIT.failed;
  }
}

export async function showFailsafe(cli: Cli): Promise<number> {
  const { FAILSAFE_TABLE } = await import('../../../drivers/rt/safety/failsafe-table.js');
  const { t, language } = cli;
  cli.result({ failsafe: FAILSAFE_TABLE }, () => {
    const table = cli.table(
      [t('hCondition'), t('hMoving'), t('hStill'), t('hAllows'), t('hClears'), t('hMessage')],
      FAILSAFE_TABLE.map((row) => [
        row.condition,
        row.moving,
        row.still,
        row.still === 'OK' ? limits(row.allows) : '–',
        `${t(row.clearing === 'person_releases' ? 'person' : 'causeGone')}${row.clearMs > 0 ? ` + ${row.clearMs} ms` : ''}`,
        row.message[language],
      ]),
    );
    return `${table}\n${t('failsafeLegend')}`;
  });
  return EXIT.ok;
}

function limits(allows: { forward: number | null; backward: number | null; turn: number | null }): string {
  const one = (sign: string, value: number | null, unit: string) =>
    value === null ? `${sign} ∞` : `${sign} ${value} ${unit}`;
  return [
    one('↑', allows.forward, 'm/s'),
    one('↓', allows.backward, 'm/s'),
    one('↻', allows.turn, 'rad/s'),
  ].join('  ');
}

const MAX_CAPTURE_BYTES = 256 * 1024 * 1024;

/** Decodes each capture in the file; JSON lines with `--json`. Exit code 1 when nothing could be decoded. */
export async function replay(cli: Cli, file: string, options: { kind?: string }): Promise<number> {
  const { readCapture } = await import('../../../drivers/serial/capture.js');
  const driver = await import('../../../drivers/serial/replay.js');
  const kinds: readonly string[] = driver.REPLAY_KINDS;
  const bytes = await fileBytes(cli, file, MAX_CAPTURE_BYTES);
  const wanted = driver.REPLAY_KINDS.find((k) => k === options.kind);
  if (options.kind !== undefined && wanted === undefined) {
    const values = { option: '--kind', value: options.kind, allowed: kinds.join(', ') };
    throw new CliError(cli.t('badNumber', values), EXIT.usage);
  }
  const recorded = await import('../../../drivers/recorded/mcap.js');
  if (wanted === undefined && recorded.isMcap(bytes))
    return replayRecording(cli, recorded.readMcap(bytes), file);
  let decoded = false;
  for (const capture of captures(readCapture, bytes, file)) {
    if (capture.packet !== null) {
      const item = driver.replayQueryReply(capture.packet, capture.bytes);
      decoded ||= item !== null;
      if (item !== null) printItem(cli, item, capture.name);
      continue;
    }
    const kind = wanted ?? driver.guessKind(capture.bytes);
    if (kind === null) continue;
    const totals = { frames: 0, scans: 0, rejected: 0, discarded: 0 };
    for (const item of driver.replayBytes(kind, capture.bytes)) {
      if (item.type === 'scan') totals.scans += 1;
      else if (item.type === 'rejected') totals.rejected += item.count;
      else if (item.type === 'discarded') totals.discarded += item.bytes;
      else if (item.type !== 'incomplete' && item.type !== 'scan_dropped') totals.frames += 1;
      printItem(cli, item, capture.name);
    }
    decoded ||= totals.frames > 0;
    if (!cli.json) cli.note(cli.t('replaySummary', { kind, bytes: capture.bytes.length, ...totals }));
  }
  if (!decoded) throw new CliError(cli.t('replayUnknown', { file }));
  return EXIT.ok;
}

/** A run as MCAP: its messages, then how many of each topic. Exit code 1 when there was none. */
function replayRecording(
  cli: Cli,
  items: Iterable<{ type: string; messages?: number }>,
  file: string,
): number {
  let messages = 0;
  for (const item of items) {
    if (item.type === 'topic') messages += item.messages ?? 0;
    printItem(cli, item, null);
  }
  if (messages === 0) throw new CliError(cli.t('replayUnknown', { file }));
  return EXIT.ok;
}

function captures<T>(read: (bytes: Uint8Array) => T[], bytes: Uint8Array, file: string): T[] {
  try {
    return read(bytes);
  } catch (error) {
    throw new CliError(`${file}: ${errorText(error)}`);
  }
}

function printItem(cli: Cli, item: { type: string }, name: string | null): void {
  const { type, ...rest } = item;
  if (cli.json) cli.jsonLine(name === null ? item : { name, ...item });
  else cli.line(`${name === null ? '' : `${name}: `}${type}  ${facts(rest)}`);
}

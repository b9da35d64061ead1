/** Reading what people type: numbers, JSON, files, standard input. */
import { readFile } from 'node:fs/promises';
import { errorCode } from '../../config/contracts/errors.js';
import type { Cli } from './cli.js';
import { CliError, EXIT } from './io.js';

/** As the API takes at most. */
const MAX_DOCUMENT_BYTES = 256 * 1024;

export function wholeNumber(cli: Cli, option: string, text: string, min: number, max: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  const allowed = `${min}–${max}`;
  throw new CliError(cli.t('badNumber', { option, value: text, allowed }), EXIT.usage);
}

/** A JSON object typed as one argument. */
export function jsonObject(cli: Cli, what: string, text: string): Record<string, unknown> {
  return asObject(
    cli,
    what,
    parse(cli, what, () => JSON.parse(text), 'badParams'),
  );
}

/** A document from a file (JSON or YAML), or from standard input for `-`. */
export async function document(cli: Cli, file: string): Promise<Record<string, unknown>> {
  const text = file === '-' ? await standardInput(cli) : await fileText(cli, file);
  // YAML contains JSON; its errors name the line, so JSON files get the same.
  const { parse: parseYaml } = await import('yaml');
  return asObject(
    cli,
    file,
    parse(cli, file, () => parseYaml(text, { maxAliasCount: 100 })),
  );
}

function parse(
  cli: Cli,
  what: string,
  read: () => unknown,
  complaint: 'badJson' | 'badParams' = 'badJson',
): unknown {
  try {
    return read();
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    throw new CliError(cli.t(complaint, { what, why }), EXIT.usage);
  }
}

function asObject(cli: Cli, what: string, value: unknown): Record<string, unknown> {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new CliError(cli.t('badObject', { what }), EXIT.usage);
}

async function fileText(cli: Cli, file: string): Promise<string> {
  return (await fileBytes(cli, file, MAX_DOCUMENT_BYTES)).toString('utf8');
}

/** Throws a `CliError` that says why the file cannot be read, or that it is too large. */
export async function fileBytes(cli: Cli, file: string, limit: number): Promise<Buffer> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    const why = errorCode(error) ?? String(error);
    const text = why === 'ENOENT' ? cli.t('noSuchFile', { file }) : cli.t('cannotRead', { file, why });
    throw new CliError(text, EXIT.usage);
  }
  if (bytes.length > limit) {
    throw new CliError(cli.t('tooLarge', { file, limit: `${Math.round(limit / 1024)} KiB` }), EXIT.usage);
  }
  return bytes;
}

async function standardInput(cli: Cli): Promise<string> {
  let text = '';
  for await (const chunk of cli.io.stdin) {
    text += String(chunk);
    if (text.length > MAX_DOCUMENT_BYTES) {
      throw new CliError(cli.t('tooLarge', { file: '-', limit: '256 KiB' }), EXIT.usage);
    }
  }
  return text;
}

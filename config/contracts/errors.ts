import type { z } from 'zod';
import { allowedText } from './allowed-text.js';
import type { ReasonCode, TaskReason } from './reason-codes.js';

/**
 * A failure that somebody outside has to understand: a refusal, or the way a task ended. Values, not defects:
 * anything else that is thrown is a defect and becomes `INTERNAL_ERROR` with an id that stands in the log.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  constructor(
    readonly reason: ReasonCode,
    message: string,
    /** Dotted path of the field at fault, where there is one. */
    readonly field?: string,
    /** When the fact behind this reason was observed, robot time, epoch ms. */
    readonly observedAtMs?: number,
  ) {
    super(message);
  }
}

/** A task method's way of ending other than COMPLETED. */
export class TaskFailure extends Refusal {
  constructor(
    override readonly reason: TaskReason,
    message: string,
    options: { field?: string; observedAtMs?: number; evidence?: Record<string, unknown> } = {},
  ) {
    super(reason, message, options.field, options.observedAtMs);
    this.evidence = options.evidence ?? null;
  }
  readonly evidence: Record<string, unknown> | null;
}

export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Refusal;
}

/**
 * Turns the first issue of a zod error into one sentence that names the field, what was found and what is
 * allowed. `input` is the value that was parsed; long values are cut.
 */
export function describeZodError(error: z.ZodError, input: unknown): { field: string; message: string } {
  const issue = error.issues[0];
  if (issue === undefined) return { field: '', message: 'invalid' };
  const { field, found, allowed } = issueParts(issue, input);
  return { field, message: `${field || 'the document'}: found ${found}; ${allowed}` };
}

/** What one issue of a zod error is about: the dotted path of the field, what `input` has there, what is allowed. */
export function issueParts(
  issue: z.ZodError['issues'][number],
  input: unknown,
): { field: string; found: string; allowed: string } {
  const unknown = issue.code === 'unrecognized_keys';
  const path = unknown ? [...issue.path, issue.keys[0] ?? '?'] : issue.path;
  return {
    field: path.map(String).join('.'),
    found: shown(valueAt(input, path)),
    allowed: unknown ? 'this field is not known here' : allowedText(issue),
  };
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (value === null || typeof value !== 'object') return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** A short, single-line rendering of an untrusted value. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

/** What a thrown value says, for a message or a log line; anything can be thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of a system or SQLite error, e.g. `ENOENT`; null for any other value. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null;
}

/** For the default branch of an exhaustive switch. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value ${shown(value)}`);
}

/** `docs/methods.md` as the methods themselves have it. */
import { z } from 'zod';
import type { MethodSpec } from '../../executors/method.js';

interface MethodRow {
  method: string;
  executor: string;
  summary: string;
  /** JSON Schema of the parameters. */
  schema: object;
  precondition: string;
  completion: string;
  /** The method that stops it and what proves the stop; null where there is nothing to stop. */
  cancel: string | null;
  compensation: string | null;
  resources: string[];
  risk: 'low' | 'high';
  idempotent: boolean;
  /** Milliseconds, or how they follow from the parameters. */
  timeout: string;
  /** JSON Schema of what later steps may refer to. */
  output: object;
}

export function methodTable(methods: readonly MethodSpec[]): MethodRow[] {
  return methods.map((method) => ({
    method: method.name,
    executor: method.executor,
    summary: method.summary,
    schema: z.toJSONSchema(method.params, { io: 'input' }),
    precondition: method.preconditionText,
    completion: method.completionTarget,
    cancel: method.cancel === null ? null : `${method.cancel.method} → ${method.cancel.proof}`,
    compensation: method.compensation?.method ?? null,
    resources: method.resources.map(({ resource, mode }) =>
      mode === 'exclusive' ? resource : `${resource} (shared)`,
    ),
    risk: method.risk,
    idempotent: method.idempotent,
    timeout: method.timeoutText ?? String(method.timeoutMs),
    output: z.toJSONSchema(method.output, { io: 'output' }),
  }));
}

const INTRODUCTION = `# Task methods

Taken from the code: a test compares this file with the methods, and rewrites it with \`UPDATE_DOCS=1\`; \`deviceagent
methods\` shows those of a running robot. A method that is not built is not in here, and cannot be called. Times are milliseconds; \`?\` marks a parameter that may be left out, \`=\` its
default. *Continued* says whether an unfinished task goes on after a restart.
`;

/** The table as a Markdown document. */
export function methodsMarkdown(methods: readonly MethodSpec[]): string {
  const rows = methodTable(methods);
  const executors = [...new Set(rows.map((row) => row.executor))];
  const sections = executors.map((executor) => {
    const own = rows.filter((row) => row.executor === executor);
    return [`## ${executor}`, ...own.map(section)].join('\n\n');
  });
  return `${[INTRODUCTION.trimEnd(), ...sections].join('\n\n')}\n`;
}

function section(row: MethodRow): string {
  const lines: [string, string][] = [
    ['Parameters', fields(row.schema)],
    ['Precondition', row.precondition],
    ['Completion', `\`${row.completion}\``],
    ['Cancel', row.cancel ?? 'nothing to stop'],
    ['Compensation', row.compensation ?? 'none'],
    ['Resources', row.resources.join(', ') || 'none'],
    ['Risk', row.risk],
    ['Continued', row.idempotent ? 'yes' : 'no'],
    ['Time-out', row.timeout],
    ['Output', fields(row.output)],
  ];
  const table = lines.map(([name, text]) => `| ${name} | ${text.replaceAll('|', '\\|')} |`);
  return [`### ${row.method}`, '', row.summary, '', '| | |', '|---|---|', ...table].join('\n');
}

interface JsonSchema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  default?: unknown;
}

function fields(schema: object): string {
  const { properties = {}, required = [] } = schema as JsonSchema;
  const names = Object.entries(properties).map(([name, field]) => {
    const optional = required.includes(name) || field.default !== undefined ? '' : '?';
    const fallback = field.default === undefined ? '' : ` = ${JSON.stringify(field.default)}`;
    return `\`${name}${optional}: ${typeText(field)}${fallback}\``;
  });
  return names.join(', ') || 'none';
}

function typeText(schema: JsonSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(String).join(' or ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeText).join(' or ');
  if (schema.type === 'array') return `${typeText(schema.items ?? {})}[]`;
  if (schema.type === 'object') {
    const inner = Object.entries(schema.properties ?? {}).map(
      ([name, field]) => `${name}: ${typeText(field)}`,
    );
    return `{${inner.join(', ')}}`;
  }
  const { minimum, maximum } = schema;
  const range =
    minimum !== undefined && maximum !== undefined && maximum < 2 ** 50 ? ` ${minimum}…${maximum}` : '';
  const type = Array.isArray(schema.type) ? schema.type.join(' or ') : (schema.type ?? 'any');
  return `${type}${range}`;
}

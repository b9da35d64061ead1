/** Templates in params: `{{<step_id>.output.<path>}}`. */
import type { OutputReference } from './conditions.js';

const ANY_TEMPLATE = /\{\{[^{}]*\}\}/g;
const TEMPLATE = /^\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\.output((?:\.[A-Za-z0-9_-]+)*)\s*\}\}$/;

/** Where a template stands in the params: `text`, `position.x`. */
export interface TemplateUse extends OutputReference {
  field: string;
}

export class MissingOutput extends Error {
  override readonly name = 'MissingOutput';
}

/** Every template in a value; throws an `Error` for text between `{{` and `}}` that is none. */
export function templatesIn(value: unknown, field = ''): TemplateUse[] {
  if (typeof value === 'string') {
    return (value.match(ANY_TEMPLATE) ?? []).map((text) => ({ ...parseTemplate(text), field }));
  }
  if (Array.isArray(value)) return value.flatMap((item, i) => templatesIn(item, join(field, String(i))));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => templatesIn(item, join(field, key)));
}

/**
 * Puts outputs in. A string that is one template becomes the value itself, with its type; inside other text it
 * becomes text. Throws `MissingOutput` naming what is not there.
 */
function render(value: unknown, outputs: ReadonlyMap<string, unknown>): unknown {
  if (typeof value === 'string') return renderText(value, outputs);
  if (Array.isArray(value)) return value.map((item) => render(item, outputs));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, render(item, outputs)]));
}

export function renderParams(
  params: Record<string, unknown>,
  outputs: ReadonlyMap<string, unknown>,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(params).map(([key, item]) => [key, render(item, outputs)]));
}

function renderText(text: string, outputs: ReadonlyMap<string, unknown>): unknown {
  if (TEMPLATE.test(text)) return outputAt(parseTemplate(text), outputs);
  return text.replace(ANY_TEMPLATE, (template) => {
    const value = outputAt(parseTemplate(template), outputs);
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}

function parseTemplate(text: string): OutputReference {
  const match = TEMPLATE.exec(text);
  if (match === null) throw new Error(`found ${text}; a template is {{<step_id>.output.<path>}}`);
  return { stepId: match[1] ?? '', path: (match[2] ?? '').split('.').filter((part) => part !== '') };
}

function outputAt({ stepId, path }: OutputReference, outputs: ReadonlyMap<string, unknown>): unknown {
  let value: unknown = outputs.get(stepId);
  for (const key of path) {
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : undefined;
  }
  if (value === undefined || value === null) {
    throw new MissingOutput(`${[stepId, 'output', ...path].join('.')} has no value`);
  }
  return value;
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

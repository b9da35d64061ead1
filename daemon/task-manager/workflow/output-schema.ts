/** Whether a method's output can have a field, by its output schema. */
import { z } from 'zod';
import type { MethodSpec } from '../../../executors/method.js';

type JsonSchema = Record<string, unknown> | boolean;

const schemas = new WeakMap<z.ZodType, JsonSchema>();

/** True also where the schema does not say: only what is certainly not there is refused. */
export function outputHas(spec: Pick<MethodSpec, 'output'>, path: readonly string[]): boolean {
  return has(schemaOf(spec.output), path);
}

function schemaOf(output: z.ZodType): JsonSchema {
  const known = schemas.get(output);
  if (known !== undefined) return known;
  const schema = z.toJSONSchema(output, { io: 'output', unrepresentable: 'any' }) as Record<string, unknown>;
  schemas.set(output, schema);
  return schema;
}

function has(schema: unknown, path: readonly string[]): boolean {
  if (typeof schema !== 'object' || schema === null) return schema !== false;
  const node = schema as Record<string, unknown>;
  if ('$ref' in node) return true;
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const options = node[key];
    if (Array.isArray(options)) return options.some((option) => has(option, path));
  }
  const [first, ...rest] = path;
  if (first === undefined) return node.type !== 'null';
  if (node.type === 'object') return objectHas(node, first, rest);
  if (node.type === 'array') return /^\d+$/.test(first) && has(node.items ?? {}, rest);
  // No type: anything; a plain value: nothing below it.
  return node.type === undefined;
}

function objectHas(node: Record<string, unknown>, first: string, rest: readonly string[]): boolean {
  const properties = (node.properties ?? {}) as Record<string, unknown>;
  if (Object.hasOwn(properties, first)) return has(properties[first], rest);
  const more = node.additionalProperties;
  return typeof more === 'object' || more === true ? has(more, rest) : false;
}

/** `deviceagent schema NAME`: the wire documents as JSON Schema, and the params of a running daemon's methods. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { commandResponseSchema, commandSchema } from '../../../config/contracts/wire/command.js';
import {
  observationSchema,
  statusSchema,
  taskEventSchema,
  tombstoneSchema,
} from '../../../config/contracts/wire/events.js';
import { workflowSchema } from '../../../config/contracts/wire/workflow.js';
import { configSchema } from '../../../config/schema.js';
import type { MethodView } from '../../api/views.js';
import type { Cli } from '../cli.js';
import { CliError, EXIT } from '../io.js';

/** What comes in is described as it may be sent, what goes out as it is sent. */
const DOCUMENTS: Readonly<Record<string, { schema: z.ZodType; io: 'input' | 'output' }>> = {
  command: { schema: commandSchema, io: 'input' },
  'command-response': { schema: commandResponseSchema, io: 'output' },
  workflow: { schema: workflowSchema, io: 'input' },
  'device-task-event.v1': { schema: taskEventSchema, io: 'output' },
  'device-semantic-observation.v1': { schema: observationSchema, io: 'output' },
  tombstone: { schema: tombstoneSchema, io: 'output' },
  status: { schema: statusSchema, io: 'output' },
  config: { schema: configSchema, io: 'input' },
};

export const schemaNames: readonly string[] = Object.keys(DOCUMENTS);

/** Null for a name that is none of `schemaNames`. */
export function documentSchema(name: string): object | null {
  const found = Object.hasOwn(DOCUMENTS, name) ? DOCUMENTS[name] : undefined;
  if (found === undefined) return null;
  return { title: name, ...z.toJSONSchema(found.schema, { io: found.io, unrepresentable: 'any' }) };
}

export function schemaText(schema: object): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}

export async function showSchema(
  cli: Cli,
  name: string | undefined,
  options: { write?: string },
): Promise<number> {
  if (options.write !== undefined) return writeAll(cli, options.write);
  if (name === undefined) {
    cli.result({ schemas: schemaNames }, () => schemaNames.join('\n'));
    return EXIT.ok;
  }
  const schema = documentSchema(name) ?? (await methodSchema(cli, name));
  cli.line(schemaText(schema).trimEnd());
  return EXIT.ok;
}

function writeAll(cli: Cli, dir: string): number {
  mkdirSync(dir, { recursive: true });
  for (const name of schemaNames) {
    writeFileSync(join(dir, `${name}.json`), schemaText(documentSchema(name) ?? {}));
  }
  cli.result({ written: schemaNames, dir }, () =>
    cli.t('schemasWritten', { count: schemaNames.length, dir }),
  );
  return EXIT.ok;
}

/** The daemon knows which methods it has; without one, only documents can be printed. */
async function methodSchema(cli: Cli, name: string): Promise<object> {
  const methods = await cli.client
    .get<{ methods: MethodView[] }>('/api/methods')
    .then((answer) => answer.methods)
    .catch(() => []);
  const method = methods.find((m) => m.name === name);
  if (method !== undefined) return { title: name, ...method.params };
  const names = [...schemaNames, ...methods.map((m) => m.name)].join(', ');
  throw new CliError(cli.t('schemaUnknown', { name, names }));
}

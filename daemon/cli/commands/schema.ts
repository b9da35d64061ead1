/** `deviceagent schema NAME`: the wire documents as JSON Schema, and the params of a running daemon's methods. */
import { z } from 'zod';
import { schemas } from '../../../config/contracts/schemas.js';
import { configSchema } from '../../../config/schema.js';
import type { MethodView } from '../../views.js';
import type { Cli } from '../cli.js';
import { CliError, EXIT } from '../io.js';

export async function showSchema(cli: Cli, name: string | undefined): Promise<number> {
  const known: Record<string, unknown> = {
    ...schemas(),
    config: z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }),
  };
  if (name === undefined) {
    const names = Object.keys(known);
    cli.result({ schemas: names }, () => names.join('\n'));
    return EXIT.ok;
  }
  const schema = Object.hasOwn(known, name) ? known[name] : await methodSchema(cli, name, Object.keys(known));
  cli.line(JSON.stringify(schema, null, 2));
  return EXIT.ok;
}

/** The daemon knows which methods it has; without one, only documents can be printed. */
async function methodSchema(cli: Cli, name: string, documents: readonly string[]): Promise<object> {
  const methods = await cli.client
    .get<{ methods: MethodView[] }>('/api/methods')
    .then((answer) => answer.methods)
    .catch(() => []);
  const method = methods.find((m) => m.name === name);
  if (method !== undefined) return { title: name, ...method.params };
  const names = [...documents, ...methods.map((m) => m.name)].join(', ');
  throw new CliError(cli.t('schemaUnknown', { name, names }));
}

import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { documentSchema, schemaNames, schemaText } from '../../../daemon/cli/commands/schema.js';

const folder = fileURLToPath(new URL('../../../config/schemas/', import.meta.url));

describe('config/schemas (`deviceagent schema --write config/schemas` writes it)', () => {
  it('has a file for every document and no other', () => {
    expect(readdirSync(folder).sort()).toEqual(schemaNames.map((name) => `${name}.json`).sort());
  });

  for (const name of schemaNames) {
    it(`${name}.json is what the code says`, async () => {
      await expect(schemaText(documentSchema(name) ?? {})).toMatchFileSnapshot(`${folder}${name}.json`);
    });
  }
});

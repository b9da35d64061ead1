import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { openApiDocument } from '../../../daemon/api/openapi.js';
import { allRoutes } from '../../../daemon/api/routes/all.js';
import { serve, withToken } from '../../support/api/serve.js';

const repository = (path: string) => new URL(`../../../${path}`, import.meta.url).pathname;
const document = openApiDocument(allRoutes) as {
  paths: Record<string, Record<string, { operationId: string; 'x-scope': string }>>;
};

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document));
    expect(result).toEqual({ valid: true });
  });

  it('stands in docs/openapi.yaml as the code has it (`npx vitest run test/unit/api -u` writes it)', async () => {
    const header = '# Generated from the routes in daemon/api; test/unit/api/openapi.test.ts compares it.\n';
    await expect(
      header + stringify(document, { lineWidth: 110, aliasDuplicateObjects: false }),
    ).toMatchFileSnapshot(repository('docs/openapi.yaml'));
  });

  it('describes every route there is, each under its own name', () => {
    const described = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const expected = allRoutes.map((r) => `${r.method} ${r.path}`);
    expect(described.sort()).toEqual(
      [...expected, 'GET /api/drive/stream', 'GET /api/events/stream', 'GET /api/robot/stream'].sort(),
    );
    const names = Object.values(document.paths).flatMap((o) => Object.values(o).map((x) => x.operationId));
    expect(new Set(names).size).toBe(names.length);
  });

  it('is served by the API that it describes', async () => {
    const served = await serve();
    const answer = await withToken(served, { path: '/api/openapi.json' });
    expect(answer.json).toEqual(JSON.parse(JSON.stringify(document)));
    await served.stop();
  });

  it('leaves nothing but readiness open to everybody', () => {
    expect(allRoutes.filter((r) => r.scope === 'public').map((r) => r.path)).toEqual(['/ready']);
  });

  it('agrees with the table in docs/api.md', () => {
    const text = readFileSync(repository('docs/api.md'), 'utf8');
    const rows = [...text.matchAll(/^\| `(GET|POST|PUT|DELETE) ([^`]+)` +\| (\w+) +\|/gm)].map(
      ([, m, p, s]) => `${m} ${p} ${s}`,
    );
    const operations = Object.entries(document.paths).flatMap(([path, byMethod]) =>
      Object.entries(byMethod).map(([method, o]) => `${method.toUpperCase()} ${path} ${o['x-scope']}`),
    );
    expect(rows.sort()).toEqual(operations.sort());
  });
});

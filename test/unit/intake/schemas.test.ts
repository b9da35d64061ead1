import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { schemas } from '../../../config/contracts/schemas.js';
import { taskEventSchema } from '../../../config/contracts/wire/events.js';

const FOLDER = new URL('../../../config/schemas/', import.meta.url);

describe('the JSON Schemas of the wire contract', () => {
  it('are committed as they are generated (npm run schemas writes them)', () => {
    const generated = schemas();
    const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
    expect(files.sort()).toEqual(
      Object.keys(generated)
        .map((name) => `${name}.schema.json`)
        .sort(),
    );
    for (const [name, schema] of Object.entries(generated)) {
      const committed: unknown = JSON.parse(readFileSync(new URL(`${name}.schema.json`, FOLDER), 'utf8'));
      expect(committed, name).toEqual(JSON.parse(JSON.stringify(schema)));
    }
  });

  it('refuse unknown fields in what comes in, and say nothing of them in what goes out', () => {
    const all = schemas();
    expect(all['command.task']).toMatchObject({
      additionalProperties: false,
      required: expect.arrayContaining(['command_id']),
    });
    expect(all['device-task-event.v1']).toMatchObject({
      properties: { contract_version: { const: 'device-task-event.v1' } },
    });
  });

  it('keep the example of the specification valid', () => {
    const example = {
      contract_version: 'device-task-event.v1',
      event_id: '01J',
      seq: 1042,
      store_epoch: 'e-1',
      device_id: 'da-sim',
      boot_id: 'b-1',
      idempotency_key: 't-01J:COMPLETED:1',
      event: 'COMPLETED',
      task_id: 't-01J',
      method: 'setMoveTo',
      attempt: 1,
      workflow_id: 'wf-1',
      step_id: 's1',
      plan_id: 'p-1',
      cloud_output_key: 'arrival',
      source: 'CLOUD',
      reason_code: null,
      message: null,
      domain_stage: 'navigation.arrived',
      progress: null,
      evidence: {
        completion_target: 'movement.arrived',
        observed_at_ms: 1790000000000,
        area_id: '2',
        pose: { x: 1.92, y: 0.51, theta: 1.57 },
        idle: true,
      },
      output: { area_id: '2' },
      correlation_id: 'co-1',
      trace_id: 't-1',
      occurred_at: '2026-11-30T09:00:41.001+09:00',
    };
    expect(taskEventSchema.parse(example)).toEqual(example);
  });

  it('are what the AsyncAPI document refers to, and every reference in it leads somewhere', () => {
    const docs = new URL('../../../docs/', import.meta.url);
    const document: unknown = parse(readFileSync(new URL('asyncapi.yaml', docs), 'utf8'));
    const references = JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g);
    const targets = [...new Set([...references].map((match) => match[1] ?? ''))];
    expect(targets.length).toBeGreaterThan(20);
    for (const target of targets) {
      if (!target.startsWith('#/')) {
        expect(existsSync(new URL(target, docs)), target).toBe(true);
        continue;
      }
      let at: unknown = document;
      for (const key of target.slice(2).split('/')) {
        at =
          typeof at === 'object' && at !== null
            ? Object.entries(at).find(([name]) => name === key)?.[1]
            : undefined;
      }
      expect(at, target).toBeDefined();
    }
  });
});

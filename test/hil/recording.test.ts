/** A run recorded while it happens opens as MCAP with Foxglove's schemas, whole, bounded, and without anybody's name in it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { McapIndexedReader } from '@mcap/core';
import { afterAll, describe, expect, it } from 'vitest';
import { CHANNELS } from '../../daemon/recording/channels.js';
import { guessKind } from '../../drivers/serial/replay.js';
import { Home } from '../support/home.js';

const folder = mkdtempSync(join(tmpdir(), 'da-recording-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Schema = {
  type?: string | readonly string[];
  properties?: Record<string, Schema>;
  required?: readonly string[];
  items?: Schema;
};

/** Where a value does not fit its JSON schema (the part of it that these schemas use); null: it fits. */
function misfit(value: unknown, schema: Schema, path = '$'): string | null {
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const allowed = schema.type === undefined ? [] : [schema.type].flat();
  const fits = allowed.some((type) => type === kind || (type === 'integer' && Number.isInteger(value)));
  if (allowed.length > 0 && !fits) return `${path} is ${kind}`;
  if (Array.isArray(value) && schema.items !== undefined) {
    for (const [i, item] of value.entries()) {
      const found = misfit(item, schema.items, `${path}[${i}]`);
      if (found !== null) return found;
    }
  }
  if (kind !== 'object' || schema.properties === undefined) return null;
  const fields = new Map(Object.entries(value as object));
  for (const name of schema.required ?? []) if (!fields.has(name)) return `${path}.${name} is missing`;
  for (const [name, field] of fields) {
    const own = schema.properties[name];
    if (own === undefined) return `${path}.${name} is not in the schema`;
    const found = misfit(field, own, `${path}.${name}`);
    if (found !== null) return found;
  }
  return null;
}

async function indexed(path: string): Promise<McapIndexedReader> {
  const bytes = readFileSync(path);
  return McapIndexedReader.Initialize({
    readable: {
      size: async () => BigInt(bytes.length),
      read: async (offset, size) => bytes.subarray(Number(offset), Number(offset + size)),
    },
  });
}

describe('a recorded run', () => {
  it('holds scan, odometry, transforms, map, path, safety and events, each as its schema says, in files of bounded size', async () => {
    const home = await Home.start({
      seed: 1,
      network: 'simulated',
      editConfig: (config) => ({ ...config, recording: { folder, max_mb: 1, max_files: 3, serial: true } }),
    });
    try {
      await home.end(await home.task('setMoveTo', { positionName: '거실' }));
      await home.inject('bump', 'left');
      await home.run(2000);
    } finally {
      await home.stop();
    }
    // What came in on the lines is there as well, as the drivers can read it again.
    expect(guessKind(readFileSync(join(folder, 'base.bin')))).toBe('create2');
    expect(guessKind(readFileSync(join(folder, 'lidar.bin')))).toBe('ld19');
    const files = readdirSync(folder)
      .filter((file) => file.endsWith('.mcap'))
      .sort();
    expect(files.length).toBeGreaterThan(0);
    expect(files.length).toBeLessThanOrEqual(3);
    const seen = new Map<string, number>();
    for (const file of files) {
      const path = join(folder, file);
      expect(statSync(path).size).toBeLessThan(2 * 2 ** 20);
      expect(statSync(path).mode & 0o077).toBe(0);
      const reader = await indexed(path);
      for await (const { channelId, data } of reader.readMessages()) {
        const channel = reader.channelsById.get(channelId);
        const schema = reader.schemasById.get(channel?.schemaId ?? 0);
        expect(schema?.encoding).toBe('jsonschema');
        const rules = JSON.parse(new TextDecoder().decode(schema?.data)) as Schema;
        const message: unknown = JSON.parse(new TextDecoder().decode(data));
        expect(misfit(message, rules)).toBeNull();
        seen.set(channel?.topic ?? '', (seen.get(channel?.topic ?? '') ?? 0) + 1);
      }
    }
    expect([...seen.keys()].sort()).toEqual(Object.keys(CHANNELS).sort());
    expect(seen.get('/scan')).toBeGreaterThan(20);
    expect(seen.get('/odom')).toBeGreaterThan(50);
    const all = files.map((file) => readFileSync(join(folder, file), 'latin1')).join();
    expect(all).not.toMatch(/거실|da-sim/);
  }, 120_000);
});

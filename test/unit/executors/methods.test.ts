import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../../executors/method.js';
import { methodsMarkdown, methodTable } from '../../support/method-table.js';
import { testRobot } from '../../support/services.js';

const DOCS = fileURLToPath(new URL('../../../docs/methods.md', import.meta.url));

const HIL = fileURLToPath(new URL('../../hil', import.meta.url));

describe('the registered methods', () => {
  const { methods } = testRobot();

  it('are those of the movement, map, cleaning, voice, iot and maintenance executors that are built', () => {
    expect(methods.map((method) => method.name)).toEqual([
      'setMoveTo',
      'pauseMove',
      'resumeMove',
      'stopMove',
      'rotate',
      'manualMove',
      'startFollowMe',
      'stopFollowMe',
      'returnToStation',
      'undock',
      'relocalizeAtStation',
      'startMapping',
      'stopMapping',
      'saveMap',
      'copyMap',
      'resetMap',
      'setAreas',
      'setKeepOut',
      'startCleaning',
      'pauseCleaning',
      'resumeCleaning',
      'stopCleaning',
      'setCleaningMode',
      'setLlmTts',
      'stopTts',
      'syncState',
      'runMotorDiagnostics',
      'calibrateSensors',
    ]);
  });

  it('are each called in a whole home', () => {
    const home = readdirSync(HIL).filter((file) => file.endsWith('.test.ts'));
    const texts = home.map((file) => readFileSync(join(HIL, file), 'utf8')).join();
    const missing = methods.filter(({ name }) => !texts.includes(`'${name}'`));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it('refuse parameters they do not know', () => {
    for (const method of methods) {
      expect(method.params.safeParse({ nothingOfTheKind: 1 }).success, method.name).toBe(false);
    }
  });

  it('name a precondition, a completion target, known resources, and cancel by a registered method', () => {
    for (const method of methods) {
      expect(method.preconditionText, method.name).not.toBe('');
      expect(method.completionTarget, method.name).toMatch(/^[a-z]+\.[A-Za-z_]+$/);
      for (const { resource } of method.resources) expect(RESOURCES).toContain(resource);
      if (method.cancel !== null) {
        expect(methods.map((one) => one.name)).toContain(method.cancel.method);
      }
      if (method.resources.some(({ resource }) => resource === 'motion') && method.cancel === null) {
        expect(method.name).toBe('relocalizeAtStation');
      }
    }
  });

  it('have the time-outs, risks and restart rules of the specification', () => {
    const row = (name: string) => methodTable(methods).find((one) => one.method === name);
    expect(row('setMoveTo')).toMatchObject({ timeout: '300000', idempotent: true, risk: 'low' });
    expect(row('rotate')).toMatchObject({ timeout: '30000', idempotent: false });
    expect(row('returnToStation')).toMatchObject({ timeout: '180000', completion: 'dock.docked' });
    expect(row('startCleaning')?.timeout).toContain('120000');
    expect(row('setLlmTts')).toMatchObject({ idempotent: false, resources: ['speaker'] });
    const clean = methods.find((one) => one.name === 'startCleaning');
    const timeout = (params: unknown) =>
      typeof clean?.timeoutMs === 'function' ? clean.timeoutMs(clean.params.parse(params)) : null;
    expect(timeout({})).toBe(180_000);
    expect(timeout({ untilGrade: 'good' })).toBe(30 * 60_000 + 120_000);
  });

  it('are printed in docs/methods.md as the code has them', () => {
    const markdown = methodsMarkdown(methods);
    if (process.env.UPDATE_DOCS === '1') writeFileSync(DOCS, markdown);
    expect(readFileSync(DOCS, 'utf8')).toBe(markdown);
  });
});

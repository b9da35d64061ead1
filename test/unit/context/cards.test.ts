import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type KnownMethods, loadCards } from '../../../config/cards.js';
import { isRefusal } from '../../../config/contracts/errors.js';
import { OBSERVATION_TYPES } from '../../../config/contracts/wire/events.js';
import { FRAMEWORK_METHODS, loadCatalogue } from '../../../daemon/context/capabilities.js';
import { testRobot } from '../../support/services.js';

const { methods } = testRobot();
const known: KnownMethods = {
  task: new Set(methods.map((method) => method.name)),
  framework: new Set(FRAMEWORK_METHODS),
};
const root = fileURLToPath(new URL('../../../config/', import.meta.url));

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A copy of the bundled cards with one file changed. */
function changed(file: string, change: (text: string) => string): () => unknown {
  const folder = mkdtempSync(join(tmpdir(), 'cards-'));
  folders.push(folder);
  cpSync(join(root, 'capabilities'), join(folder, 'capabilities'), { recursive: true });
  cpSync(join(root, 'binding-manifest.yaml'), join(folder, 'binding-manifest.yaml'));
  const path = join(folder, file);
  writeFileSync(path, change(readFileSync(path, 'utf8')));
  return () => loadCards(known, join(folder, 'capabilities'), join(folder, 'binding-manifest.yaml'));
}

describe('the bundled cards', () => {
  const catalogue = loadCatalogue(methods);

  it('name registered methods, and parameters that those methods have', () => {
    for (const card of catalogue.cards) {
      const [first] = card.runtime.task_methods;
      const method = methods.find((one) => one.name === first);
      expect(method, card.id).toBeDefined();
      if (method === undefined) continue;
      const schema = z.toJSONSchema(method.params, { io: 'input' });
      const names = Object.keys(schema.properties ?? {});
      for (const name of [...card.params.allowed, ...Object.keys(card.params.fixed)]) {
        expect(names, `${card.id}: ${name}`).toContain(name);
      }
      expect(card.completion, card.id).toBe(method.completionTarget);
      expect(card.risk, card.id).toBe(method.risk);
    }
  });

  it('promise only observations of the contract', () => {
    for (const card of catalogue.cards) {
      for (const type of card.observations) expect(OBSERVATION_TYPES).toContain(type);
    }
  });

  it('never let a planner invent coordinates', () => {
    for (const card of catalogue.cards) expect(card.params.allowed).not.toContain('position');
  });

  it('resolve by id and by every cloud id', () => {
    expect(catalogue.resolve('move_to_room', { roomName: '거실' })).toEqual({
      method: 'setMoveTo',
      params: { roomName: '거실' },
    });
    for (const id of ['start_room_cleaning', 'stationary_purify', 'air_cleaning.auto']) {
      expect(catalogue.resolve(id, {}).method).toBe('startCleaning');
    }
    expect(catalogue.resolve('visit_areas', { positionIds: ['1', '2'] }).method).toBe('setMoveTo');
  });

  it('refuse what they do not know by name', () => {
    const reason = (act: () => unknown) => {
      try {
        act();
      } catch (error) {
        if (isRefusal(error)) return [error.reason, error.field];
      }
      return null;
    };
    expect(reason(() => catalogue.resolve('fly', {}))).toEqual(['UNKNOWN_CAPABILITY', 'capability']);
    expect(reason(() => catalogue.resolve('move_to_room', { position: { x: 1 } }))).toEqual([
      'INVALID_PARAMS',
      'params.position',
    ]);
  });
});

describe('cards that do not fit', () => {
  const message = (load: () => unknown): string => {
    try {
      load();
    } catch (error) {
      return String(error);
    }
    return 'loaded';
  };

  it('are refused with file, field and what is allowed', () => {
    expect(
      message(changed('capabilities/speak.yaml', (text) => text.replace('risk: low', 'risk: none'))),
    ).toMatch(/speak\.yaml: risk: found "none"/);
  });

  it('are refused when two share a cloud id', () => {
    const problem = message(
      changed('capabilities/speak.yaml', (text) => text.replace('[tts]', '[tts_stop]')),
    );
    expect(problem).toContain('tts_stop: stands on two cards, speak and stop_speaking');
  });

  it('are refused when their method is not registered, or the manifest says otherwise', () => {
    const problem = message(
      changed('capabilities/speak.yaml', (text) => text.replace('[setLlmTts]', '[sing]')),
    );
    expect(problem).toContain('speak: task method sing is not registered');
    expect(problem).toContain('the binding manifest says otherwise');
    expect(
      message(changed('binding-manifest.yaml', (text) => text.replace('card: speak', 'card: shout'))),
    ).toContain('speak: missing in the binding manifest');
  });
});

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
import { NOT_BUILT_METHODS } from '../../../executors/not-built.js';
import { testRobot } from '../../support/services.js';

const { methods } = testRobot();
const known: KnownMethods = {
  task: new Set(methods.map((method) => method.name)),
  framework: new Set(FRAMEWORK_METHODS),
  notBuilt: NOT_BUILT_METHODS,
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

/** Card → cloud ids and task methods, as the product's table of cards has them. */
const TABLE: Record<string, [cloudIds: string[], methods: string[]]> = {
  move_to_room: [['move_to'], ['setMoveTo']],
  visit_rooms: [['visit_areas'], ['setMoveTo']],
  pause_movement: [['pause_movement'], ['pauseMove']],
  resume_movement: [['resume_movement'], ['resumeMove']],
  stop_movement: [['stop_movement'], ['stopMove']],
  return_to_station: [['return_to_station'], ['returnToStation']],
  follow_me: [['follow_me'], ['startFollowMe']],
  stop_follow_me: [['stop_follow_me'], ['stopFollowMe']],
  start_room_cleaning: [['stationary_purify', 'air_cleaning.auto'], ['startCleaning']],
  purify_rooms: [['room_purify'], ['startRoomCleaning']],
  air_quality_patrol: [['air_patrol'], ['startAirQualityPatrol', 'ampStop']],
  pause_cleaning: [['pause_cleaning'], ['pauseCleaning']],
  resume_cleaning: [['resume_cleaning'], ['resumeCleaning']],
  stop_cleaning: [['stop_cleaning'], ['stopCleaning']],
  check_security: [['security_check'], ['checkSecurityBasicAvailability']],
  security_patrol: [['security_patrol'], ['startSecurityMode']],
  pause_security: [['pause_security'], ['pauseSecurityMode']],
  resume_security: [['resume_security'], ['resumeSecurityMode']],
  stop_security: [['stop_security'], ['stopSecurityMode']],
  speak: [['tts'], ['setLlmTts']],
  stop_speaking: [['tts_stop'], ['stopTts']],
  people_check: [['people_check'], ['scanForPeople']],
  run_interaction: [['interaction'], ['interSchedule']],
  measure_vital_sign: [['vital_sign'], ['setLauncherScreen']],
  start_live_view: [['live_view_start'], ['startLiveView']],
  stop_live_view: [['live_view_stop'], ['stopLiveView']],
};

describe('the bundled cards', () => {
  const catalogue = loadCatalogue(methods);

  it('are the whole set, each with its cloud ids and task methods', () => {
    const found = catalogue.cards.map((card) => [
      card.id,
      [card.cloud_runtime_ids, card.runtime.task_methods],
    ]);
    expect(Object.fromEntries(found)).toEqual(TABLE);
    expect(catalogue.cards).toHaveLength(26);
    for (const { id, runtime, utterances, risk } of catalogue.cards) {
      expect(runtime.framework_methods, id).toEqual(FRAMEWORK_METHODS);
      expect(utterances.ko.length, id).toBeGreaterThanOrEqual(3);
      expect(utterances.en.length, id).toBeGreaterThanOrEqual(3);
      expect(risk, id).toBe(id === 'start_live_view' ? 'high' : 'low');
    }
  });

  it('stand in docs/capabilities.md as they are', () => {
    const docs = readFileSync(join(root, '../docs/capabilities.md'), 'utf8');
    const table = docs.split('<!-- cards -->')[1]?.split('<!-- end -->')[0] ?? '';
    const rows = table.split('\n').filter((line) => line.startsWith('| `'));
    const code = (names: string[]) => names.map((name) => `\`${name}\``).join(', ');
    const expected = catalogue.cards.map(({ id, cloud_runtime_ids, runtime }) => {
      const built = known.task.has(runtime.task_methods[0]);
      return [`\`${id}\``, code(cloud_runtime_ids), code(runtime.task_methods), built];
    });
    const found = rows.map((row) => {
      const [, id, cloud, tasks, when] = row.split('|').map((cell) => cell.trim());
      return [id, cloud, tasks, when !== 'not built'];
    });
    expect(found.sort()).toEqual(expected.sort());
  });

  it('speak Korean where they say so', () => {
    for (const card of catalogue.cards) {
      const { title, meaning, when_to_use, utterances } = card;
      for (const text of [title.ko, meaning.ko, when_to_use.ko, ...utterances.ko]) {
        expect(text, card.id).toMatch(/[가-힣]/);
      }
      for (const text of [title.en, meaning.en, when_to_use.en, ...utterances.en]) {
        expect(text, card.id).not.toMatch(/[가-힣]/);
      }
    }
  });

  it('name registered methods with parameters that those have, or methods listed as not built', () => {
    for (const card of catalogue.cards) {
      const [first] = card.runtime.task_methods;
      const method = methods.find((one) => one.name === first);
      if (method === undefined) {
        expect(NOT_BUILT_METHODS, card.id).toContain(first);
        continue;
      }
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

  it('stand for methods that are not built, too: whoever asks is told by the method itself', () => {
    expect(catalogue.resolve('run_interaction', { anything: 1 })).toEqual({
      method: 'interSchedule',
      params: { anything: 1 },
    });
  });

  it('leave reservations to the framework, and say how to ask for one', () => {
    expect(() => catalogue.resolve('SCH', {})).toThrow(
      /"SCH"; that is no card but scheduleTask or scheduleWorkflow: send .* schedule_task or schedule_workflow/,
    );
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
    expect(
      message(changed('capabilities/speak.yaml', (text) => text.replace('[tts]', '[tts, SCH]'))),
    ).toContain('SCH: stands on two cards, the framework and speak');
  });

  it('are refused when a framework method does not exist', () => {
    expect(
      message(changed('binding-manifest.yaml', (text) => text.replace('[scheduleTask,', '[dream,'))),
    ).toContain('SCH: framework method dream does not exist');
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

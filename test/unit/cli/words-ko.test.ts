/** What a person types at a terminal in Korean is answered in Korean. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ALLOWED } from '../../../daemon/api/console/robot-words-ko.js';
import { PROFILE_WORDS, said } from '../../../daemon/cli/words-ko.js';
import { createFaults } from '../../../simulator/faults/faults.js';
import { createWorld } from '../../../simulator/world/index.js';
import { rigOf } from '../simulator/homes.js';

const source = (...files: string[]) =>
  files.map((file) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')).join('\n');

describe('the Korean of the terminal', () => {
  it('translates only what is said of a profile', () => {
    const text = source('config/load.ts', 'config/schema.ts', 'config/api-tokens.ts');
    const unsaid = PROFILE_WORDS.filter((pair) => !ALLOWED.includes(pair)).flatMap(([english]) =>
      english.split(/\{\w+!?\}/).filter((piece) => {
        const words = piece.replace(/^[:;,.?() ]+|[:;,.?() ]+$/g, '').replace('api.tokens_file', '');
        return words.length > 4 && !text.includes(words);
      }),
    );
    expect(unsaid).toEqual([]);
  });

  it('is there for everything that can be injected, and for what is wrong with it', async () => {
    const { world, devices } = rigOf(createWorld());
    const faults = createFaults(world, devices);
    const commands = [
      'nonsense',
      'person',
      'person 차고',
      'person 거실',
      'remove-person',
      'remove-person',
      'dirty-air 안방 80',
      'dirty-air 안방 9000',
      'dark 안방',
      'dark 안방 off',
      'obstacle 4 3',
      'obstacle 4',
      'obstacle clear',
      'obstacle clear',
      'battery 50',
      'battery 300',
      'block-wheels on',
      'block-wheels off',
      'block-wheels maybe',
      'block-lidar 90',
      'block-lidar 0',
      'bump left',
      'bump right',
      'cliff',
      'estop',
      'unplug air',
      'unplug air',
      'plug air',
      'plug air',
      'unplug foo',
      'noise base 0.1',
    ];
    for (const command of commands) {
      let answer: string;
      try {
        answer = await faults.apply(command.split(' '));
      } catch (error) {
        answer = error instanceof Error ? error.message : '';
      }
      const korean = said('ko', 'simulator', answer);
      expect(korean.replaceAll(/거실|안방|차고|현관|주방|작은방/g, ''), `${command}: ${answer}`).toMatch(
        /[가-힣]/,
      );
      expect(said('en', 'simulator', answer)).toBe(answer);
    }
  });
});

/** What the robot says to a person in the home can be read in Korean, and says the same. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeZodError, isRefusal } from '../../../config/contracts/errors.js';
import { REASON_CODES } from '../../../config/contracts/reason-codes.js';
import { ALLOWED, inKorean, ROBOT_WORDS } from '../../../daemon/api/console/robot-words-ko.js';
import { createMethods } from '../../../executors/registry.js';
import { testRobot } from '../../support/services.js';

const ROOT = new URL('../../../', import.meta.url).pathname;

function sourcesIn(folder: string): string {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');
}

describe('every reason code', () => {
  it.each(['ko', 'en'])('has a sentence in %s', (language) => {
    const strings = readFileSync(join(ROOT, `daemon/api/console/strings-${language}.js`), 'utf8');
    expect(REASON_CODES.filter((code) => !strings.includes(`  r_${code}: '`))).toEqual([]);
  });
});

describe('the Korean of the robot’s words', () => {
  it('translates only what the robot says', () => {
    const source = ['executors', 'state-machines', 'drivers', 'daemon', 'config'].map(sourcesIn).join('\n');
    const unsaid = ROBOT_WORDS.filter((pair) => !ALLOWED.includes(pair)).flatMap(([english]) =>
      // " at (" and " after " join sentences that the code puts together from two.
      english.split(/\{\w+!?\}| at (?=\()| after /).filter((piece) => {
        const words = piece.trim().replace(/^[:;,.?() ]+|[:;,.?() ]+$/g, '');
        return words.length > 3 && !source.includes(words);
      }),
    );
    expect(unsaid).toEqual([]);
  });

  it('keeps every fact of a sentence, and no other', () => {
    for (const [english, korean] of ROBOT_WORDS) {
      const places = (text: string) => new Set(text.match(/\{\w+!?\}/g));
      for (const place of places(korean)) expect(places(english), korean).toContain(place);
    }
  });

  it('is there for every refusal of a robot at rest, on or off its station', () => {
    for (const docked of [true, false]) {
      const robot = testRobot(docked ? {} : { pose: { x: 1, y: 1, theta: 0 } });
      for (const cleaning of [robot.services.cleaning, null]) {
        for (const method of createMethods({ ...robot.services, cleaning, speaker: null })) {
          for (const message of refusalsOf(() => method.available?.(robot.clock.now()))) {
            expect(inKorean(message), `${method.name}: ${message}`).toMatch(/[가-힣]/);
          }
        }
      }
    }
  });

  it('names what the sentence names, and speaks of causes in Korean, too', () => {
    expect(inKorean('params.positionName: no room "차고"; the rooms are "현관" (id "1")')).toBe(
      '"차고": 그런 방이 없어요. 있는 방: "현관" (id "1")',
    );
    expect(inKorean('the battery is at 12 %, below the reserve of 15 %')).toContain('12%');
    expect(
      inKorean('the way is blocked at (4.20, 3.10): the robot touched something; 3 attempts to get past it'),
    ).toBe('길이 막혔어요 (4.20, 3.10): 로봇이 무언가에 닿았어요. 3번 지나가 보려 했어요');
  });

  it('of a workflow name the step, and say in Korean what ended it', () => {
    expect(inKorean('step s4: “작은방으로 이동” took its place')).toBe(
      's4 단계: “작은방으로 이동”에 자리를 내주었어요',
    );
  });

  it('list everything that is wrong with an amendment', () => {
    const problems = [
      'add.b: a step has this id; use replace, or another id',
      'steps.d.depends_on: the steps depend on each other: d → e → d',
      'remove.y: there is no such step',
    ];
    expect(inKorean(`3 problems: ${problems.join('; ')}`)).toMatch(
      /^잘못된 곳이 3군데예요: add\.b: .*steps\.d\.depends_on: 단계가 서로를.*remove\.y: 그런 단계가 없어요$/,
    );
    expect(inKorean('step go: the way is blocked at (1, 2) (OBSTRUCTED); no cloud_replans are left')).toMatch(
      /^go 단계: .*다시 계획할 수 있는 횟수를 다 썼어요$/,
    );
  });

  it.each([
    [z.string(), 3, '글자여야'],
    [z.number(), 'a', '숫자여야'],
    [z.int(), 1.5, '정수여야'],
    [z.boolean(), 1, 'true나 false여야'],
    [z.array(z.string()), 1, '목록이어야'],
    [z.object({}), 1, '묶음이어야'],
    [z.enum(['on', 'off']), 'x', '다음 가운데 하나여야 해요: "on", "off"'],
    [z.number().max(5), 7, '5 이하여야'],
    [z.number().min(5), 3, '5 이상이어야'],
    [z.number().gt(5), 3, '5보다 커야'],
    [z.number().lt(5), 7, '5보다 작아야'],
    [z.string().max(1), 'ab', '1글자 이하여야'],
    [z.array(z.string()).min(1), [], '1개 이상이어야'],
    [z.number().multipleOf(5), 3, '5의 배수여야'],
    [z.literal(1), 2, '이것이어야 해요: 1'],
  ])('says what a value has to be (%#)', (schema, value, expected) => {
    const parsed = z.object({ x: schema }).safeParse({ x: value });
    if (parsed.success) throw new Error('accepted');
    const { message } = describeZodError(parsed.error, { x: value });
    expect(inKorean(message)).toContain(expected);
    expect(inKorean(message)).toMatch(/^x: /);
  });

  it('leaves what it does not know as it is', () => {
    expect(inKorean('something new')).toBe('something new');
  });
});

function refusalsOf(attempt: () => void): string[] {
  try {
    attempt();
    return [];
  } catch (error) {
    if (isRefusal(error)) return [error.message];
    throw error;
  }
}

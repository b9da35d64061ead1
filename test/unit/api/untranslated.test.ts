/**
 * Every refusal that the code can give has a Korean sentence, or stands in the list below with those that had none when
 * the list was made. A new one without Korean fails, and so does one of the list that has got its sentence or is gone.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inKorean } from '../../../daemon/api/console/robot-words-ko.js';

const ROOT = new URL('../../../', import.meta.url).pathname;

/** What is said to machines on the wire, or is put together from sentences that have their own Korean. `…` is a value. */
const LISTED = [
  'capability: found …; …',
  'invalid workflow',
  'params.…',
  'the fan did not … within … ms; …',
  'the robot is …',
  '….…',
  '…: found …',
  '…: found …; allowed: …',
  '…: found …; …',
  '…: there is no … …',
  '…: …',
  '…: … …',
  '…: … … …',
  '…; exactly one of method and capability is allowed',
  '…; there is nothing to pause',
  '…; …',
];

const CALL =
  /new (?:Refusal|TaskFailure)\(\s*(?:'[A-Z_]+'|[^,'`]+?),\s*('(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)/g;

function refusals(): string[] {
  return ['executors', 'state-machines', 'drivers', 'daemon', 'config'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .flatMap((entry) => [...readFileSync(join(entry.parentPath, entry.name), 'utf8').matchAll(CALL)])
      .map(([, literal = '']) =>
        literal
          .slice(1, -1)
          .replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '…')
          .replace(/\\'/g, "'"),
      ),
  );
}

it('a refusal without a Korean sentence is one of those that are listed, and only those are', () => {
  const found = new Set(refusals().filter((text) => !/[가-힣]/.test(inKorean(text))));
  expect([...found].sort()).toEqual([...LISTED].sort());
});

it('refusals are found at all', () => {
  expect(refusals()).toContain('there is no map to reset');
  expect(refusals().length).toBeGreaterThan(100);
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FAILSAFE_TABLE } from '../../../drivers/rt/safety/failsafe-table.js';

describe('docs/safety.md', () => {
  const text = readFileSync(new URL('../../../docs/safety.md', import.meta.url), 'utf8');
  const rows = text.split('\n').filter((line) => /^\| `[a-z_]+` +\| `(OK|SETTLE|CUT)`/.test(line));

  it('shows the failsafe table as it is in the code', () => {
    const shown = rows.map((row) =>
      row
        .split('|')
        .map((cell) => cell.trim().replaceAll('`', ''))
        .slice(1, 4),
    );
    expect(shown).toEqual(FAILSAFE_TABLE.map((row) => [row.condition, row.moving, row.still]));
  });

  it('states the speeds that a condition leaves', () => {
    for (const row of FAILSAFE_TABLE.filter((r) => r.still === 'OK')) {
      const shown = rows.find((line) => line.includes(`\`${row.condition}\``)) ?? '';
      for (const limit of Object.values(row.allows)) {
        if (limit !== null && limit > 0) expect(shown).toContain(String(limit));
      }
    }
  });

  describe('names for every hazard the test that holds it', () => {
    const hazards = text
      .slice(text.indexOf('\n## Hazards'), text.indexOf('\n## E-stop'))
      .split('\n')
      .filter((line) => line.startsWith('| ') && !/^\| (hazard|---)/.test(line))
      .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim()));

    it('with a row for each condition, and the level that stops a moving robot', () => {
      const rows = hazards.filter(([, condition]) => condition?.startsWith('`'));
      expect(rows.map(([, condition, reaction]) => [condition, reaction?.split('`')[1]])).toEqual(
        FAILSAFE_TABLE.map((row) => [`\`${row.condition}\``, row.moving]),
      );
    });

    it.each(hazards.map(([hazard, , , , held]) => [hazard, held]))('%s', (_, held) => {
      const [, file, title] = /^`([^`]+)`: (.+)$/.exec(held ?? '') ?? [];
      const source = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
      expect(source).toContain(title);
    });
  });
});

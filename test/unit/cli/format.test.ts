import { describe, expect, it } from 'vitest';
import { eventLine } from '../../../daemon/cli/commands/wait.js';
import { clockTime, facts } from '../../../daemon/cli/format.js';
import { labelled } from '../../../daemon/cli/simulation/story.js';
import { createTerminal } from '../../../daemon/cli/simulation/terminal.js';

const AT = 1_790_000_000_000;

describe('lines for people', () => {
  it('show points in time as times of day', () => {
    expect(facts({ observed_at_ms: AT, idle: true })).toBe(`observed_at ${clockTime(AT)}, idle true`);
    expect(facts({ duration_ms: 400 })).toBe('duration_ms 400');
  });

  it('begin with when something was observed, or happened', () => {
    const arrived = { type: 'movement.arrived', observed_at_ms: AT, attributes: {} };
    expect(eventLine(arrived, 'en')).toBe(`${clockTime(AT)}  movement.arrived`);
    const started = { event: 'STARTED', method: 'undock', occurred_at: new Date(AT).toISOString() };
    expect(eventLine(started, 'en')).toBe(`${clockTime(AT)}  STARTED  undock`);
  });

  it('are cut to a terminal, also where it does not know its width', () => {
    for (const columns of [undefined, 0]) {
      const written: string[] = [];
      const out = { isTTY: true, columns, write: (text: string) => written.push(text) };
      createTerminal(out as unknown as NodeJS.WriteStream, false).live('s2  navigation.driving');
      expect(written.join('')).toBe('s2  navigation.driving');
    }
  });

  it('stand under each other, in Korean too', () => {
    expect(labelled('broker', 'x')).toBe(`broker${' '.repeat(11)}x`);
    expect(labelled('브로커', 'x')).toBe(`브로커${' '.repeat(11)}x`);
  });
});

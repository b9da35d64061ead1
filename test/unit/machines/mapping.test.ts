/** The mapping machine: from a map that begins to one that is saved or given up, whatever happens in between. */
import { describe, expect, it } from 'vitest';
import type { MappingState } from '../../../config/contracts/mapping.js';
import type { WithoutTime } from '../../../state-machines/machine-host.js';
import { createMappingMachine } from '../../../state-machines/mapping/machine.js';
import type { MappingEffect, MappingEvent } from '../../../state-machines/mapping/types.js';
import { stateName } from '../../../state-machines/pure.js';
import { DEFAULT_MACHINE_SETTINGS } from '../../../state-machines/settings.js';

const GROWS: MappingState = {
  since: 0,
  phase: 'mapping',
  scans: 5,
  freeArea: 10,
  width: 4,
  height: 4,
  station: { x: 0, y: 0, theta: 0 },
  full: false,
};
const DOCKED = { type: 'MAPPING', mapping: GROWS, pose: { x: 0, y: 0, theta: 0 }, docked: true } as const;
const GONE = { type: 'MAPPING', mapping: null, pose: null, docked: null } as const;
const FRONTIER = {
  type: 'FRONTIER',
  result: { next: { pose: { x: 3, y: 1, theta: 0 }, width: 1, way: 3 }, count: 2, currentStands: null },
} as const;
const NONE_LEFT = { type: 'FRONTIER', result: { next: null, count: 0, currentStands: null } } as const;
const ARRIVED = { type: 'LEG_ENDED', problem: null } as const;
const STOOD = { type: 'STOP_PROVEN', observedAtMs: 9, stoppedForMs: 400 } as const;
const failed = (reason: 'OBSTRUCTED' | 'LOW_BATTERY' | 'LOCALIZATION_LOST') =>
  ({ type: 'LEG_ENDED', problem: { reason, message: 'so it is', at: 7 } }) as const;

function run(...events: WithoutTime<MappingEvent>[]) {
  return runAt(100, ...events);
}

/** `last`: robot time of the last event, ms; the others come at 100. */
function runAt(last: number, ...events: WithoutTime<MappingEvent>[]) {
  const machine = createMappingMachine(DEFAULT_MACHINE_SETTINGS);
  let state = machine.initial();
  let effects: MappingEffect[] = [];
  for (const [i, event] of events.entries()) {
    const at = i === events.length - 1 ? last : 100;
    const next = machine.next(state, { ...event, at } as MappingEvent);
    state = next.state;
    effects = next.effects;
  }
  const did = effects.map((effect) => effect.kind);
  const finish = effects.find((effect) => effect.kind === 'finish');
  return {
    stage: stateName(state.value),
    context: state.context,
    did,
    outcome: finish?.outcome ?? null,
    effects,
  };
}

const READY = [{ type: 'BEGIN', mode: 'explore' }, DOCKED] as const;
const EXPLORING = [...READY, { type: 'EXPLORE' }, DOCKED, ARRIVED] as const;

describe('a map that begins', () => {
  it('has begun once scans go into it, and not before', () => {
    const early = { ...DOCKED, mapping: { ...GROWS, scans: 0 } };
    expect(run({ type: 'BEGIN', mode: 'manual' }, early).stage).toBe('starting');
    expect(run(...READY)).toMatchObject({ stage: 'ready', outcome: { kind: 'begun', observedAtMs: 100 } });
  });

  it('that the motion process does not begin is given up, with the reason', () => {
    const late = run({ type: 'BEGIN', mode: 'manual' }, { type: 'TIMER', name: 'start' });
    expect(late).toMatchObject({
      stage: 'discarding',
      outcome: { kind: 'failed', reason: 'HARDWARE_FAULT' },
    });
    const problem = { reason: 'CAPABILITY_UNAVAILABLE', message: 'no', at: 1 } as const;
    expect(run({ type: 'BEGIN', mode: 'manual' }, { type: 'REFUSED', problem })).toMatchObject({
      stage: 'idle',
      outcome: { kind: 'failed', reason: 'CAPABILITY_UNAVAILABLE' },
    });
  });
});

describe('an exploration', () => {
  it('is not over because a map that has just begun shows no way on yet: it looks again', () => {
    const early = run(...EXPLORING, NONE_LEFT);
    expect(early).toMatchObject({ stage: 'exploring.choosing', outcome: null });
    expect(run(...EXPLORING, NONE_LEFT, { type: 'TIMER', name: 'look' }).did).toContain('ask');
    expect(runAt(7000, ...EXPLORING, NONE_LEFT).stage).toBe('exploring.returning');
  });

  it('leaves the station, drives from frontier to frontier, and docks when none is left', () => {
    expect(run(...READY, { type: 'EXPLORE' }, DOCKED).did).toContain('leave');
    expect(run(...EXPLORING)).toMatchObject({ stage: 'exploring.choosing', did: ['ask'] });
    const driving = run(...EXPLORING, FRONTIER);
    expect(driving).toMatchObject({ stage: 'exploring.driving' });
    expect(driving.did).toContain('travel');
    const home = run(...EXPLORING, FRONTIER, ARRIVED, NONE_LEFT);
    expect(home.did).toContain('dock');
    expect(run(...EXPLORING, FRONTIER, ARRIVED, NONE_LEFT, ARRIVED)).toMatchObject({
      stage: 'ready',
      outcome: { kind: 'explored', visited: 1, unreachable: 0, left: 0, returned: 'station' },
    });
  });

  it('does not drive again to what it could not reach', () => {
    const again = run(...EXPLORING, FRONTIER, failed('OBSTRUCTED'));
    expect(again).toMatchObject({
      stage: 'exploring.choosing',
      context: { unreachable: 1, avoid: [{ x: 3, y: 1 }] },
    });
  });

  it('breaks a way off whose end is known by now', () => {
    const known = { ...NONE_LEFT, result: { ...NONE_LEFT.result, currentStands: false } };
    expect(run(...EXPLORING, FRONTIER, known)).toMatchObject({
      stage: 'exploring.breakingOff',
      did: ['cancelTimer', 'endLeg'],
    });
    expect(run(...EXPLORING, FRONTIER, known, ARRIVED)).toMatchObject({
      stage: 'exploring.choosing',
      context: { visited: 1, avoid: [] },
    });
  });

  it('stopped, tells so only when the wheels are proven to stand, and keeps the map', () => {
    expect(run(...EXPLORING, FRONTIER, { type: 'STOP' })).toMatchObject({ stage: 'halting', outcome: null });
    expect(run(...EXPLORING, FRONTIER, { type: 'STOP' }, STOOD)).toMatchObject({
      stage: 'ready',
      outcome: { kind: 'stopped', observedAtMs: 9, stoppedForMs: 400 },
    });
  });

  it('that loses its place ends with that reason, and keeps the map', () => {
    expect(run(...EXPLORING, FRONTIER, failed('LOCALIZATION_LOST'), STOOD)).toMatchObject({
      stage: 'ready',
      outcome: { kind: 'failed', reason: 'LOCALIZATION_LOST' },
    });
  });

  it('goes home while the battery lasts, and tells there that it was not finished', () => {
    const low = [...EXPLORING, FRONTIER, failed('LOW_BATTERY')] as const;
    expect(run(...low).did).toContain('dock');
    expect(run(...low, ARRIVED)).toMatchObject({
      stage: 'ready',
      outcome: { kind: 'failed', reason: 'LOW_BATTERY' },
    });
  });

  it('goes home when its time is over, and says what is left', () => {
    const overdue = run(
      ...EXPLORING,
      FRONTIER,
      { type: 'TIMER', name: 'explore' },
      ARRIVED,
      FRONTIER,
      ARRIVED,
    );
    expect(overdue).toMatchObject({ stage: 'ready', outcome: { kind: 'explored', left: 2 } });
  });

  it('ends with the motion process that had the map', () => {
    expect(run(...EXPLORING, FRONTIER, GONE, STOOD)).toMatchObject({
      outcome: { kind: 'failed', reason: 'HARDWARE_FAULT' },
    });
    expect(run(...EXPLORING, FRONTIER, GONE, STOOD, GONE).stage).toBe('idle');
  });
});

describe('a map that is there', () => {
  it('is saved or given up, goes on when it could not be saved, and is put aside after two hours', () => {
    const problem = { reason: 'CAPABILITY_UNAVAILABLE', message: 'disk full', at: 1 } as const;
    expect(run(...READY, { type: 'SAVE' }).did).toContain('save');
    expect(run(...READY, { type: 'SAVE' }, { type: 'DONE' }).stage).toBe('idle');
    expect(run(...READY, { type: 'SAVE' }, { type: 'REFUSED', problem }).stage).toBe('ready');
    expect(run(...READY, { type: 'DISCARD' }, { type: 'DONE' }).stage).toBe('idle');
    expect(run(...READY, { type: 'TIMER', name: 'session' }).did).toContain('shelve');
    expect(run(...READY, GONE).stage).toBe('idle');
  });
});

/** How far a workflow is, as a person at a terminal reads it. */
import { describe, expect, it } from 'vitest';
import { progressLine, progressOfEvent, waitingText } from '../../../daemon/cli/progress.js';
import type { WorkflowView } from '../../../daemon/views.js';

const step = (step_id: string, state: string, more: object = {}) =>
  ({
    step_id,
    method: 'setMoveTo',
    state,
    hold: null,
    waiting_for: null,
    ...more,
  }) as WorkflowView['steps'][number];

const workflow = {
  state: 'RUNNING',
  steps: [
    step('hall', 'COMPLETED'),
    step('air', 'SKIPPED'),
    step('room', 'RUNNING'),
    step('tell', 'WAITING', { hold: 'delay', waiting_for: '60000 ms after the end of hall' }),
    step('home', 'PENDING'),
  ],
} as const;

describe('how far a workflow is', () => {
  it.each([
    [
      'en' as const,
      '2 of 5 steps done · now: room (setMoveTo) · waiting: tell (1 min after the end of hall)',
    ],
    [
      'ko' as const,
      '5단계 가운데 2단계 끝남 · 지금: room (setMoveTo) · 기다림: tell (hall 단계가 끝나고 1 min 뒤)',
    ],
  ])('is one line (%s)', (language, line) => {
    expect(progressLine(language, { ...workflow, steps: [...workflow.steps] })).toBe(line);
  });

  it('says the same of a PROGRESS event, and nothing of one that is a task’s', () => {
    const progress = {
      state: 'CANCELLING',
      steps_done: 2,
      steps_total: 3,
      running: [],
      waiting: [],
      taking_back: ['hall'],
    };
    expect(progressOfEvent('en', progress)).toBe('2 of 3 steps done · taking back hall');
    expect(progressOfEvent('ko', progress)).toBe('3단계 가운데 2단계 끝남 · 되돌리는 중 hall');
    expect(progressOfEvent('en', { percent: 40 })).toBeNull();
  });

  it('says what a condition waits for, and why it is not there', () => {
    const waiting_for = 'context.x <= 15 (stale: air_quality (error))';
    const said = (language: 'ko' | 'en') => waitingText(language, { hold: 'condition', waiting_for });
    expect(said('en')).toBe('until context.x <= 15; now stale: air_quality (error)');
    expect(said('ko')).toBe('context.x <= 15이(가) 될 때까지. 지금은 air_quality (error) 값이 오래됐어요');
  });

  it('says how long an amendment is waited for', () => {
    const waiting_for = 'an amendment within 300000 ms (cloud_replans left: 2), after OBSTRUCTED: a chair';
    expect(waitingText('en', { hold: 'amendment', waiting_for })).toContain('an amendment within 5 min');
    expect(waitingText('ko', { hold: 'amendment', waiting_for })).toContain('고친 계획을 5 min까지 기다려요');
  });
});

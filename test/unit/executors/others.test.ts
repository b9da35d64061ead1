import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRefusal } from '../../../config/contracts/errors.js';
import { StoppedWithProof } from '../../../config/contracts/stopped.js';
import { speechDurationMs } from '../../../drivers/audio/speech-duration.js';
import { cleaningSummary } from '../../../executors/cleaning/summary.js';
import { createMethods } from '../../../executors/registry.js';
import type { CleaningResult } from '../../../state-machines/cleaning-types.js';
import { testRobot } from '../../support/services.js';

function reasonOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return isRefusal(error) ? error.reason : 'INVALID_PARAMS';
  }
  throw new Error('was not refused');
}

describe('startCleaning', () => {
  it('ends with the air before and after, how long it ran, and a summary without numbers', async () => {
    const robot = testRobot({ pose: { x: 10, y: 0, theta: 0 } });
    const run = robot.start('startCleaning', { untilGrade: 'good' });
    await robot.clock.advanceAsync(70_000);
    robot.air.pm2_5 = 8;
    await robot.clock.advanceAsync(15_000);
    expect(run.result).toMatchObject({
      evidence: { completion_target: 'cleaning.stopped', rpm: 0, grade_reached: true, area_id: '3' },
      output: {
        before: { grade: 'bad', pm2_5: 50, usable: true },
        after: { grade: 'good', pm2_5: 8 },
        grade_reached: true,
        summary: '안방에서 공기를 1분 동안 청정했어요. 공기가 나쁨에서 좋음 상태로 바뀌었어요.',
        summary_en: 'I purified the air in 안방 for 1 minute. The air went from bad to good.',
      },
    });
  });

  it('refuses a dwell longer than its longest time, a dwell of text, and a moving robot', async () => {
    const robot = testRobot();
    expect(
      reasonOf(() =>
        robot.start('startCleaning', { cleanMinTimeMs: 60_000, maxTimeMs: 1000, untilGrade: 'good' }),
      ),
    ).toBe('INVALID_PARAMS');
    expect(reasonOf(() => robot.start('startCleaning', { cleanMinTimeMs: '60000' }))).toBe('INVALID_PARAMS');
    robot.start('setMoveTo', { areaId: '2' });
    await robot.clock.advanceAsync(1000);
    expect(reasonOf(() => robot.start('startCleaning', {}))).toBe('STATE_CONDITION_FAILED');
  });

  it('without a fan says what to plug in', () => {
    const robot = testRobot();
    const methods = createMethods({ ...robot.services, cleaning: null });
    const clean = methods.find((method) => method.name === 'startCleaning');
    expect(reasonOf(() => clean?.precondition?.({ params: {}, nowMs: 0 }))).toBe('CAPABILITY_UNAVAILABLE');
  });

  it('offers a pause only while it runs, and a resumption only while it is paused', async () => {
    const robot = testRobot();
    const methods = createMethods(robot.services);
    const offered = () =>
      ['pauseCleaning', 'resumeCleaning'].filter((name) => {
        try {
          methods.find((method) => method.name === name)?.available?.(robot.clock.now());
          return true;
        } catch (error) {
          expect(error).toMatchObject({ reason: 'STATE_CONDITION_FAILED' });
          return false;
        }
      });
    expect(offered()).toEqual([]);
    robot.start('startCleaning', {});
    await robot.clock.advanceAsync(10_000);
    expect(offered()).toEqual(['pauseCleaning']);
    robot.start('pauseCleaning');
    await robot.clock.advanceAsync(10_000);
    expect(offered()).toEqual(['resumeCleaning']);
  });

  it('cancelled ends with proof at rpm 0; its controls prove theirs', async () => {
    const robot = testRobot();
    const run = robot.start('startCleaning', {});
    await robot.clock.advanceAsync(10_000);
    const pause = robot.start('pauseCleaning');
    await robot.clock.advanceAsync(10_000);
    expect(pause.result).toMatchObject({ evidence: { completion_target: 'cleaning.paused', rpm: 0 } });
    const resume = robot.start('resumeCleaning');
    await robot.clock.advanceAsync(10_000);
    expect(resume.result).toMatchObject({ output: { running: true, already: false } });
    const mode = robot.start('setCleaningMode', { mode: 'turbo' });
    await robot.clock.advanceAsync(10_000);
    expect(mode.result).toMatchObject({ output: { percent: 100, rpm: 2400 } });
    run.signal.abort();
    await robot.clock.advanceAsync(10_000);
    expect(run.error).toBeInstanceOf(StoppedWithProof);
    const stop = robot.start('stopCleaning');
    await robot.clock.advanceAsync(3000);
    expect(stop.result).toMatchObject({ output: { stopped: true, already: true } });
  });
});

describe('a cleaning summary', () => {
  const sample = (grade: 'good' | 'bad' | null) => ({
    observedAtMs: 1,
    freshnessMs: 1,
    usable: grade !== null,
    grade,
    pm2_5: 44,
    pm10: null,
    co2: null,
  });
  const result = (before: 'good' | 'bad' | null, after: 'good' | 'bad' | null): CleaningResult => ({
    before: sample(before),
    after: sample(after),
    durationMs: 30_000,
    gradeReached: null,
    rpm: 0,
    observedAtMs: 1,
    peakRpm: 1,
  });

  it('advises more when the air is still bad', () => {
    const { ko, en } = cleaningSummary(result('bad', 'bad'), null);
    expect(ko).toContain('30분 정도 더');
    expect(en).toContain('half hour');
  });

  it('says what it does not know, and never a measured number', () => {
    const { ko, en } = cleaningSummary(result('bad', null), '거실');
    expect(ko).toContain('확인하지 못했어요');
    expect(en).toContain('could not check');
    expect(ko + en).not.toContain('44');
  });
});

describe('setLlmTts', () => {
  it('is done when the last sound would be out, and says that nothing was heard', async () => {
    const robot = testRobot();
    const text = '거실부터 갈게요.';
    const run = robot.start('setLlmTts', { text });
    const duration = speechDurationMs(text);
    await robot.clock.advanceAsync(duration - 10);
    expect(run.done).toBe(false);
    await robot.clock.advanceAsync(20);
    expect(run.result).toMatchObject({
      evidence: { completion_target: 'tts.playbackCompleted', simulated: true, engine: null },
      output: { duration_ms: duration },
    });
    expect(robot.speaker.said).toMatchObject([{ utterance: { text, language: 'ko' } }]);
  });

  it('cancelled, or silenced by stopTts, ends with proof', async () => {
    for (const how of ['abort', 'stopTts'] as const) {
      const robot = testRobot();
      const run = robot.start('setLlmTts', { text: '아주 긴 문장을 말하고 있어요. 아직도 말해요.' });
      await robot.clock.advanceAsync(500);
      const stop = how === 'abort' ? null : robot.start('stopTts');
      if (how === 'abort') run.signal.abort();
      await robot.clock.advanceAsync(100);
      expect(run.error).toBeInstanceOf(StoppedWithProof);
      if (stop !== null) expect(stop.result).toMatchObject({ output: { was_playing: true } });
      expect(robot.speaker.speaking).toBe(false);
    }
  });

  it('refuses silence, and a robot without a speaker says so', () => {
    const robot = testRobot();
    expect(reasonOf(() => robot.start('setLlmTts', { text: '   ' }))).toBe('INVALID_PARAMS');
    const methods = createMethods({ ...robot.services, speaker: null });
    const speak = methods.find((method) => method.name === 'setLlmTts');
    const params = { text: '안녕', interrupt: false };
    expect(reasonOf(() => speak?.precondition?.({ params, nowMs: 0 }))).toBe('CAPABILITY_UNAVAILABLE');
  });

  it('takes longer for longer texts, and never no time', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.string({ maxLength: 50 }), (a, b) => {
        const whole = speechDurationMs(`${a} ${b}`);
        return whole >= 400 && Number.isFinite(whole) && whole + 1 >= speechDurationMs(a);
      }),
    );
  });
});

describe('syncState', () => {
  it('is done on the acknowledgement, and refused without a cloud', async () => {
    const robot = testRobot();
    const run = robot.start('syncState');
    await robot.clock.advanceAsync(100);
    expect(run.result).toMatchObject({ evidence: { completion_target: 'mqtt.puback', bytes: 100 } });
    const methods = createMethods({
      ...robot.services,
      context: { ...robot.services.context, unavailable: () => 'no cloud is configured' },
    });
    const sync = methods.find((method) => method.name === 'syncState');
    expect(reasonOf(() => sync?.precondition?.({ params: {}, nowMs: 0 }))).toBe('CAPABILITY_UNAVAILABLE');
  });
});

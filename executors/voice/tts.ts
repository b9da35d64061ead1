/** `setLlmTts` and `stopTts`: saying a sentence, and being silent again. */
import { z } from 'zod';
import { errorText, isRefusal, Refusal, TaskFailure } from '../../config/contracts/errors.js';
import { StoppedWithProof } from '../../config/contracts/stopped.js';
import { speechDurationMs } from '../../drivers/audio/speech-duration.js';
import { type Playback, SPEECH_LANGUAGES, type Speaker } from '../../drivers/audio/types.js';
import { defineMethod, type MethodSpec, type RunContext } from '../method.js';
import { withoutMotion } from '../proof.js';
import type { Services } from '../services.js';

const MAX_TEXT = 1000;
const paramsSchema = z.strictObject({
  text: z
    .string()
    .max(MAX_TEXT)
    .refine((text) => text.trim() !== '', 'allowed: a text that is not empty'),
  language: z.enum(SPEECH_LANGUAGES).optional(),
  interrupt: z.boolean().default(false),
});
type Params = z.infer<typeof paramsSchema>;

const COMPLETED = 'tts.playbackCompleted';
const CANCELLED = 'tts.playbackCancelled';

function requireSpeaker(services: Services): Speaker {
  const { speaker } = services;
  const missing =
    speaker === null ? 'no speaker is configured: set speaker in the profile' : speaker.unavailable();
  if (speaker === null || missing !== null) {
    throw new Refusal('CAPABILITY_UNAVAILABLE', missing ?? 'no speaker');
  }
  return speaker;
}

export function setLlmTts(services: Services): MethodSpec {
  const available = () => {
    requireSpeaker(services);
  };
  return defineMethod<Params>({
    name: 'setLlmTts',
    executor: 'voice',
    summary: 'Says a text aloud; done when the last sound is out.',
    params: paramsSchema,
    output: z.strictObject({ duration_ms: z.number() }),
    resources: [{ resource: 'speaker', mode: 'exclusive' }],
    completionTarget: COMPLETED,
    preconditionText: 'a speaker that can speak; with interrupt false nothing else is being said',
    available,
    precondition: ({ params }) => {
      if (!params.interrupt && requireSpeaker(services).speaking) {
        throw new Refusal('RESOURCE_BUSY', 'something else is being said; interrupt would cut it off');
      }
      available();
    },
    cancel: { method: 'stopTts', proof: `${CANCELLED}: the speaker is silent` },
    compensation: null,
    timeoutMs: (params) => 15_000 + 2 * speechDurationMs(params.text),
    timeoutText: '15000 + twice the time the text takes to say',
    stopGraceMs: 3000,
    risk: 'low',
    idempotent: false,
    run: (ctx) => withoutMotion(services, ctx.signal, () => say(services, ctx)),
  });
}

async function say(services: Services, ctx: RunContext<Params>) {
  const { params, signal } = ctx;
  const speaker = requireSpeaker(services);
  const language = params.language ?? services.settings.language;
  // A speaker that fails to stop is found out by the task's stop grace.
  const onAbort = () => void speaker.stop().catch(() => undefined);
  signal.addEventListener('abort', onAbort, { once: true });
  let playback: Playback;
  try {
    ctx.progress('tts.playing');
    playback = await speaker.speak({ text: params.text, language }, ctx.fence('speaker'));
  } catch (error) {
    if (isRefusal(error)) throw error;
    const message = errorText(error);
    throw new TaskFailure('HARDWARE_FAULT', `the speaker failed: ${message}`);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  const seen = {
    observed_at_ms: playback.endedAtMs,
    duration_ms: playback.durationMs,
    simulated: playback.simulated,
    engine: playback.engine,
  };
  if (playback.outcome === 'cancelled') {
    throw new StoppedWithProof({ stopped: true, ...seen, playback: CANCELLED });
  }
  return {
    stage: COMPLETED,
    evidence: { completion_target: COMPLETED, ...seen },
    output: { duration_ms: playback.durationMs },
  };
}

export function stopTts(services: Services): MethodSpec {
  const available = () => {
    requireSpeaker(services);
  };
  return defineMethod<Record<string, never>>({
    name: 'stopTts',
    executor: 'voice',
    summary: 'Stops what is being said.',
    params: z.strictObject({}),
    output: z.strictObject({ was_playing: z.boolean() }),
    resources: [],
    completionTarget: CANCELLED,
    preconditionText: 'a speaker that can speak; silence already counts as done',
    available,
    precondition: available,
    cancel: null,
    compensation: null,
    timeoutMs: 5000,
    stopGraceMs: 3000,
    risk: 'low',
    idempotent: true,
    run: (ctx) =>
      withoutMotion(services, ctx.signal, async () => {
        const wasPlaying = await requireSpeaker(services).stop();
        return {
          stage: CANCELLED,
          evidence: {
            completion_target: CANCELLED,
            observed_at_ms: services.clock.now(),
            was_playing: wasPlaying,
          },
          output: { was_playing: wasPlaying },
        };
      }),
  });
}

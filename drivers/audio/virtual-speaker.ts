/** A speaker without sound: takes as long as saying it would, on the robot's clock, and says so in its result. */
import type { Clock } from '../../config/contracts/clock.js';
import { FenceGate } from '../fence-gate.js';
import { speechDurationMs } from './speech-duration.js';
import type { Playback, Speaker, Utterance } from './types.js';

export class VirtualSpeaker implements Speaker {
  readonly name = 'virtual';
  readonly #clock: Clock;
  /** What was said, newest last; bounded. For displays: nothing else shows that it spoke. */
  readonly said: { at: number; utterance: Utterance }[] = [];
  readonly #fences = new FenceGate('speaker');
  #end: ((outcome: Playback['outcome']) => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get speaking(): boolean {
    return this.#end !== null;
  }

  unavailable(): string | null {
    return null;
  }

  counters(): Record<string, number> {
    return { stale_fences: this.#fences.stale };
  }

  async speak(utterance: Utterance, fence: number): Promise<Playback> {
    this.#fences.admit(fence);
    this.#end?.('cancelled');
    const startedAt = this.#clock.now();
    const startedMono = this.#clock.mono();
    this.said.push({ at: startedAt, utterance });
    if (this.said.length > KEEP) this.said.shift();
    return new Promise((resolve) => {
      const end = (outcome: Playback['outcome']) => {
        cancel();
        if (this.#end === end) this.#end = null;
        resolve({
          outcome,
          durationMs: Math.round(this.#clock.mono() - startedMono),
          endedAtMs: this.#clock.now(),
          simulated: true,
          engine: null,
        });
      };
      const cancel = this.#clock.after(speechDurationMs(utterance.text), () => end('completed'));
      this.#end = end;
    });
  }

  async stop(): Promise<boolean> {
    const end = this.#end;
    end?.('cancelled');
    return end !== null;
  }
}

const KEEP = 20;

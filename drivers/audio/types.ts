/** Something that says sentences aloud, whatever engine and output are behind it. */

export const SPEECH_LANGUAGES = ['ko', 'en'] as const;
export type SpeechLanguage = (typeof SPEECH_LANGUAGES)[number];

export interface Utterance {
  text: string;
  language: SpeechLanguage;
}

export interface Playback {
  /** Played to its end, or stopped before. */
  outcome: 'completed' | 'cancelled';
  /** Milliseconds from the first to the last sound. */
  durationMs: number;
  /** When the last sound was out, robot time, epoch ms. */
  endedAtMs: number;
  /** True where no sound came out of anything. */
  simulated: boolean;
  /** Name of the synthesiser; null where there is none. */
  engine: string | null;
}

export interface Speaker {
  readonly name: string;
  /** Null while it can speak; otherwise what is missing, in one sentence that says what to install or plug in. */
  unavailable(): string | null;
  /**
   * Plays one utterance, after stopping one that still plays. Resolves when playback has ended. `fence`: the token of
   * the speaker lease; an old one is refused (`Refusal` RESOURCE_BUSY), and what plays goes on.
   */
  speak(utterance: Utterance, fence: number): Promise<Playback>;
  /** Stops what plays now; resolves when it is silent, with false when nothing was playing. */
  stop(): Promise<boolean>;
  readonly speaking: boolean;
  counters(): Record<string, number>;
}

/** The session as the publisher sees it, with a broker behind it that a test steers. */
import type { CloudLink, DownCause, LinkLimits, PublishOutcome } from '../../daemon/cloud/types.js';

export interface Sent {
  topic: string;
  payload: string;
  dup: boolean;
  expiryS: number | null;
  answer: (outcome: PublishOutcome) => void;
}

export class FakeLink implements CloudLink {
  up = false;
  limits: LinkLimits = { receiveMaximum: 65_535, maximumPacketBytes: null };
  /** Sent on this connection and not answered yet, oldest first. */
  waiting: Sent[] = [];
  /** Everything that reached the broker, in order. */
  readonly arrived: Sent[] = [];
  readonly drops: string[] = [];
  readonly errors: string[] = [];
  /** Called with each publish; the default lets it arrive and leaves it unanswered. */
  onPublish: (sent: Sent) => void = (sent) => {
    this.arrived.push(sent);
  };
  readonly #up = new Set<() => void>();
  readonly #down = new Set<(cause: DownCause) => void>();

  publish(
    topic: string,
    payload: string,
    options: { dup: boolean; expiryS: number | null },
    done: (outcome: PublishOutcome) => void,
  ) {
    if (!this.up) throw new Error('publish while down');
    const sent: Sent = {
      topic,
      payload,
      ...options,
      answer: (outcome) => {
        const index = this.waiting.indexOf(sent);
        if (index < 0) return;
        this.waiting.splice(index, 1);
        done(outcome);
      },
    };
    this.waiting.push(sent);
    this.onPublish(sent);
  }

  noteError(text: string): void {
    this.errors.push(text);
  }

  drop(reason: string): void {
    this.drops.push(reason);
    this.disconnect({ by: 'us', reason, code: null });
  }

  onUp(listener: () => void): () => void {
    this.#up.add(listener);
    return () => this.#up.delete(listener);
  }

  onDown(listener: (cause: DownCause) => void): () => void {
    this.#down.add(listener);
    return () => this.#down.delete(listener);
  }

  connect(): void {
    this.up = true;
    for (const listener of this.#up) listener();
  }

  /** Answers of this connection never come after this. */
  disconnect(cause: DownCause = { by: 'peer', reason: 'gone', code: null }): void {
    if (!this.up) return;
    this.up = false;
    this.waiting = [];
    for (const listener of this.#down) listener(cause);
  }

  /** PUBACK for the oldest `count` waiting rows. */
  acknowledge(count = this.waiting.length): void {
    for (const sent of this.waiting.slice(0, count)) sent.answer({ kind: 'acknowledged' });
  }

  seqs(list: readonly Sent[] = this.arrived): number[] {
    return list.map((sent) => JSON.parse(sent.payload).seq);
  }
}

/** Lock-step within one process: the same order as over sockets (motion, then daemon, then broker and cloud). */
import { type SimClock, settle } from '../../config/contracts/sim-clock.js';

/** Turns of the event loop without anything passing through that count as quiet. */
const QUIET_TURNS = 2;

export interface LocalParticipant {
  name: string;
  clock: SimClock;
  /** Jobs outside the event loop: worker threads, unacknowledged publishes. */
  busy(): number;
  /** Increases with everything that passes through; absent where `busy` says it all. */
  activity?(): number;
}

export interface LocalBarrierOptions {
  /** In the order in which they advance. */
  participants: readonly LocalParticipant[];
  /** Wall milliseconds; bounds how long a tick may take. */
  wall: () => number;
  patienceMs?: number;
}

export class LocalBarrier {
  /** Ticks that did not settle in time. */
  unsettled = 0;
  readonly #options: LocalBarrierOptions;

  constructor(options: LocalBarrierOptions) {
    this.#options = options;
  }

  /** Everybody advances to `mono` in turn; nobody goes on while another has work under way. */
  async advance(mono: number): Promise<void> {
    for (const { clock } of this.#options.participants) {
      await clock.advanceAsync(mono - clock.mono());
      await this.settleNow();
    }
  }

  async settleNow(): Promise<void> {
    const deadline = this.#options.wall() + (this.#options.patienceMs ?? 5_000);
    let before = this.#activity();
    for (;;) {
      const busy = this.#options.participants.some((p) => p.busy() > 0);
      await settle(busy ? 1 : QUIET_TURNS);
      const now = this.#activity();
      if (!busy && now === before) return;
      before = now;
      if (this.#options.wall() > deadline) {
        this.unsettled += 1;
        return;
      }
    }
  }

  #activity(): number {
    return this.#options.participants.reduce((sum, p) => sum + (p.activity?.() ?? 0), 0);
  }

  jump(deltaMs: number): void {
    for (const { clock } of this.#options.participants) clock.jump(deltaMs);
  }
}

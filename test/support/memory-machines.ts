/** What the daemon injects into machines, held in memory: timers on a clock, snapshots in a map. */
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import type {
  MachineTimers,
  PersistedSnapshot,
  SnapshotStorage,
  TimerEvent,
} from '../../state-machines/types.js';

export class MemoryTimers implements MachineTimers {
  onTimer: (key: string, event: TimerEvent) => void = () => {};
  readonly #clock: Clock;
  readonly #pending = new Map<string, CancelTimer>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }
  get keys(): string[] {
    return [...this.#pending.keys()];
  }
  set(key: string, atMs: number, event: TimerEvent): void {
    this.cancel(key);
    const cancel = this.#clock.after(atMs - this.#clock.now(), () => {
      this.#pending.delete(key);
      this.onTimer(key, event);
    });
    this.#pending.set(key, cancel);
  }
  cancel(key: string): void {
    this.#pending.get(key)?.();
    this.#pending.delete(key);
  }
}

export class MemorySnapshots implements SnapshotStorage {
  readonly saved = new Map<string, string>();

  loadSnapshot(key: string): PersistedSnapshot | null {
    const text = this.saved.get(key);
    return text === undefined ? null : (JSON.parse(text) as PersistedSnapshot);
  }
  saveSnapshot(key: string, snapshot: PersistedSnapshot): void {
    this.saved.set(key, JSON.stringify(snapshot));
  }
}

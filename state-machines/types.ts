/**
 * What every machine needs from outside. Machines are pure, `(state, event) → [next, effects]`; a runner carries
 * the effects out through what is injected here, so a machine touches neither SQLite nor MQTT nor a port.
 */

/** What a machine gets back when one of its timers is due; plain JSON, because it waits in the store. */
export interface TimerEvent {
  type: 'TIMER';
  name: string;
}

/**
 * Timers live outside the machine (rows of the store), so that they survive a restart: XState's own `after` does
 * not fire once a snapshot is restored. A key names one timer; setting it again moves it.
 */
export interface MachineTimers {
  /** `atMs`: robot time, epoch ms. When due, `event` is handed to `Machines.onTimer(key, event)`. */
  set(key: string, atMs: number, event: TimerEvent): void;
  cancel(key: string): void;
}

/** A machine's persisted snapshot: its state value and context, plain JSON. */
export interface PersistedSnapshot {
  value: unknown;
  context: unknown;
  /** Robot time when it was written, epoch ms. */
  savedAt: number;
}

export interface SnapshotStorage {
  loadSnapshot(key: string): PersistedSnapshot | null;
  saveSnapshot(key: string, snapshot: PersistedSnapshot): void;
}

/** Where an operation is: `stage` names a domain state such as `navigation.driving`, `data` small facts. */
export type StageReporter = (stage: string, data?: Record<string, unknown>) => void;

/** The wheels (or the fan) are known to stand still. Times are robot time, epoch ms. */
export interface StopProof {
  stopped: true;
  observedAtMs: number;
  /** How long it had been standing still when it was observed. */
  stoppedForMs: number;
}

/** Something a machine noticed that others may want to know; becomes a domain event. */
export interface MachineNotice {
  type: string;
  at: number;
  areaId: string | null;
  attributes: Record<string, string | number | boolean | null>;
  /** The operation (task id) it belongs to. */
  operation: string | null;
}

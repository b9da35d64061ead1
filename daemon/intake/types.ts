/** One gate for every request from outside, whichever channel it came in on. */
import type { KeyObject } from 'node:crypto';
import type { Capability } from '../../config/contracts/capability.js';
import type { Clock } from '../../config/contracts/clock.js';
import type { Ids } from '../../config/contracts/ids.js';
import type { Log } from '../../config/contracts/log.js';
import type { CommandResponse } from '../../config/contracts/wire/command.js';
import type { ContextOptions } from '../../config/contracts/wire/context.js';
import type { Source } from '../../config/contracts/wire/events.js';
import type { MethodSpec } from '../../executors/method.js';
import type { Policy } from '../policy/types.js';
import type { OutboxStats, OutboxWriter } from '../store/outbox-types.js';
import type { TaskManager } from '../task-manager/types.js';

/** Who is asking, as the channel established it; never taken from a payload. */
export interface Principal {
  source: Source;
  /** For the audit trail, e.g. `mqtt`, `unix-socket`, `console`. */
  name: string;
}

export interface Intake {
  /**
   * Judges and, when accepted, stores one command. Validation, timestamps, duplicates and policy as the wire
   * contract says; the answer, the task and the memory of the `command_id` are one store transaction. Never
   * throws for bad input. `raw` is the parsed JSON value. An answer to CLOUD is also stored in the outbox, as
   * that is the only way it leaves.
   */
  handle(raw: unknown, principal: Principal): CommandResponse;
}

/** What is known of a message before it is read. */
export interface ArrivalMeta {
  /** Neither retained nor a redelivery. */
  fresh: boolean;
  /** Other messages wait in front of it. */
  others: boolean;
}

export interface CommandIntake extends Intake {
  /**
   * Does what cannot wait until this message's turn. The promise of an emergency stop, which `handleBytes` is then not
   * to carry out again (`stopActed`), or null. Never throws.
   */
  actAtArrival(payload: Uint8Array, meta: ArrivalMeta, principal: Principal): Promise<void> | null;
  /**
   * One message as it came off the wire. Null where nothing is answered (an empty payload). The caller
   * acknowledges the message only after the store has committed.
   */
  handleBytes(
    payload: Uint8Array,
    meta: { retained: boolean; stopActed?: boolean },
    principal: Principal,
  ): CommandResponse | null;
  counters(): Record<string, number>;
}

/** A `command_id` that was answered: a digest of its body, and the answer. */
export interface RememberedCommand {
  commandId: string;
  /** SHA-256 of the RFC 8785 form of the body, hex. */
  digest: string;
  response: CommandResponse;
  /** Wall time, epoch ms, until which a repetition must be recognised. */
  keepUntil: number;
}

/** Where answered commands are remembered; calls run inside the store's transaction. */
export interface CommandMemory {
  find(commandId: string): RememberedCommand | null;
  remember(command: RememberedCommand): void;
  /** Forgets what may be forgotten at this wall time; bounded work per call. */
  prune(wallMs: number): void;
  /** False while no further id can be kept: new commands are then refused with TASK_MANAGER_BUSY. */
  hasRoom(): boolean;
}

export interface IntakeDeps {
  deviceId: string;
  clock: Clock;
  /** For error ids. */
  ids: Ids;
  store: { write<T>(fn: () => T): T };
  outbox: Pick<OutboxWriter, 'appendResponse' | 'hasRoom'>;
  memory: CommandMemory;
  tasks: TaskManager;
  methods: readonly MethodSpec[];
  /** What a capability card or its cloud id stands for; throws `Refusal` UNKNOWN_CAPABILITY or INVALID_PARAMS. */
  resolveCapability(
    id: string,
    params: Record<string, unknown>,
  ): { method: string; params: Record<string, unknown> };
  policy: Policy;
  /** How far `issued_at` may lie from the wall clock, ms. */
  windowMs: number;
  clockTrusted(): boolean;
  estop(by: string): Promise<void>;
  context(options: ContextOptions): object;
  capabilities(): Capability[];
  outboxStats(): OutboxStats;
  /** Ed25519 public key; null: the broker's authentication is enough. */
  commandKey: KeyObject | null;
  log: Log;
}

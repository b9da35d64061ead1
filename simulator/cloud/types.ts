/** The simulated cloud: a planner that turns goals into workflows, and a consumer that checks what it receives. */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../config/contracts/clock.js';
import type { Ids } from '../../config/contracts/ids.js';
import type { CommandResponse } from '../../config/contracts/wire/command.js';
import type { WorkflowDocument } from '../../config/contracts/wire/workflow.js';

/** How it can be told to misbehave; each holds until switched off. */
export interface Misbehaviour {
  /** Publishes every command twice. */
  repeatCommands: boolean;
  /** `issued_at` an hour ago, without `expires_at`. */
  staleTimestamps: boolean;
  /** Reuses the last `command_id` for the next command. */
  reuseIds: boolean;
  /** Names tasks and workflows that do not exist. */
  wrongIds: boolean;
  /** Bytes of padding in each command's payload; 0: none. */
  padBytes: number;
  /** Sends each command so many milliseconds of robot time after the time it claims; 0: at once. */
  delayMs: number;
}

export interface SimCloudOptions {
  /** A broker's address, or a function that opens a connection to it. */
  broker: { url: string } | { connect: () => Duplex };
  deviceId: string;
  clock: Clock;
  ids: Ids;
  /** Lines for people, as they happen. */
  onLog?: (line: string) => void;
}

/** What went wrong on the way here, as the consumer sees it. */
export interface ConsumerProblem {
  kind: 'gap' | 'out_of_order' | 'key_conflict' | 'second_terminal' | 'malformed';
  text: string;
}

export interface ReceivedEvent {
  seq: number;
  topic: string;
  event: string;
  taskId: string | null;
  workflowId: string | null;
  stepId: string | null;
  method: string | null;
  reasonCode: string | null;
  /** What a person reads. */
  message: string | null;
  evidence: unknown;
  output: unknown;
  occurredAt: string | null;
}

export interface CloudReport {
  /** Ordered-lane rows by first arrival; repeats are not in here. */
  events: readonly ReceivedEvent[];
  firstSeq: number | null;
  lastSeq: number | null;
  /** `seq` values not seen between the first and the last. */
  missing: number[];
  repeats: number;
  deadLettered: number;
  telemetry: number;
  /** Entries of the log that a consumer has by now, and rows that wait for one before them. */
  applied: number;
  waiting: number;
  responses: number;
  problems: readonly ConsumerProblem[];
  status: string | null;
}

export interface PushedWorkflow {
  document: WorkflowDocument;
  commandId: string;
  /** Resolves with the device's answer. */
  response: Promise<CommandResponse>;
  /** Resolves with the workflow's own terminal event. */
  ended: Promise<ReceivedEvent>;
}

export interface SimCloud {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Plans the goal over the rooms of the device's own context and sends the workflow. Rejects what it cannot plan. */
  pushWorkflow(goal: string): Promise<PushedWorkflow>;
  /** Sends any command; envelope fields that are missing are filled in. Resolves with the answer. */
  sendCommand(command: Record<string, unknown>, timeoutMs?: number): Promise<CommandResponse>;
  misbehave(change: Partial<Misbehaviour>): void;
  /** The latest context the device has shown, or null. */
  context(): object | null;
  onEvent(listener: (event: ReceivedEvent) => void): () => void;
  onProgress(listener: (event: Record<string, unknown>) => void): () => void;
  report(): CloudReport;
  /** One line per message received, oldest first, bounded. */
  log(): readonly string[];
  /** Publishes not yet acknowledged. */
  busy(): number;
  activity(): number;
}

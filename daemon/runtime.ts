/** The running daemon as the local API sees it. The composition root (`main.ts`) fills it in. */
import type { AmrDriver } from '../config/contracts/amr.js';
import type { Capability } from '../config/contracts/capability.js';
import type { Clock } from '../config/contracts/clock.js';
import type { ContextOptions } from '../config/contracts/wire/context.js';
import type { DomainEvent } from '../config/contracts/wire/events.js';
import type { MethodSpec } from '../executors/method.js';
import type { PressBoard } from '../executors/movement/press-board.js';
import type { Intake, Principal } from './intake/types.js';
import type { ApprovalView } from './policy/approval-view.js';
import type { ListOptions, Verdict } from './policy/approvals.js';
import type { AuditEntry, AuditVerdict } from './policy/audit-log.js';
import type { SettingsCaller } from './policy/house-settings.js';
import type { SettingsChange, SettingsValues } from './policy/setting-values.js';
import type { OutboxReader } from './store/outbox-types.js';
import type { TaskManager } from './task-manager/types.js';

/** The map as displays need it. */
export interface MapView {
  id: string;
  /** Metres per cell, cells, and the pose of the lower-left cell in the map frame. */
  resolution: number;
  width: number;
  height: number;
  origin: { x: number; y: number; theta: number };
  /** Row-major from the lower-left cell; −1 unknown, 0 free … 100 occupied. */
  cells: Int8Array;
  rooms: {
    id: string;
    name: string;
    aliases: string[];
    polygon: [number, number][];
    goal: [number, number, number];
  }[];
  station: [number, number, number] | null;
  /** No-go areas, and what each piece of a virtual wall covers under the wall's id. */
  keepout: { id: string; polygon: [number, number][] }[];
  walls: { id: string; line: [number, number][]; width: number }[];
  /** `max_speed`: m/s */
  speed_areas: { id: string; polygon: [number, number][]; max_speed: number }[];
}

export type { Capability };

/** One line of `deviceagent doctor`. */
export interface DoctorCheck {
  part: string;
  state: 'ok' | 'missing' | 'faulty' | 'off';
  /** What it is, or what to plug in or install. */
  message: string;
}

export interface ConnectionFacts {
  transport_connected: boolean;
  subscription_ready: boolean;
  last_transition_at: number | null;
  last_publish_ack_at: number | null;
  last_publish_error: string | null;
}

/** What a person decides, and the record of it. */
export interface PolicyDesk {
  approvals(wanted: ListOptions): ApprovalView[];
  /** Throws `Refusal`: POLICY_DENIED for anybody but a person, NOT_FOUND, ILLEGAL_STATE. */
  decide(id: string, verdict: Verdict, by: Principal, language?: 'ko' | 'en'): ApprovalView;
  settings(): SettingsValues;
  /** Resolves once durable. Rejects with a `Refusal`; see `HouseSettings.change`. */
  changeSettings(change: SettingsChange, caller: SettingsCaller): Promise<SettingsValues>;
  /** Newest first. */
  audit(limit: number): AuditEntry[];
  verifyAudit(): AuditVerdict;
}

export interface Runtime {
  readonly deviceId: string;
  readonly bootId: string;
  readonly version: string;
  readonly stateDir: string;
  readonly profile: string;
  readonly clock: Clock;
  readonly methods: readonly MethodSpec[];
  readonly tasks: TaskManager;
  readonly intake: Intake;
  readonly outbox: OutboxReader;
  readonly amr: AmrDriver;
  /** Resolves once everything written so far is on disk; an answer that promises something waits for it. */
  committed(): Promise<void>;
  /** True once the store is open, restart reconciliation is done and commands are accepted. */
  ready(): boolean;
  context(options: ContextOptions): object;
  capabilities(): Capability[];
  map(): MapView | null;
  /** The `map.yaml` of the map in use; null without a map. */
  mapFile(): string | null;
  /**
   * Takes over the bundle at `mapYaml` (absolute), now and for later starts. Rejects with a `Refusal`:
   * `INVALID_PARAMS` for a map that cannot be used, `ILLEGAL_STATE` while the robot moves.
   */
  importMap(mapYaml: string): Promise<void>;
  cloud(): ConnectionFacts;
  doctor(language: 'ko' | 'en'): DoctorCheck[];
  /** Named counters of every part, for `/metrics`. */
  counters(): Record<string, number>;
  onDomainEvent(listener: (event: DomainEvent) => void): () => void;
  /** Recent published task events and observations with `seq` after `since`, oldest first, for `events`. */
  recentEvents(since: number, limit: number): { seq: number; topic: string; payload: object }[];
  readonly policy: PolicyDesk;
  /** Signs of life of those who drive by hand, by the task of their press. */
  readonly presses: Pick<PressBoard, 'keep' | 'release'>;
  estop(by: string): Promise<void>;
  releaseEstop(by: string): Promise<void>;
}

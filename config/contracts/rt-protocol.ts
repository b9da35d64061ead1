/**
 * Messages between the daemon and the motion process (`rt`). Plain JSON objects: over the child's IPC channel,
 * or handed across directly when `rt` is hosted inline.
 */
import type {
  AmrAbilities,
  AmrEvent,
  Calibration,
  MotionAction,
  PlanRequest,
  PlanResult,
  Scan,
} from './amr.js';
import type { Pose } from './geometry.js';
import type { FrontierRequest, FrontierResult, MappedGround } from './mapping.js';
import type { ReasonCode } from './reason-codes.js';

export type RtRequest =
  | { op: 'start'; id: string; action: MotionAction; fence: number }
  | { op: 'stop'; reason: string }
  | { op: 'estop'; by: string }
  | { op: 'releaseEstop'; by: string }
  | { op: 'plan'; request: PlanRequest }
  | { op: 'loadMap'; mapYaml: string }
  | { op: 'clearMap' }
  | { op: 'relocalize'; pose: Pose }
  | { op: 'setCalibration'; calibration: Calibration | null }
  | { op: 'startMapping' }
  | { op: 'frontier'; request: FrontierRequest }
  | { op: 'writeMapping'; folder: string; keep: boolean }
  | { op: 'dropMapping' };

/** What a request may be answered with. */
export type RtAnswer = PlanResult | FrontierResult | MappedGround;

export type DaemonToRt =
  /** `beat` increases by one each time; `rt` answers with the same number. */
  { t: 'heartbeat'; beat: number } | { t: 'request'; n: number; request: RtRequest };

export type RtToDaemon =
  | { t: 'ready'; bootId: string; pid: number; abilities: AmrAbilities }
  | { t: 'heartbeat'; beat: number }
  | { t: 'response'; n: number; ok: true; result?: RtAnswer }
  | { t: 'response'; n: number; ok: false; reason: ReasonCode; message: string }
  | { t: 'event'; event: AmrEvent }
  | { t: 'view'; scan: Scan | null; path: Pose[] }
  | { t: 'log'; level: 'debug' | 'info' | 'warn' | 'error'; message: string; data?: Record<string, unknown> };

/** One end of the channel; the same for a child process and for inline hosting. */
export interface RtChannel<Out, In> {
  send(message: Out): void;
  onMessage(listener: (message: In) => void): void;
  onClose(listener: (reason: string) => void): void;
  close(): void;
}

/** How often each side sends a heartbeat, ms, and after how long a silence `rt` stops the wheels, ms. */
export const HEARTBEAT_EVERY_MS = 50;
export const DAEMON_SILENT_MS = 200;

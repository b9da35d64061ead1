/** What the parts of the local API share: how it is configured, who calls, and over which channel. */
import type { ApiToken } from '../../config/api-tokens.js';
import type { Clock } from '../../config/contracts/clock.js';
import type { Principal } from '../intake/types.js';

/** `unix`: the socket in the state directory. `tcp`: the port that serves the console and token holders. */
export type Channel = 'unix' | 'tcp';

/**
 * What a caller may do. `read`: look. `control`: submit, cancel, press the e-stop. `person`: what only somebody
 * at the robot may do, such as releasing the e-stop. `public` needs no authentication at all.
 */
const SCOPES = ['public', 'read', 'control', 'person'] as const;
export type Scope = (typeof SCOPES)[number];

/** Who asks, as established by the channel and the credential; never taken from a body. */
export interface Caller {
  principal: Principal;
  scopes: ReadonlySet<Scope>;
  /** How it proved itself; browsers' cookies need the checks of an origin, the others do not. */
  credential: 'socket' | 'token' | 'session';
  /** False once the session expired; long-lived streams ask again. */
  valid(): boolean;
}

export interface TcpOptions {
  /** Default `127.0.0.1`. Anything that is not loopback needs at least one configured token. */
  host?: string;
  /** 0: any free port. */
  port: number;
  tokens?: readonly ApiToken[];
  /** Further host names (without port) under which the robot may be addressed, e.g. behind a proxy. */
  allowedHosts?: readonly string[];
}

/** Fits pino. */
export interface ApiLog {
  info(data: object, message: string): void;
  warn(data: object, message: string): void;
  error(data: object, message: string): void;
}

export interface ApiOptions {
  /** null: the Unix socket only, no console. */
  tcp: TcpOptions | null;
  log?: ApiLog;
  /**
   * Time for what happens between people, browsers and this API: sessions, codes, pings, picture rates. Real
   * time, also while a simulated robot's clock runs faster; default `SystemClock`.
   */
  clock?: Clock;
  /** Makes a secret of so many random bytes, base64url; default from `node:crypto`. */
  secret?: (bytes: number) => string;
  /** How long a one-time code stays valid, ms. Default 15 min. */
  codeTtlMs?: number;
  /** How long a console session lasts, ms. Default 12 h. */
  sessionTtlMs?: number;
  /** Bytes a slow stream client may have waiting before it is held back. Default 256 KiB. */
  streamBufferBytes?: number;
}

export interface ApiAddress {
  socketPath: string;
  /** `http://127.0.0.1:8080`, or null without TCP. */
  url: string | null;
}

export interface Api {
  /** Listens on both channels. Rejects with a sentence that says what to change. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Where it listens; throws before `start`. */
  address(): ApiAddress;
  /** The console's address with a fresh one-time code, or null without TCP. */
  consoleAddress(): string | null;
}

/** Largest request body, bytes, as on the cloud side. */
export const BODY_LIMIT = 256 * 1024;

/** The local API: HTTP and WebSockets on a Unix socket and, for the console and token holders, on loopback. */
import { randomBytes } from 'node:crypto';
import { unlinkSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type ApiToken, MIN_TOKEN_LENGTH } from '../../config/api-tokens.js';
import { SystemClock } from '../../config/contracts/clock.js';
import { errorCode, errorText } from '../../config/contracts/errors.js';
import { isLoopbackHost } from '../../config/contracts/loopback.js';
import type { Runtime } from '../runtime.js';
import { FailureLimit } from './auth/failure-limit.js';
import { Guard } from './auth/guard.js';
import { allowedNames, urlHost } from './auth/origin.js';
import { sessionFile } from './auth/session-file.js';
import { SessionStore } from './auth/sessions.js';
import { readOrCreateToken } from './auth/token-file.js';
import { addConsole } from './console-files.js';
import { newCounters } from './counters.js';
import type { RouteServices } from './http/route.js';
import { buildServer } from './http/server.js';
import { allRoutes } from './routes/all.js';
import { socketPath } from './socket-path.js';
import { listenOnSocket, prepareStateDir } from './state-dir.js';
import { DriveStream } from './streams/drive-stream.js';
import { EventStream } from './streams/event-stream.js';
import { RobotStream } from './streams/robot-stream.js';
import type { Api, ApiAddress, ApiLog, ApiOptions, Channel, TcpOptions } from './types.js';

const MINUTE_MS = 60_000;
const CODE_TTL_MS = 15 * MINUTE_MS;
const SESSION_TTL_MS = 12 * 60 * MINUTE_MS;
const STREAM_BUFFER_BYTES = 256 * 1024;

const SILENT: ApiLog = { info: () => {}, warn: () => {}, error: () => {} };

export function createApi(runtime: Runtime, options: ApiOptions): Api {
  return new LocalApi(runtime, options);
}

class LocalApi implements Api {
  readonly #runtime: Runtime;
  readonly #options: ApiOptions;
  readonly #secret: (bytes: number) => string;
  readonly #sessions: SessionStore;
  readonly #counters = newCounters();
  readonly #events: EventStream;
  readonly #robot: RobotStream;
  readonly #drive: DriveStream;
  readonly #services: RouteServices;
  readonly #failures: FailureLimit;
  #servers: FastifyInstance[] = [];
  #address: ApiAddress | null = null;
  #port = 0;

  constructor(runtime: Runtime, options: ApiOptions) {
    const clock = options.clock ?? new SystemClock();
    this.#runtime = runtime;
    this.#options = options;
    this.#secret = options.secret ?? ((bytes) => randomBytes(bytes).toString('base64url'));
    this.#failures = new FailureLimit(() => clock.mono());
    this.#sessions = new SessionStore({
      now: () => clock.wall(),
      secret: this.#secret,
      codeTtlMs: options.codeTtlMs ?? CODE_TTL_MS,
      sessionTtlMs: options.sessionTtlMs ?? SESSION_TTL_MS,
      file: sessionFile(runtime.stateDir),
    });
    const streamParts = { runtime, clock, counters: this.#counters };
    this.#events = new EventStream({
      ...streamParts,
      bufferBytes: options.streamBufferBytes ?? STREAM_BUFFER_BYTES,
    });
    this.#robot = new RobotStream(streamParts);
    this.#drive = new DriveStream({ ...streamParts, secret: this.#secret });
    this.#services = {
      runtime,
      counters: this.#counters,
      secret: this.#secret,
      consoleAddress: () => this.#newConsoleAddress(),
      document: async () => (await import('./openapi.js')).openApiDocument(allRoutes),
    };
  }

  async start(): Promise<void> {
    const { stateDir } = this.#runtime;
    const { tcp } = this.#options;
    if (tcp !== null) checkTcp(tcp);
    prepareStateDir(stateDir);
    const fileToken = readOrCreateToken(stateDir, this.#secret);
    this.#sessions.restore();
    const path = socketPath(stateDir);
    try {
      const unix = await this.#build('unix', []);
      await unix.ready();
      await listenOnSocket(unix.server, path);
      const url = tcp === null ? null : await this.#listenOnTcp(tcp, fileToken);
      this.#address = { socketPath: path, url };
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#options.log?.info({ ...this.#address }, 'the local API listens');
  }

  async stop(): Promise<void> {
    const wasListening = this.#address !== null;
    this.#address = null;
    this.#events.closeAll();
    this.#robot.closeAll();
    this.#drive.closeAll();
    await Promise.all(this.#servers.splice(0).map((server) => server.close()));
    if (wasListening) removeIfThere(socketPath(this.#runtime.stateDir));
  }

  address(): ApiAddress {
    if (this.#address === null) throw new Error('the local API is not started');
    return this.#address;
  }

  consoleAddress(): string | null {
    return this.#newConsoleAddress()?.url ?? null;
  }

  #newConsoleAddress(): { url: string; expiresAtMs: number } | null {
    const url = this.#address?.url ?? null;
    if (url === null) return null;
    const { code, expiresAtMs } = this.#sessions.newCode();
    return { url: `${url}/?code=${code}`, expiresAtMs };
  }

  async #listenOnTcp(tcp: TcpOptions, fileToken: string): Promise<string> {
    const host = tcp.host ?? '127.0.0.1';
    const server = await this.#build('tcp', [
      { name: 'state-dir', value: fileToken, scopes: ['read', 'control'] },
      ...(tcp.tokens ?? []),
    ]);
    try {
      await server.listen({ host, port: tcp.port });
    } catch (error) {
      throw listenError(error, host, tcp.port);
    }
    this.#port = (server.server.address() as AddressInfo).port;
    return `http://${urlHost(host)}:${this.#port}`;
  }

  async #build(channel: Channel, tokens: readonly ApiToken[]): Promise<FastifyInstance> {
    const { tcp } = this.#options;
    const guard = new Guard({
      channel,
      names: allowedNames(tcp?.host ?? '127.0.0.1', tcp?.allowedHosts ?? []),
      tokens,
      sessions: this.#sessions,
      failures: this.#failures,
      counters: this.#counters,
      cookieName: () => this.#cookieName(),
    });
    const server = await buildServer({
      guard,
      routes: allRoutes,
      services: this.#services,
      events: this.#events,
      robot: this.#robot,
      drive: this.#drive,
      log: this.#options.log ?? SILENT,
    });
    this.#servers.push(server);
    if (channel === 'tcp') {
      await addConsole(server, {
        guard,
        sessions: this.#sessions,
        cookieName: () => this.#cookieName(),
        sessionTtlMs: this.#options.sessionTtlMs ?? SESSION_TTL_MS,
      });
    }
    return server;
  }

  /** Browsers share cookies between ports of one host: each robot simulated here gets its own. */
  #cookieName(): string {
    return `deviceagent_session_${this.#port}`;
  }
}

function checkTcp(tcp: TcpOptions): void {
  for (const { name, value } of tcp.tokens ?? []) {
    if (value.length < MIN_TOKEN_LENGTH) {
      throw new Error(`the API token "${name}" is shorter than ${MIN_TOKEN_LENGTH} characters`);
    }
  }
  const host = tcp.host ?? '127.0.0.1';
  if (isLoopbackHost(host) || (tcp.tokens ?? []).length > 0) return;
  throw new Error(
    `the API does not listen on ${host} without a configured token; use 127.0.0.1, or set api.tokens_file`,
  );
}

const ANOTHER_PORT = 'set api.port in the profile, or DEVICEAGENT_API_PORT, to another one';

function listenError(error: unknown, host: string, port: number): Error {
  const code = errorCode(error);
  if (code === 'EADDRINUSE') return new Error(`port ${port} is in use; ${ANOTHER_PORT}`);
  if (code === 'EACCES') return new Error(`port ${port} needs more rights; ${ANOTHER_PORT}, above 1023`);
  return new Error(`cannot listen on ${host}:${port}: ${errorText(error)}`);
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

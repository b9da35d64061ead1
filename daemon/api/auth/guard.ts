/** Decides on every request, before anything of it is read: who is this, and may they? */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiToken } from '../../../config/api-tokens.js';
import { isLoopbackAddress } from '../../../config/contracts/loopback.js';
import type { ApiCounters } from '../counters.js';
import { ApiError } from '../http/errors.js';
import type { Caller, Channel, Scope } from '../types.js';
import type { FailureLimit } from './failure-limit.js';
import { checkBrowser, checkHost, checkOrigin, type OriginHeaders } from './origin.js';
import type { SessionStore } from './sessions.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard; null on public routes without a credential. */
    caller: Caller | null;
  }
  interface FastifyContextConfig {
    scope?: Scope;
    /** A WebSocket, which needs the checks of its origin although it is a GET. */
    stream?: boolean;
  }
}

export interface GuardParts {
  channel: Channel;
  names: ReadonlySet<string>;
  tokens: readonly ApiToken[];
  sessions: SessionStore;
  failures: FailureLimit;
  counters: ApiCounters;
  cookieName(): string;
}

const ALWAYS = () => true;

/** Whoever can open a socket of mode 0700 in a directory of mode 0700 is the robot's own user. */
const SOCKET_CALLER: Caller = {
  principal: { source: 'LOCAL', name: 'unix-socket' },
  scopes: new Set<Scope>(['public', 'read', 'control', 'person']),
  credential: 'socket',
  valid: ALWAYS,
};

type Authenticated = { caller: Caller } | { failure: 'missing' | 'wrong' };

export class Guard {
  readonly #parts: GuardParts;
  readonly #tokens: readonly { digest: Buffer; caller: Caller }[];

  constructor(parts: GuardParts) {
    this.#parts = parts;
    this.#tokens = parts.tokens.map((token) => ({
      digest: sha256(token.value),
      caller: {
        principal: { source: 'APP', name: `token:${token.name}` },
        scopes: new Set<Scope>(['public', ...token.scopes]),
        credential: 'token',
        valid: ALWAYS,
      },
    }));
  }

  /** Fastify's first hook. Throws `ApiError`; otherwise `request.caller` stands. */
  readonly check = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { counters } = this.#parts;
    counters.requests += 1;
    const { scope = 'read', stream = false } = request.routeOptions.config;
    const headers = originHeaders(request);
    if (this.#parts.channel === 'tcp') this.#checkOrigins(headers);
    if (request.ws && !stream && !request.is404) {
      throw new ApiError(400, 'MALFORMED', 'this address is not a WebSocket', 'Upgrade');
    }
    const result = this.#authenticate(request);
    if (!('caller' in result)) {
      if (scope === 'public') return;
      throw this.#unauthenticated(request, result.failure);
    }
    const { caller } = result;
    if (caller.credential === 'session' && scope !== 'public') {
      this.#counted(() => checkBrowser(headers, stream || request.method !== 'GET'));
    }
    if (!caller.scopes.has(scope)) throw outOfScope(scope);
    request.caller = caller;
    reply.header('cache-control', 'no-store');
  };

  /** For the console's page, which answers people, not programs. */
  hasSession(request: FastifyRequest): boolean {
    const secret = this.#sessionSecret(request);
    return secret !== null && this.#parts.sessions.valid(secret);
  }

  /** Counts a wrong credential; the error to answer with. */
  failed(request: FastifyRequest, message: string): ApiError {
    this.#parts.counters.authFailures += 1;
    const waitMs = this.#parts.failures.failed(request.ip);
    if (waitMs === 0) return new ApiError(401, 'POLICY_DENIED', message, undefined, CHALLENGE);
    this.#parts.counters.throttled += 1;
    const seconds = Math.ceil(waitMs / 1000);
    return new ApiError(429, 'POLICY_DENIED', `too many failed attempts; wait ${seconds} s`, undefined, {
      'retry-after': String(seconds),
    });
  }

  #checkOrigins(headers: OriginHeaders): void {
    this.#counted(() => {
      checkHost(headers, this.#parts.names);
      checkOrigin(headers);
    });
  }

  #counted(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#parts.counters.refusedOrigins += 1;
      throw error;
    }
  }

  #authenticate(request: FastifyRequest): Authenticated {
    if (this.#parts.channel === 'unix') return { caller: SOCKET_CALLER };
    const { authorization } = request.headers;
    if (authorization !== undefined) return this.#byToken(authorization);
    const session = this.#sessionSecret(request);
    if (session === null) return { failure: 'missing' };
    if (!this.#parts.sessions.valid(session)) return { failure: 'wrong' };
    return { caller: this.#sessionCaller(request, session) };
  }

  #byToken(authorization: string): Authenticated {
    const presented = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization)?.[1];
    if (presented === undefined) return { failure: 'wrong' };
    const digest = sha256(presented);
    const found = this.#tokens.find((token) => timingSafeEqual(token.digest, digest));
    return found === undefined ? { failure: 'wrong' } : { caller: found.caller };
  }

  #sessionCaller(request: FastifyRequest, session: string): Caller {
    const scopes = new Set<Scope>(['public', 'read', 'control']);
    if (isAtTheRobot(request)) scopes.add('person');
    return {
      principal: { source: 'APP', name: 'console' },
      scopes,
      credential: 'session',
      valid: () => this.#parts.sessions.valid(session),
    };
  }

  #sessionSecret(request: FastifyRequest): string | null {
    const name = this.#parts.cookieName();
    for (const part of (request.headers.cookie ?? '').split(';')) {
      const [key, value] = part.trim().split('=', 2);
      if (key === name && value !== undefined && value !== '') return value;
    }
    return null;
  }

  #unauthenticated(request: FastifyRequest, failure: 'missing' | 'wrong'): ApiError {
    if (failure === 'wrong') return this.failed(request, 'the token or session is not valid (any more)');
    const message = 'a token (Authorization: Bearer …) or a console session is needed';
    return new ApiError(401, 'POLICY_DENIED', message, undefined, CHALLENGE);
  }
}

const CHALLENGE = { 'www-authenticate': 'Bearer realm="deviceagent"' };

/** From this very machine, and not through a proxy that would make everybody look so. */
function isAtTheRobot(request: FastifyRequest): boolean {
  const proxied = request.headers['x-forwarded-for'] !== undefined || request.headers.forwarded !== undefined;
  return !proxied && isLoopbackAddress(request.socket.remoteAddress);
}

function outOfScope(scope: Scope): ApiError {
  const message =
    scope === 'person'
      ? 'only a person at the robot may do this: on its console, or with the deviceagent command'
      : `this token does not have the scope "${scope}"`;
  return new ApiError(403, 'POLICY_DENIED', message);
}

function originHeaders(request: FastifyRequest): OriginHeaders {
  const site = request.headers['sec-fetch-site'];
  return {
    host: request.headers.host,
    origin: request.headers.origin,
    fetchSite: Array.isArray(site) ? site[0] : site,
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

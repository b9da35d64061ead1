/** The console's page: static files for whoever has a session, a plain explanation for whoever has not. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Guard } from './auth/guard.js';
import type { SessionStore } from './auth/sessions.js';

export interface ConsoleParts {
  guard: Guard;
  sessions: SessionStore;
  cookieName(): string;
  sessionTtlMs: number;
}

const FOLDER = new URL('./console/', import.meta.url);
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export async function addConsole(app: FastifyInstance, parts: ConsoleParts): Promise<void> {
  await app.register(async (scope) => {
    // A person without a session gets an explanation instead of the API's refusal: the hook below decides.
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, scope: 'public' };
    });
    scope.addHook('onRequest', async (request, reply) => {
      if (isEntry(request) && codeOf(request) !== null) return signIn(parts, request, reply);
      if (!parts.guard.hasSession(request)) return explain(reply, 401);
      reply.header('cache-control', 'no-cache').header('content-security-policy', PAGE_POLICY);
      return undefined;
    });
    // Declarations are for the command line, which shares the robot's words with the page.
    for (const name of readdirSync(FOLDER)) if (!name.endsWith('.d.ts')) serveFile(scope, name);
  });
}

/** Each file has a route of its own, so no address can lead out of the folder. */
function serveFile(scope: FastifyInstance, name: string): void {
  const type = TYPES[extname(name)];
  if (type === undefined) throw new Error(`${name}: a file of the console of an unknown kind`);
  const send = async (request: FastifyRequest, reply: FastifyReply) => {
    const bytes = await readFile(new URL(name, FOLDER));
    const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
    reply.header('etag', etag);
    return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.type(type).send(bytes);
  };
  scope.get(`/${name}`, send);
  if (name === 'index.html') scope.get('/', send);
}

function isEntry(request: FastifyRequest): boolean {
  return (request.url.split('?', 1)[0] ?? '') === '/';
}

function codeOf(request: FastifyRequest): string | null {
  const { code } = request.query as { code?: unknown };
  return typeof code === 'string' ? code : null;
}

/**
 * Exchanges the code for the cookie. The answer is a page that moves on by itself rather than a redirect: after
 * a click in another site's page (a terminal in a browser) a redirect would not carry a `SameSite=Strict` cookie.
 */
function signIn(parts: ConsoleParts, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const session = parts.sessions.exchange(codeOf(request) ?? '');
  if (session === null) {
    const error = parts.guard.failed(request, 'the code was used or has expired');
    return explain(reply, error.status, error.headers['retry-after']);
  }
  const seconds = Math.floor(parts.sessionTtlMs / 1000);
  reply.header(
    'set-cookie',
    `${parts.cookieName()}=${session}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${seconds}`,
  );
  return page(reply.code(200), '<meta http-equiv="refresh" content="0;url=/">', '<p>…</p>');
}

const STYLE =
  'body{font:16px/1.6 system-ui,sans-serif;max-width:34rem;margin:18vh auto;padding:0 1.5rem;color:#1c2733;background:#f6f8fa}h1{font-size:1.25rem;margin:0 0 .25rem}p{margin:.25rem 0 1rem}code{background:#e6ebf0;border-radius:4px;padding:.1em .4em}@media(prefers-color-scheme:dark){body{color:#dbe4ee;background:#10171f}code{background:#222e3a}}';
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

function explain(reply: FastifyReply, status: number, retryAfter?: string): FastifyReply {
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  return page(
    reply.code(status),
    '',
    `<h1>콘솔을 열려면 새 주소가 필요해요</h1>
<p>주소의 코드는 한 번만 쓸 수 있고 곧 만료됩니다. 로봇의 터미널에서 <code>deviceagent console</code>을 실행하고 나온 주소를 여세요.</p>
<h1 lang="en">The console needs a fresh address</h1>
<p lang="en">The code in the address works once and expires soon. Run <code>deviceagent console</code> in the robot’s terminal and open the address that it prints.</p>`,
  );
}

function page(reply: FastifyReply, head: string, body: string): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .header(
      'content-security-policy',
      `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'`,
    )
    .send(
      `<!doctype html><html lang="ko"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>DeviceAgent</title>${head}<style>${STYLE}</style></head><body>${body}</body></html>`,
    );
}

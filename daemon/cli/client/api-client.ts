/** Talks to the daemon over the Unix socket in its state directory. */
import { request as httpRequest } from 'node:http';
import { resolve } from 'node:path';
import { DAEMON_HEADER, socketPath } from '../../api/socket-path.js';
import { CliError, EXIT } from '../io.js';
import { type Language, robotWords, type Translate } from '../language.js';

/** For a whole answer; nothing that a command asks for takes the daemon longer, or is larger. */
const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

export interface ApiRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With its query. */
  path: string;
  body?: object;
  headers?: Record<string, string>;
}

export class ApiClient {
  readonly socket: string;
  readonly #t: Translate;
  readonly #language: Language;
  readonly #signal: AbortSignal;

  constructor(stateDir: string, t: Translate, language: Language, signal: AbortSignal) {
    this.#language = language;
    this.#signal = signal;
    this.socket = socketPath(resolve(stateDir));
    this.#t = t;
  }

  /**
   * Resolves to the JSON of a 2xx answer. Rejects with a `CliError`: exit code 3 when no daemon answers, 1 with
   * the daemon's own words when it refused.
   */
  async call<T>({ method = 'GET', path, body, headers = {} }: ApiRequest): Promise<T> {
    const { status, text } = await this.#exchange(method, path, body, headers);
    const json = parsed(text);
    if (status >= 200 && status < 300) return json as T;
    const error = errorOf(json);
    const message = this.#t('refused', {
      code: error.code ?? `HTTP ${status}`,
      message: robotWords(this.#language, error.message ?? text),
    });
    throw new CliError(message, EXIT.failed, json === null ? null : json);
  }

  get<T>(path: string): Promise<T> {
    return this.call<T>({ path });
  }

  post<T>(path: string, body: object = {}, headers: Record<string, string> = {}): Promise<T> {
    return this.call<T>({ method: 'POST', path, body, headers });
  }

  /** What went wrong when no answer came. */
  connectionError(error: NodeJS.ErrnoException): CliError {
    if (this.#signal.aborted) return new CliError(this.#t('interrupted'), EXIT.interrupted);
    if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') {
      return new CliError(this.#t('noDaemon', { path: this.socket }), EXIT.noDaemon);
    }
    if (error.code === 'EACCES')
      return new CliError(this.#t('notYours', { path: this.socket }), EXIT.noDaemon);
    return new CliError(this.#t('broken', { why: error.code ?? error.message }), EXIT.noDaemon);
  }

  #exchange(
    method: string,
    path: string,
    body: object | undefined,
    headers: Record<string, string>,
  ): Promise<{ status: number; text: string }> {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const type = payload === undefined ? {} : { 'content-type': 'application/json' };
    return new Promise((done, fail) => {
      const req = httpRequest(
        {
          socketPath: this.socket,
          method,
          path,
          headers: { ...type, ...headers },
          agent: false,
          signal: this.#signal,
        },
        (response) => {
          if (response.headers[DAEMON_HEADER] === undefined)
            return giveUp(this.#t('notADaemon', { path: this.socket }));
          const chunks: Buffer[] = [];
          let bytes = 0;
          response.on('data', (chunk: Buffer) => {
            chunks.push(chunk);
            bytes += chunk.length;
            if (bytes > MAX_ANSWER_BYTES) giveUp(this.#t('broken', { why: `> ${MAX_ANSWER_BYTES} bytes` }));
          });
          response.on('error', (error) => fail(this.connectionError(error)));
          response.on('end', () =>
            done({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
          );
        },
      );
      const giveUp = (why: string) => {
        fail(new CliError(why, EXIT.noDaemon));
        req.destroy();
      };
      const late = setTimeout(() => giveUp(this.#t('noAnswer', { seconds: TIMEOUT_MS / 1000 })), TIMEOUT_MS);
      req.on('close', () => clearTimeout(late));
      req.on('error', (error) => fail(this.connectionError(error)));
      req.end(payload);
    });
  }
}

function parsed(text: string): object | null {
  try {
    const json: unknown = JSON.parse(text);
    return json !== null && typeof json === 'object' ? json : null;
  } catch {
    return null;
  }
}

function errorOf(json: object | null): { code?: string; message?: string } {
  const error = json === null ? null : (json as { error?: unknown }).error;
  return error !== null && typeof error === 'object' ? error : {};
}

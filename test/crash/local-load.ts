/**
 * What people and programs at the robot ask for meanwhile: over its local API, and now and then with the real command
 * line. Who got no answer, because the robot died, asks again under the same key until there is one.
 */
import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { entryPath } from '../../config/contracts/entry.js';
import { socketPath } from '../../daemon/api/socket-path.js';
import type { CommandBook } from './command-book.js';
import { asObject, asText, parseObject } from './json.js';
import { type Bell, sleep } from './waiting.js';

export interface LocalLoadDeps {
  stateDir: string;
  commands: CommandBook;
  bell: Bell;
  random: () => number;
}

const PAUSE_MS = { least: 300, most: 1200 };
const AGAIN_MS = 150;
const ANSWER_MS = 10_000;
/** Of all deeds; a process costs more than everything else here. */
const CLI_SHARE = 0.06;
const CLI_MS = 20_000;

export class LocalLoad {
  readonly #deps: LocalLoadDeps;
  readonly #prefix: string;
  readonly #pending = new Set<Promise<void>>();
  #n = 0;
  #stopping = false;
  #running: Promise<void> | null = null;
  /** Real command lines that were run to their end. */
  commandLines = 0;

  constructor(deps: LocalLoadDeps, prefix: string) {
    this.#deps = deps;
    this.#prefix = prefix;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Asks for nothing new; resolves when everything that was asked for is answered. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#deps.bell.ring();
    await this.#running;
    await Promise.all(this.#pending);
  }

  async #run(): Promise<void> {
    const { random, bell } = this.#deps;
    while (!this.#stopping) {
      await bell.until(() => this.#stopping, PAUSE_MS.least + random() * (PAUSE_MS.most - PAUSE_MS.least));
      if (this.#stopping) return;
      const deed = random() < CLI_SHARE ? this.#commandLine() : this.#submit();
      this.#pending.add(deed);
      void deed.finally(() => this.#pending.delete(deed));
    }
  }

  async #submit(): Promise<void> {
    const { commands } = this.#deps;
    this.#n += 1;
    const key = `l-${this.#prefix}-${this.#n}`;
    const id = `api:${key}`;
    const text = JSON.stringify({ method: 'syncState', params: {} });
    commands.sent({ id, kind: 'task', what: 'syncState over the API', text: null });
    for (;;) {
      const answer = await this.#post('/api/tasks', text, key);
      if (answer !== null) {
        commands.answered(JSON.stringify({ ...answer, command_id: id }));
        return;
      }
      await sleep(AGAIN_MS);
    }
  }

  /** Null while nobody answers, or the daemon is still starting. */
  #post(path: string, body: string, key: string): Promise<object | null> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': key };
    return new Promise((resolve) => {
      const options = {
        socketPath: socketPath(this.#deps.stateDir),
        method: 'POST',
        path,
        headers,
        agent: false,
      };
      const req = request({ ...options, timeout: ANSWER_MS }, (res) => {
        let text = '';
        res.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        res.on('error', () => resolve(null));
        res.on('end', () => resolve(readAnswer(res.statusCode ?? 0, text)));
        res.on('close', () => resolve(null));
      });
      req.on('timeout', () => req.destroy());
      req.on('error', () => resolve(null));
      req.end(body);
    });
  }

  /** What a person types. Without an answer nobody was promised anything. */
  async #commandLine(): Promise<void> {
    const { stateDir, commands } = this.#deps;
    const args = ['task', 'submit', 'syncState', '{}', '--json', '--state-dir', stateDir];
    const { code, out } = await runCli(args);
    this.commandLines += 1;
    const answer = parseObject(out);
    const id = asText(answer?.command_id);
    if (code !== 0 || answer === null || id === null) return;
    commands.sent({ id, kind: 'task', what: 'syncState by the command line', text: null });
    commands.answered(out);
  }
}

function readAnswer(status: number, text: string): object | null {
  const body = parseObject(text);
  if (status === 202) return body;
  const error = asObject(body?.error);
  const code = asText(error?.code);
  if (code === null || code === 'CAPABILITY_UNAVAILABLE') return null;
  return { status: 'rejected', reason_code: code, message: asText(error?.message), duplicate: false };
}

function runCli(args: string[]): Promise<{ code: number | null; out: string }> {
  const child = spawn(process.execPath, [entryPath(import.meta.url, '../../daemon/cli/main.js'), ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk;
  });
  const late = setTimeout(() => child.kill('SIGKILL'), CLI_MS);
  return new Promise((resolve) => {
    child.once('error', () => resolve({ code: null, out }));
    child.once('close', (code) => {
      clearTimeout(late);
      resolve({ code, out });
    });
  });
}

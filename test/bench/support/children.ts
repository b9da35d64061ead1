/**
 * The processes a benchmark starts: forked from `dist/`, watched, and gone when the benchmark is, however that
 * ends. Messages go over the IPC channel; each side checks what it takes.
 */
import { type ChildProcess, fork } from 'node:child_process';
import type { z } from 'zod';
import { entryPath } from '../../../config/contracts/entry.js';

export interface ChildOptions {
  args?: readonly string[];
  env?: NodeJS.ProcessEnv;
  execArgv?: readonly string[];
  /** Where its output goes; default: standard error of this process. */
  output?: number;
}

const STOP_MS = 10_000;
const alive = new Set<ChildProcess>();

/** Kills whatever is still running; for the end of this process. */
export function killChildren(): void {
  for (const child of alive) child.kill('SIGKILL');
}

export class Child {
  readonly #process: ChildProcess;
  readonly #name: string;
  readonly #inbox: unknown[] = [];
  #wake: () => void = () => {};
  #over: string | null = null;

  private constructor(name: string, process: ChildProcess) {
    this.#name = name;
    this.#process = process;
    alive.add(process);
    process.on('message', (message) => {
      this.#inbox.push(message);
      this.#wake();
    });
    process.once('error', (error) => this.#ended(error.message));
    process.once('exit', (code, signal) => this.#ended(signal ?? `exit code ${code}`));
  }

  /** `entry` is relative to the module whose `import.meta.url` is `base`. */
  static start(base: string, entry: string, options: ChildOptions = {}): Child {
    const output = options.output ?? 'inherit';
    const process = fork(entryPath(base, entry), [...(options.args ?? [])], {
      stdio: ['ignore', output === 'inherit' ? 2 : output, output === 'inherit' ? 2 : output, 'ipc'],
      execArgv: [...(options.execArgv ?? [])],
      ...(options.env === undefined ? {} : { env: options.env }),
    });
    return new Child(entry, process);
  }

  get pid(): number {
    const { pid } = this.#process;
    if (pid === undefined) throw new Error(`${this.#name} did not start`);
    return pid;
  }

  send(message: object): void {
    this.#process.send(message);
  }

  /** Drops what has arrived so far. */
  forget(): void {
    this.#inbox.length = 0;
  }

  /** The next message of this shape; others are dropped. Rejects when the process ends first. */
  async next<T>(schema: z.ZodType<T>, what: string, timeoutMs = 60_000): Promise<T> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      while (this.#inbox.length > 0) {
        const parsed = schema.safeParse(this.#inbox.shift());
        if (parsed.success) return parsed.data;
      }
      if (this.#over !== null) throw new Error(`${this.#name} ended (${this.#over}) before ${what}`);
      const left = deadline - performance.now();
      if (left <= 0) throw new Error(`${this.#name}: no ${what} within ${timeoutMs} ms`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** Asks it to end, and ends it when it does not; resolves when it is gone. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    if (this.#over !== null) return;
    const gone = new Promise<void>((resolve) => this.#process.once('exit', () => resolve()));
    this.#process.kill(signal);
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), STOP_MS);
    await gone;
    clearTimeout(timer);
  }

  #ended(how: string): void {
    this.#over = how;
    alive.delete(this.#process);
    this.#wake();
  }
}

/** In the child: what it was started with. */
export function childOptions<T>(schema: z.ZodType<T>): T {
  return schema.parse(JSON.parse(process.argv[2] ?? '{}'));
}

/** In the child: tells whoever started it; resolves when the message has left. */
export function tell(message: object): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
}

/** In the child: ends with whoever started it. */
export function endWithParent(): void {
  process.once('disconnect', () => process.exit(0));
}

/** The command line in this process: what it prints is kept, what it reads is given. */
import { PassThrough, Readable } from 'node:stream';
import type { Io } from '../../../daemon/cli/io.js';
import { runCli } from '../../../daemon/cli/program.js';

export interface Ran {
  code: number;
  out: string;
  err: string;
}

export interface RunOptions {
  lang?: string;
  stdin?: string;
  env?: NodeJS.ProcessEnv;
  columns?: number;
}

export class Terminal {
  readonly #interrupting = new AbortController();
  readonly #out = new Output();
  readonly #err = new Output();
  readonly done: Promise<Ran>;

  /** Starts `deviceagent ...argv`. */
  constructor(
    argv: string[],
    { lang = 'en_US.UTF-8', stdin = '', env = {}, columns = 160 }: RunOptions = {},
  ) {
    const io: Io = {
      env: { LANG: lang, PATH: process.env.PATH, ...env },
      stdin: Readable.from([stdin]),
      stdout: this.#out.asTerminal(columns),
      stderr: this.#err.asTerminal(columns),
      interrupted: this.#interrupting.signal,
    };
    this.done = runCli(argv, io).then((code) => ({ code, out: this.out, err: this.err }));
  }

  get out(): string {
    return this.#out.text;
  }
  get err(): string {
    return this.#err.text;
  }
  /** Ctrl-C. */
  interrupt(): void {
    this.#interrupting.abort(new Error('interrupted'));
  }
}

export function run(argv: string[], options: RunOptions = {}): Promise<Ran> {
  return new Terminal(argv, options).done;
}

class Output {
  text = '';
  readonly #stream = new PassThrough();

  constructor() {
    this.#stream.on('data', (chunk) => {
      this.text += String(chunk);
    });
  }

  /** No terminal, but with a width: what a pipe with COLUMNS set looks like. */
  asTerminal(columns: number): NodeJS.WriteStream {
    return Object.assign(this.#stream, { columns, isTTY: false }) as unknown as NodeJS.WriteStream;
  }
}

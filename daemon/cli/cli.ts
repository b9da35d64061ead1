/** What every command gets: the daemon's client, the language, and ways to print for people and for scripts. */
import { resolve } from 'node:path';
import { ApiClient } from './client/api-client.js';
import { runningStateDir } from './default-state-dir.js';
import type { Io } from './io.js';
import { type Language, languageOf, type Translate, translator } from './language.js';
import { textTable } from './text-table.js';

/** The options that every command has. */
export interface CommonOptions {
  stateDir?: string;
  json?: boolean;
}

export class Cli {
  readonly io: Io;
  readonly stateDir: string;
  readonly json: boolean;
  readonly language: Language;
  readonly t: Translate;
  readonly client: ApiClient;

  constructor(io: Io, options: CommonOptions) {
    this.io = io;
    this.stateDir = resolve(options.stateDir ?? runningStateDir(io.env));
    this.json = options.json ?? false;
    this.language = languageOf(io.env);
    this.t = translator(this.language);
    this.client = new ApiClient(this.stateDir, this.t, this.language, io.interrupted);
  }

  line(text: string): void {
    this.io.stdout.write(`${text}\n`);
  }

  /** To standard error: what is not the result, so that pipes stay clean. */
  note(text: string): void {
    this.io.stderr.write(`${text}\n`);
  }

  /** The result: JSON for scripts, otherwise what `people` makes of it. */
  result(value: unknown, people: () => string): void {
    this.line(this.json ? JSON.stringify(value, null, 2) : people());
  }

  /** A table as wide as the terminal. */
  table(heads: readonly string[], rows: readonly (readonly (string | null)[])[]): string {
    return textTable(heads, rows, this.io.stdout.columns || undefined);
  }

  /** One line of JSON, for streams. */
  jsonLine(value: unknown): void {
    this.line(JSON.stringify(value));
  }
}

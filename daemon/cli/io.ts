/** What a command reads and writes; the process's own in production, in-memory ones in tests. */

export interface Io {
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadableStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  /** Aborted when the person presses Ctrl-C. */
  interrupted: AbortSignal;
}

/** Exit codes that scripts can rely on. */
export const EXIT = {
  ok: 0,
  /** Refused, or ended other than COMPLETED. */
  failed: 1,
  /** Wrong usage. */
  usage: 2,
  /** No daemon answers. */
  noDaemon: 3,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

/** A failure that is the person's to mend: one line, no stack. */
export class CliError extends Error {
  override readonly name = 'CliError';
  constructor(
    message: string,
    readonly exitCode: number = EXIT.failed,
    /** As the API answered, for `--json`. */
    readonly body: object | null = null,
  ) {
    super(message);
  }
}

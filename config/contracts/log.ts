/** What a part needs of the structured log; a pino logger has this shape. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** For tests and tools that want silence. */
export const SILENT_LOG: Log = { debug() {}, info() {}, warn() {}, error() {} };

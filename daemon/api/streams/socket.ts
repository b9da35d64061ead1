/** What a stream needs of a WebSocket; `ws` satisfies it, and tests can be slow on purpose. */
export interface StreamSocket {
  readonly bufferedAmount: number;
  readonly readyState: number;
  send(data: string, done: (error?: Error | null) => void): void;
  ping(): void;
  close(code: number, reason: string): void;
  terminate(): void;
  on(event: 'pong' | 'close', listener: () => void): unknown;
}

/** One that its client writes to as well. */
export interface TalkingSocket extends StreamSocket {
  on(event: 'pong' | 'close', listener: () => void): unknown;
  on(event: 'message', listener: (data: { toString(): string }) => void): unknown;
}

export const OPEN = 1;

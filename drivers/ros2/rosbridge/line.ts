/** What carries rosbridge messages: text, one JSON document a message, both ways. */

export interface RosbridgeConnection {
  /** False when it is closed or too much is waiting to be sent; never waits. */
  send(text: string): boolean;
  /** Sets the one listener; what arrived before is kept for it (bounded). */
  onText(listener: (text: string) => void): void;
  /** Called exactly once, whoever closed it. */
  onClose(listener: (reason: string) => void): void;
  close(): void;
}

/** Rejects with an Error that names the address and says what to check. */
export type OpenRosbridge = (signal: AbortSignal) => Promise<RosbridgeConnection>;

/** More than this waiting to be sent and further messages are dropped: a bridge that does not read, bytes. */
export const SEND_LIMIT = 1024 * 1024;
/** Largest message taken from a bridge, bytes: a map of 2000 x 2000 cells as JSON fits. */
export const RECEIVE_LIMIT = 24 * 1024 * 1024;

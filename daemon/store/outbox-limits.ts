/** How much the outbox may hold, and what gives way when it is full. Pure decisions. */

export interface OutboxLimits {
  /** Unsent rows of all lanes, and their bytes. */
  maxRows: number;
  maxBytes: number;
  /**
   * The last part of both limits is kept for the end of work already accepted: new work is refused when less than
   * this fraction is left.
   */
  reserve: number;
  /** Unsent telemetry rows; over it the oldest are dropped. */
  maxTelemetryRows: number;
  /** Dead letters wait for a person; when so many do, new work is refused as well. */
  maxDeadRows: number;
  /** Ordered rows kept after they were sent, for `events --since`. */
  historyRows: number;
}

export const DEFAULT_OUTBOX_LIMITS: OutboxLimits = {
  maxRows: 500_000,
  maxBytes: 256 * 1024 * 1024,
  reserve: 0.1,
  maxTelemetryRows: 2_000,
  maxDeadRows: 10_000,
  historyRows: 2_000,
};

export interface OutboxFill {
  rows: number;
  bytes: number;
  telemetryRows: number;
  deadRows: number;
  deadBytes: number;
}

/** Whether the end of newly accepted work could still be kept. */
export function hasRoom(fill: OutboxFill, limits: OutboxLimits): boolean {
  const part = 1 - limits.reserve;
  return (
    fill.rows < limits.maxRows * part &&
    fill.bytes + fill.deadBytes < limits.maxBytes * part &&
    fill.deadRows < limits.maxDeadRows
  );
}

/** Full to the brim: what may be missed is not taken any more. Ends of tasks always are. */
export function isFull(fill: OutboxFill, limits: OutboxLimits): boolean {
  return fill.rows >= limits.maxRows || fill.bytes + fill.deadBytes >= limits.maxBytes;
}

/** How many of the oldest telemetry rows go before one more is taken. */
export function telemetryToDrop(fill: OutboxFill, limits: OutboxLimits): number {
  if (!hasRoom(fill, limits)) return fill.telemetryRows;
  return Math.max(0, fill.telemetryRows + 1 - limits.maxTelemetryRows);
}

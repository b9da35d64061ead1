/** What the API counts about itself, for `/metrics`. */
export interface ApiCounters {
  requests: number;
  authFailures: number;
  throttled: number;
  refusedOrigins: number;
  refusedRequests: number;
  internalErrors: number;
  /** Display frames and telemetry not sent because a client reads too slowly. */
  streamDropped: number;
  streamTerminated: number;
  streamClients: number;
}

export function newCounters(): ApiCounters {
  return {
    requests: 0,
    authFailures: 0,
    throttled: 0,
    refusedOrigins: 0,
    refusedRequests: 0,
    internalErrors: 0,
    streamDropped: 0,
    streamTerminated: 0,
    streamClients: 0,
  };
}

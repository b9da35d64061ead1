/** Talking to the robot: requests, and streams that come back by themselves. */

export class RequestError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Called once when the session has ended. */
let onSignedOut = () => {};
export function whenSignedOut(listener) {
  onSignedOut = listener;
}

/** GET, or POST with a body. Resolves to the JSON; rejects with `RequestError`, code `UNREACHABLE` without an answer. */
export async function request(path, body) {
  let response;
  try {
    response = await fetch(path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
  } catch {
    throw new RequestError('UNREACHABLE', '');
  }
  if (response.status === 401) onSignedOut();
  const answer = await response.json().catch(() => null);
  if (response.ok) return answer;
  throw new RequestError(answer?.error?.code ?? 'INTERNAL_ERROR', answer?.error?.message ?? '');
}

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 8000;
const SESSION_ENDED = 4401;

/** Opens a WebSocket and opens it again, more and more slowly, whenever it is lost. */
export class Stream {
  #address;
  #onMessage;
  #onState;
  #retryMs = FIRST_RETRY_MS;
  #timer = null;

  /** `address()` gives the path each time, so that a stream can go on where it stopped. */
  constructor(address, onMessage, onState = () => {}) {
    this.#address = address;
    this.#onMessage = onMessage;
    this.#onState = onState;
    this.#open();
  }

  #open() {
    this.#timer = null;
    const url = new URL(this.#address(), location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(url);
    socket.onopen = () => {
      this.#retryMs = FIRST_RETRY_MS;
      this.#onState(true);
    };
    socket.onmessage = ({ data }) => this.#onMessage(JSON.parse(data));
    socket.onclose = ({ code }) => {
      this.#onState(false);
      if (code === SESSION_ENDED) return onSignedOut();
      // A refused handshake tells a page nothing; a plain request shows whether the session still holds.
      request('/api/status').catch(() => {});
      this.#timer ??= setTimeout(() => this.#open(), this.#retryMs);
      this.#retryMs = Math.min(LAST_RETRY_MS, this.#retryMs * 2);
      return undefined;
    };
  }
}

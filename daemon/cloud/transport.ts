/** Opens the byte stream to the broker for each kind of address. */
import { isIP, connect as tcpConnect } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import { createWebSocketStream, WebSocket } from 'ws';
import type { CloudOptions } from './types.js';

const DEFAULT_PORTS: Record<string, number> = { 'mqtt:': 1883, 'mqtts:': 8883 };

/** Milliseconds of silence after which the kernel probes the peer; a second net under MQTT's own keepalive. */
const TCP_KEEPALIVE_MS = 30_000;

/** The stream is returned at once; failure to connect arrives as its `error` and `close`. */
export function openTransport(options: CloudOptions): Duplex {
  const url = new URL(options.url);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const tls = {
    ...(options.ca === null ? {} : { ca: options.ca }),
    ...(options.cert === null ? {} : { cert: options.cert }),
    ...(options.key === null ? {} : { key: options.key }),
  };
  const port = url.port === '' ? DEFAULT_PORTS[url.protocol] : Number(url.port);
  switch (url.protocol) {
    case 'mqtt:': {
      const socket = tcpConnect({ host, port: port ?? 1883, noDelay: true });
      socket.setKeepAlive(true, TCP_KEEPALIVE_MS);
      return socket;
    }
    case 'mqtts:': {
      // RFC 6066 §3: an address is no server name.
      const name = isIP(host) === 0 ? { servername: host } : {};
      const socket = tlsConnect({ host, port: port ?? 8883, ...name, ...tls });
      socket.setNoDelay(true);
      socket.setKeepAlive(true, TCP_KEEPALIVE_MS);
      return socket;
    }
    case 'ws:':
    case 'wss:':
      return createWebSocketStream(new WebSocket(url, ['mqtt'], { ...tls, perMessageDeflate: false }));
    default:
      throw new Error(`cloud.url: ${url.protocol}// is not allowed; use mqtt://, mqtts://, ws:// or wss://`);
  }
}

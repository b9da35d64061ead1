/**
 * Host and origin checks. A web page elsewhere can make a browser talk to this port: under the attacker's own
 * name when DNS is rebound to 127.0.0.1, and by opening a WebSocket, which no same-origin policy stops.
 */
import { isIPv6 } from 'node:net';
import { ApiError } from '../http/errors.js';

const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/** As it stands in a URL. */
export function urlHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/** The names (without port) under which this API answers. */
export function allowedNames(boundHost: string, configured: readonly string[]): ReadonlySet<string> {
  const bound = ['0.0.0.0', '::'].includes(boundHost) ? [] : [urlHost(boundHost)];
  return new Set([...LOOPBACK_NAMES, ...bound, ...configured].map((name) => name.toLowerCase()));
}

export interface OriginHeaders {
  host: string | undefined;
  origin: string | undefined;
  fetchSite: string | undefined;
}

/** The port may differ from ours (a tunnel); the name may not, because the name is what an attacker controls. */
export function checkHost(headers: OriginHeaders, names: ReadonlySet<string>): void {
  const name = headers.host?.toLowerCase().replace(/:\d{1,5}$/, '');
  if (name !== undefined && names.has(name)) return;
  throw new ApiError(421, 'POLICY_DENIED', `Host is none of ${[...names].join(', ')}`, 'Host');
}

/** An `Origin`, where there is one, has to be this very address. */
export function checkOrigin(headers: OriginHeaders): void {
  const { host, origin } = headers;
  if (origin === undefined) return;
  const own = host?.toLowerCase();
  if (origin.toLowerCase() === `http://${own}` || origin.toLowerCase() === `https://${own}`) return;
  throw new ApiError(403, 'POLICY_DENIED', 'requests from pages of another origin are refused', 'Origin');
}

/**
 * For requests that carry the session cookie. Browsers name the origin of everything that can change something
 * and of every WebSocket. Other ports of this machine are the same *site*, so `SameSite` alone lets their
 * pages in: what the browser says about where the request comes from is looked at, too.
 */
export function checkBrowser(headers: OriginHeaders, mustNameOrigin: boolean): void {
  if (mustNameOrigin && headers.origin === undefined) {
    throw new ApiError(403, 'POLICY_DENIED', 'a console session needs the Origin header here', 'Origin');
  }
  const site = headers.fetchSite;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw new ApiError(
      403,
      'POLICY_DENIED',
      'requests from pages of another origin are refused',
      'Sec-Fetch-Site',
    );
  }
}

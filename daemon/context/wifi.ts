/**
 * The Wi-Fi state, where the host reports it. Source: `/proc/net/wireless` of Linux (wireless extensions). The
 * network's name is left out: it says where somebody lives.
 */
import { readFileSync } from 'node:fs';
import type { Clock } from '../../config/contracts/clock.js';

export interface WifiState {
  interface: string;
  /** Received signal, dBm; null where the driver gives another unit. */
  signal_dbm: number | null;
}

const FILE = '/proc/net/wireless';
/** How long one look counts, ms. */
const LOOK_MS = 5000;
/** `wlan0: 0000   54.  -56.  -256 …`: interface, status, quality of the link, level, noise. */
const LINE = /^\s*([\w.-]+):\s+[0-9a-f]+\s+-?\d+\.?\s+(-?\d+)\.?\s/;

/** The first wireless interface of the file's text; null without one. */
export function parseWireless(text: string): WifiState | null {
  for (const line of text.split('\n')) {
    const [, name, level] = LINE.exec(line) ?? [];
    if (name === undefined) continue;
    const signal = Number(level);
    return { interface: name, signal_dbm: signal < 0 && signal > -130 ? signal : null };
  }
  return null;
}

/** Looks at most every 5 s. `read` gives the file's text and throws where there is none. */
export function hostWifi(
  clock: Clock,
  read: () => string = () => readFileSync(FILE, 'utf8'),
): () => WifiState | null {
  let seen: WifiState | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.mono();
    if (now - lookedAt < LOOK_MS) return seen;
    lookedAt = now;
    try {
      seen = parseWireless(read());
    } catch {
      seen = null;
    }
    return seen;
  };
}

/** Waiting for what other processes, sockets and threads do: as long as a busy machine may need, and no longer. */
import { vi } from 'vitest';

const PATIENCE_MS = 15_000;

/** Resolves once `test` gives true; rejects when it has not within 15 s of wall time. */
export async function until(test: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitUntil(test, { timeout: PATIENCE_MS, interval: 10 });
}

/** How a test of this folder gets a home: its own, or one that the tests of a `describe` share. */
import { afterAll, beforeAll, expect, vi } from 'vitest';
import type { DeviceContextV1 } from '../../../config/contracts/wire/context.js';
import { Home, type HomeOptions } from '../../support/home.js';
import { Witness } from './witness.js';

// Simulated time costs real time, more of it on a machine that is busy with other things.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

export interface InHome {
  home: Home;
  witness: Witness;
}

export async function openHome(options: HomeOptions = {}): Promise<InHome> {
  const home = await Home.start({ seed: 1, network: 'simulated', ...options });
  return { home, witness: await Witness.of(home) };
}

export async function closeHome({ home, witness }: InHome): Promise<void> {
  await witness.close();
  await home.stop();
}

/** Runs `test` in a home of its own, and looks at the end that the lane to the cloud was clean. */
export async function inHome(options: HomeOptions, test: (place: InHome) => Promise<void>): Promise<void> {
  const place = await openHome(options);
  try {
    await test(place);
    expectCleanLane(place);
  } finally {
    await closeHome(place);
  }
}

/** One home for all tests of a `describe`. */
export function sharedHome(options: HomeOptions = {}): InHome {
  const shared: Partial<InHome> = {};
  beforeAll(async () => {
    Object.assign(shared, await openHome(options));
  });
  afterAll(async () => {
    await closeHome(shared as InHome);
  });
  return shared as InHome;
}

/** Nothing missing, nothing twice under two keys, nothing out of order, one end each; every tick settled. */
export function expectCleanLane({ home }: InHome): void {
  const { problems, missing, deadLettered } = home.cloud.report();
  expect({ problems, missing, deadLettered }).toEqual({ problems: [], missing: [], deadLettered: 0 });
  expect(home.session.unsettled.ticks).toBe(0);
}

/** The robot's planning context, asked for as a cloud does. */
export async function contextOf(home: Home): Promise<DeviceContextV1> {
  const query = { kind: 'query', method: 'getDevicePlanningContext', params: { version: 1 } };
  const { status, message, result } = await home.command(query);
  if (status !== 'accepted') throw new Error(`no context: ${message}`);
  return result as DeviceContextV1;
}

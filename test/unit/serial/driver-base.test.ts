import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OpenPort, PortConnection } from '../../../config/contracts/port.js';
import { SimClock, settle } from '../../../config/contracts/sim-clock.js';
import { backoffDelay, DEFAULT_BACKOFF } from '../../../drivers/serial/backoff.js';
import { SerialDriverBase, type SerialDriverOptions } from '../../../drivers/serial/driver-base.js';
import type { LinkChange } from '../../../drivers/serial/types.js';
import { bench, toHex } from './support.js';

/** A device whose every byte is a valid frame, and that says hello. */
class EchoDriver extends SerialDriverBase {
  readonly log_: string[] = [];
  constructor(options: SerialDriverOptions) {
    super(options, { name: 'echo', silenceMs: 1000, silencesBeforeReopen: 3, counters: ['frames'] });
  }
  say(bytes: Uint8Array): boolean {
    return this.send(bytes);
  }
  protected override beforeInput(): void {
    this.send(Uint8Array.of(0x01));
  }
  protected override onOpen(): void {
    this.log_.push('open');
    this.send(Uint8Array.of(0x02));
  }
  protected override onBytes(bytes: Uint8Array): void {
    this.log_.push(toHex(bytes));
    this.count('frames', bytes.length);
    this.heard();
  }
  protected override onClosed(): void {
    this.log_.push('closed');
  }
  protected override onSilent(nth: number): void {
    this.log_.push(`silent ${nth}`);
  }
  protected override beforeStop(): void {
    this.send(Uint8Array.of(0x03));
  }
}

function start(options: Partial<SerialDriverOptions> = {}) {
  const b = bench('echo');
  const driver = new EchoDriver({ ...b.options, ...options });
  const links: LinkChange[] = [];
  driver.onLink((change) => links.push(change));
  return { ...b, driver, links };
}

/** When each attempt to open a port that is not there was made, ms. */
async function attempts(random: () => number, forMs: number): Promise<number[]> {
  const clock = new SimClock(0);
  const at: number[] = [];
  const open: OpenPort = async () => {
    at.push(clock.mono());
    throw new Error('/dev/nothing: no such device');
  };
  const driver = new EchoDriver({ open, clock, random });
  driver.start();
  await settle();
  await clock.advanceAsync(forMs);
  await driver.stop();
  return at;
}

describe('a serial driver', () => {
  it('opens its port, throws away what is stale, and reads', async () => {
    const { driver, device, take } = start();
    driver.start();
    device.write(Uint8Array.of(0xee));
    await settle();
    device.write(Uint8Array.of(0x41));
    expect(take()).toEqual(['01', '02']);
    expect(driver.log_).toEqual(['open', '41']);
    expect(driver.connected).toBe(true);
  });

  it('tries again with growing pauses, at most 5 s, until the device is there', async () => {
    const at = await attempts(() => 0, 20_000);
    const pauses = at.slice(1).map((t, i) => t - (at[i] ?? 0));
    expect(pauses.slice(0, 7)).toEqual([200, 400, 800, 1600, 3200, 5000, 5000]);
  });

  it('spreads its attempts with the random generator it was given', async () => {
    const at = await attempts(() => 0.999, 2000);
    expect(at[1]).toBeCloseTo(200 * 0.7, 0);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.double({ min: 0, max: 0.999999, noNaN: true }),
        (n, r) => {
          const ms = backoffDelay(n, DEFAULT_BACKOFF, () => r);
          expect(ms).toBeGreaterThan(0);
          expect(ms).toBeLessThanOrEqual(DEFAULT_BACKOFF.maxMs);
        },
      ),
    );
  });

  it('says once why it is not connected, and again only when the reason changes', async () => {
    const { driver, device, links, clock } = start();
    device.unplug();
    driver.start();
    await clock.advanceAsync(10_000);
    expect(links).toEqual([{ connected: false, reason: 'echo: no such device; is it plugged in?' }]);
    expect(driver.counters().open_failures).toBeGreaterThan(4);
    device.plug();
    await turnUntilOpen(clock, () => device.hostConnected);
    device.write(Uint8Array.of(1));
    expect(links.at(-1)).toEqual({ connected: true, reason: 'answers' });
  });

  it('comes back after unplugging and plugging, as often as that happens', async () => {
    const { driver, device, links, clock } = start();
    driver.start();
    for (let i = 0; i < 5; i++) {
      await turnUntilOpen(clock, () => device.hostConnected);
      for (let t = 0; t < 6000; t += 500) {
        device.write(Uint8Array.of(0x10 + i));
        await clock.advanceAsync(500);
      }
      expect(driver.connected).toBe(true);
      device.unplug();
      expect(driver.connected).toBe(false);
      await clock.advanceAsync(3000);
      device.plug();
    }
    expect(driver.counters()).toMatchObject({ opens: 5, reconnects: 4, frames: 60 });
    expect(links.filter((l) => l.connected)).toHaveLength(5);
    expect(driver.portCounts()).toEqual({ rx: 60, tx: 10, opens: 5 });
  });

  it('keeps its pauses growing for a port that opens and breaks at once', async () => {
    const { driver, device, clock } = start();
    driver.start();
    await settle();
    for (let i = 0; i < 20; i++) {
      device.unplug();
      device.plug();
      await clock.advanceAsync(500);
    }
    expect(driver.counters().opens ?? 0).toBeLessThan(9);
  });

  it('notices a device that fell silent, and opens the port anew when it stays so', async () => {
    const { driver, device, links, clock } = start();
    driver.start();
    await settle();
    device.write(Uint8Array.of(7));
    await clock.advanceAsync(1000);
    expect(driver.connected).toBe(false);
    expect(links.at(-1)?.reason).toBe('nothing valid received for 1000 ms');
    await clock.advanceAsync(2500);
    expect(driver.log_).toEqual(['open', '07', 'silent 1', 'silent 2', 'closed', 'open']);
    expect(driver.counters()).toMatchObject({ silences: 3, reconnects: 1 });
  });

  it('counts what could not be sent', async () => {
    const { driver, device } = start();
    expect(driver.say(Uint8Array.of(9))).toBe(false);
    driver.start();
    await settle();
    expect(driver.say(Uint8Array.of(9))).toBe(true);
    device.unplug();
    expect(driver.say(Uint8Array.of(9))).toBe(false);
    expect(driver.counters().writes_refused).toBe(2);
  });

  it('sends its last words, lets go of the port and stays away when stopped', async () => {
    const { driver, device, take, clock, links } = start();
    driver.start();
    await settle();
    take();
    await driver.stop();
    expect(take()).toEqual(['03']);
    expect(device.hostConnected).toBe(false);
    expect(clock.nextDue()).toBeNull();
    await clock.advanceAsync(60_000);
    expect(driver.counters().opens).toBe(1);
    expect(links.at(-1)).toEqual({ connected: false, reason: 'stopped' });
  });

  it('can be stopped while its port opens, and closes a port that opens too late', async () => {
    const clock = new SimClock(0);
    const late = deferredPort();
    const driver = new EchoDriver({ open: late.open, clock, random: () => 0 });
    driver.start();
    await settle();
    const stopped = driver.stop();
    late.resolve();
    await stopped;
    await settle();
    expect(late.closed()).toBe(true);
    expect(driver.log_).toEqual([]);
  });

  it('gives up on a port that never finishes opening, and tries again', async () => {
    const clock = new SimClock(0);
    let calls = 0;
    const open: OpenPort = () => {
      calls += 1;
      return new Promise(() => {});
    };
    const driver = new EchoDriver({ open, clock, random: () => 0 });
    const links: LinkChange[] = [];
    driver.onLink((l) => links.push(l));
    driver.start();
    await clock.advanceAsync(11_000);
    expect(calls).toBe(3);
    expect(links[0]?.reason).toBe('echo: the port did not open within 5000 ms');
  });
});

async function turnUntilOpen(clock: SimClock, open: () => boolean): Promise<void> {
  for (let t = 0; t < 60 && !open(); t++) await clock.advanceAsync(100);
  await settle();
}

function deferredPort() {
  let closed = false;
  let resolve: (connection: PortConnection) => void = () => {};
  const connection: PortConnection = {
    onData: () => {},
    onClose: () => {},
    write: () => true,
    discardInput: async () => {},
    close: async () => {
      closed = true;
    },
  };
  const open: OpenPort = () =>
    new Promise((r) => {
      resolve = r;
    });
  return { open, resolve: () => resolve(connection), closed: () => closed };
}

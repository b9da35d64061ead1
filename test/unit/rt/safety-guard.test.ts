import { beforeEach, describe, expect, it } from 'vitest';
import type { CancelTimer, Clock } from '../../../config/contracts/clock.js';
import { SafetyGuard } from '../../../drivers/rt/safety/safety-guard.js';
import type { BaseFrame } from '../../../drivers/serial/types.js';

/** A clock whose timers are late when the process does not run: they fire when somebody looks. */
class LateClock implements Clock {
  time = 1000;
  #timers: { at: number; fn: () => void }[] = [];
  now = () => 1_790_000_000_000 + this.time;
  mono = () => this.time;
  wall = () => this.now();
  after(ms: number, fn: () => void): CancelTimer {
    const timer = { at: this.time + ms, fn };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((t) => t !== timer);
    };
  }
  every(): CancelTimer {
    throw new Error('not used');
  }
  /** Everything that is due by now, however late. */
  fire(): void {
    const due = this.#timers.filter((t) => t.at <= this.time);
    this.#timers = this.#timers.filter((t) => t.at > this.time);
    for (const { fn } of due) fn();
  }
}

describe('the safety guard of a process that was kept from running', () => {
  let clock: LateClock;
  let guard: SafetyGuard;
  let stops: number;
  let wheel = 0;

  const frame = (flags: Partial<BaseFrame> = {}): BaseFrame => ({
    at: clock.now(),
    mono: clock.mono(),
    bumpLeft: false,
    bumpRight: false,
    wheelDropLeft: false,
    wheelDropRight: false,
    cliffLeft: false,
    cliffFrontLeft: false,
    cliffFrontRight: false,
    cliffRight: false,
    overcurrentLeft: false,
    overcurrentRight: false,
    buttons: 0,
    irOmni: 0,
    irLeft: 0,
    irRight: 0,
    charging: false,
    docked: false,
    batteryPercent: 80,
    voltageMv: 15_000,
    currentMa: 0,
    wheelLeft: wheel,
    wheelRight: wheel,
    driveEnabled: true,
    ...flags,
  });
  const everythingArrives = () => {
    wheel += 0.01;
    guard.onHeartbeat();
    guard.onScan();
    guard.onFrame(frame());
  };

  beforeEach(() => {
    clock = new LateClock();
    stops = 0;
    const base = {
      stopNow: () => {
        stops += 1;
        return true;
      },
      disable: () => {},
      enable: () => {},
    };
    guard = new SafetyGuard({ clock, base, estop: { latched: false, by: null, at: null } });
    guard.commanded(true);
    for (let i = 0; i < 20; i++) {
      clock.time += 15;
      clock.fire();
      everythingArrives();
      expect(guard.check()).toBe(true);
    }
    stops = 0;
  });

  it('does not stop for beats that lie unread in its own socket', () => {
    clock.time += 450;
    clock.fire();
    expect(guard.check()).toBe(false);
    expect(stops).toBe(0);
    everythingArrives();
    clock.time += 5;
    clock.fire();
    expect(guard.check()).toBe(true);
    expect(guard.verdict).toMatchObject({ level: 'OK', active: [] });
    expect(stops).toBe(0);
    expect(guard.counters().safety_starved).toBe(1);
  });

  it('stops when nothing was waiting there either', () => {
    clock.time += 450;
    clock.fire();
    clock.time += 5;
    clock.fire();
    expect(stops).toBe(1);
    expect(guard.verdict.active).toEqual(['base_silent', 'lidar_stale', 'odometry_stale', 'daemon_silent']);
  });

  it('acts on what the base reports even then, at once', () => {
    clock.time += 450;
    guard.onFrame(frame({ bumpLeft: true }));
    expect(stops).toBe(1);
    expect(guard.verdict).toMatchObject({ level: 'CUT', active: ['bumper_left'] });
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DaemonToRt, RtToDaemon } from '../../../config/contracts/rt-protocol.js';
import { settle } from '../../../config/contracts/sim-clock.js';
import { DRIVE, Rig, STOP } from '../../support/rt/rig.js';

describe('the motion process', () => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await new Rig().start();
  });
  afterEach(() => rig.close());

  /** The reason with which `promise` is refused, once time has passed for the answer. */
  const refusal = async (promise: Promise<unknown>) => {
    const caught = promise.then(
      () => null,
      (error: unknown) => error,
    );
    await settle();
    return caught;
  };

  describe('at its start', () => {
    it('sends a stop to the base before anything else', () => {
      expect(rig.peer.received[0]?.command).toBe(STOP);
    });

    it('stops the base first each time it is plugged in again', async () => {
      await rig.drive();
      rig.line.device.unplug();
      await rig.run(500);
      const before = rig.peer.received.length;
      rig.line.device.plug();
      await rig.run(6000);
      expect(rig.peer.received[before]?.command).toBe(STOP);
      expect(rig.peer.stopped).toBe(true);
    });
  });

  describe('fencing', () => {
    it('refuses a start whose fence is older than the newest seen', async () => {
      await rig.client.start('new', DRIVE, 7);
      expect(await refusal(rig.client.start('old', DRIVE, 6))).toMatchObject({ reason: 'RESOURCE_BUSY' });
      await rig.run(500);
      expect(rig.state().action?.id).toBe('new');
    });

    it('takes the same fence again, and a newer one', async () => {
      await rig.client.start('a', DRIVE, 7);
      await rig.client.start('b', DRIVE, 7);
      await rig.client.start('c', DRIVE, 8);
      await rig.run(2000);
      expect(rig.state().action?.id).toBe('c');
    });

    it('never refuses a stop, whatever the fence and however wrong the message', async () => {
      await rig.drive('a', DRIVE, 9);
      const odd = { t: 'request', n: 77, request: { op: 'stop', reason: 4, extra: true } };
      rig.channel.send(odd as unknown as DaemonToRt);
      await rig.run(1500);
      expect(rig.peer.stopped).toBe(true);
      expect(rig.updates('stopped').map((u) => u.id)).toEqual(['a']);
    });

    it('stops without a base, without a lidar and with the e-stop latched', async () => {
      rig.line.device.unplug();
      rig.lidar.delivering = false;
      await rig.client.estop('test');
      await expect(rig.client.stop('test')).resolves.toBeUndefined();
    });
  });

  describe('what it refuses', () => {
    it('a start without a base: HARDWARE_FAULT', async () => {
      rig.line.device.unplug();
      await rig.run(500);
      expect(await refusal(rig.client.start('a', DRIVE, 1))).toMatchObject({ reason: 'HARDWARE_FAULT' });
    });

    it('a start while the e-stop is latched: EMERGENCY_STOP', async () => {
      await rig.client.estop('console');
      expect(await refusal(rig.client.start('a', DRIVE, 1))).toMatchObject({ reason: 'EMERGENCY_STOP' });
    });

    it('an action with a number that is none, naming the field', async () => {
      const error = await refusal(
        rig.client.start('a', { kind: 'drive', twist: { v: Number.NaN, w: 0 }, ttlMs: 300 }, 1),
      );
      expect(error).toMatchObject({ reason: 'INVALID_PARAMS' });
      expect(String(error)).toContain('request.action.twist.v');
      await rig.run(500);
      expect(rig.peer.stopped).toBe(true);
    });

    it('a map that cannot be read, saying why', async () => {
      const error = await refusal(rig.client.loadMap('/nowhere/map.yaml'));
      expect(error).toMatchObject({ reason: 'INVALID_PARAMS' });
      expect(String(error)).toContain('no such file');
    });

    it('a map while an action runs: ILLEGAL_STATE', async () => {
      await rig.drive();
      expect(await refusal(rig.client.loadMap('/maps/good.yaml'))).toMatchObject({ reason: 'ILLEGAL_STATE' });
    });

    it('what it does not understand, and goes on', async () => {
      for (const junk of [
        null,
        7,
        'stop',
        {},
        { t: 'request' },
        { t: 'request', n: 1, request: { op: 'fly' } },
      ]) {
        rig.channel.send(junk as unknown as DaemonToRt);
      }
      await rig.run(1100);
      expect(rig.state().counters.messages_invalid).toBe(6);
      await rig.drive();
      expect(rig.peer.stopped).toBe(false);
    });
  });

  describe('the e-stop', () => {
    it('cuts the drive, and is written down before it is confirmed', async () => {
      await rig.drive();
      await rig.client.estop('voice');
      expect(rig.peer.drives().at(-1)?.command).toBe(STOP);
      expect(rig.savedEstops).toMatchObject([{ latched: true, by: 'voice' }]);
      await rig.run(200);
      expect(rig.state().safety).toMatchObject({ level: 'CUT', estop: { latched: true, by: 'voice' } });
      expect(rig.peer.mode).toBe(1);
    });

    it('holds until a person releases it, and the robot drives again afterwards', async () => {
      await rig.client.estop('voice');
      await rig.run(5000);
      expect(rig.state().safety.level).toBe('CUT');
      await rig.client.releaseEstop('console');
      await rig.run(500);
      expect(rig.state().safety).toMatchObject({ level: 'OK', estop: { latched: false, by: null } });
      expect(rig.savedEstops.at(-1)).toMatchObject({ latched: false });
      await rig.drive();
      expect(rig.peer.stopped).toBe(false);
    });

    it('cannot be released while its button is held: ILLEGAL_STATE', async () => {
      rig.peer.flags.buttons = 1;
      await rig.run(200);
      expect(rig.state().safety.estop).toMatchObject({ latched: true, by: 'button' });
      expect(await refusal(rig.client.releaseEstop('console'))).toMatchObject({ reason: 'ILLEGAL_STATE' });
      rig.peer.flags.buttons = 0;
      await rig.run(200);
      expect(rig.state().safety.estop.latched).toBe(true);
      await rig.client.releaseEstop('console');
      await rig.run(200);
      expect(rig.state().safety.estop.latched).toBe(false);
    });

    it('is latched from the first moment when the file says so, or cannot be read', async () => {
      const latched = new Rig({ estop: { latched: true, by: 'safety-file-unreadable', at: null } });
      await latched.start();
      expect(latched.state().safety).toMatchObject({ level: 'CUT', active: ['estop'] });
      expect(await refusal(latched.client.start('a', DRIVE, 1))).toMatchObject({ reason: 'EMERGENCY_STOP' });
      expect(latched.peer.drives().every((d) => d.command === STOP)).toBe(true);
      await latched.close();
    });

    it('is written down again when the disk refused it at first', async () => {
      rig.failSaves = 2;
      const pressed = rig.client.estop('mqtt');
      await rig.run(1500);
      await pressed;
      expect(rig.savedEstops).toMatchObject([{ latched: true, by: 'mqtt' }]);
      await rig.run(1100);
      expect(rig.state().counters.estop_save_failures).toBe(2);
    });

    it('that cannot be written down holds, and is written as soon as the disk takes it', async () => {
      rig.failSaves = Number.POSITIVE_INFINITY;
      await rig.drive();
      const pressed = rig.client.estop('mqtt');
      await rig.run(1900);
      await pressed;
      expect(rig.peer.stopped).toBe(true);
      await rig.run(60_000);
      expect(rig.state().safety).toMatchObject({ level: 'CUT', estop: { latched: true } });
      rig.failSaves = 0;
      await rig.run(6_000);
      expect(rig.savedEstops.at(-1)).toMatchObject({ latched: true, by: 'mqtt' });
    });

    it('stops again each time it is pressed', async () => {
      await rig.client.estop('a');
      const before = rig.peer.received.length;
      await rig.client.estop('b');
      expect(rig.peer.received[before]?.command).toBe(STOP);
      expect(rig.state().safety.estop.by).toBe('a');
    });
  });

  describe('what it reports', () => {
    it('the heartbeat with its own number', async () => {
      const beats: number[] = [];
      const plain = new Rig();
      plain.channel.onMessage((message: RtToDaemon) => {
        if (message.t === 'heartbeat') beats.push(message.beat);
      });
      plain.host.start();
      plain.channel.send({ t: 'heartbeat', beat: 41 });
      plain.channel.send({ t: 'heartbeat', beat: 42 });
      expect(beats).toEqual([41, 42]);
      await plain.close();
    });

    it('ten states a second while something is done, and few while only time passes', async () => {
      const states = () => rig.events.filter((e) => e.type === 'state').length;
      await rig.drive();
      rig.events.length = 0;
      await rig.run(1000);
      expect(states()).toBe(10);
      await rig.client.stop('test');
      await rig.run(2000);
      rig.events.length = 0;
      await rig.run(2000);
      expect(states()).toBeGreaterThanOrEqual(4);
      expect(states()).toBeLessThanOrEqual(6);
    });

    it('news of a robot at rest at once, and never a state older than half a second', async () => {
      await rig.run(2000);
      rig.events.length = 0;
      const ages: number[] = [];
      for (let ms = 0; ms < 2000; ms += 50) {
        await rig.run(50);
        ages.push(rig.clock.now() - rig.state().at);
      }
      expect(Math.max(...ages)).toBeLessThanOrEqual(500);
      rig.peer.flags.charging = true;
      await rig.run(150);
      expect(rig.state().base.charging).toBe(true);
    });

    it('what it does not know as null', async () => {
      rig.line.device.unplug();
      rig.navigator.localized = null;
      rig.navigator.pose = null;
      await rig.run(1000);
      expect(rig.state()).toMatchObject({
        pose: null,
        localized: null,
        stoppedSince: null,
        base: { connected: false, docked: null, charging: null, bumpLeft: null, cliff: null },
      });
    });

    it('the contacts of the station when they close and open', async () => {
      rig.peer.flags.docked = true;
      await rig.run(100);
      rig.peer.flags.docked = false;
      await rig.run(100);
      expect(rig.events.filter((e) => e.type === 'docked').map((e) => e.docked)).toEqual([true, false]);
    });

    it('a condition when it appears and when it ends', async () => {
      rig.events.length = 0;
      rig.peer.flags.cliffLeft = true;
      await rig.run(300);
      rig.peer.flags.cliffLeft = false;
      await rig.run(500);
      const changes = rig.events.flatMap((e) => (e.type === 'safety' ? [[e.cause, e.safety.active]] : []));
      expect(changes).toEqual([
        ['cliff', ['cliff']],
        [null, []],
      ]);
    });

    it('the state that goes with the end of an action before that end', async () => {
      await rig.drive();
      await rig.client.stop('test');
      await rig.run(2000);
      const end = rig.events.findIndex((e) => e.type === 'action' && e.update.status === 'stopped');
      const before = rig.events[end - 1];
      expect(before).toMatchObject({ type: 'state', state: { action: null } });
      expect(before?.type === 'state' && before.state.stoppedSince).not.toBeNull();
    });
  });

  it('ends a start that a stop overtook as stopped, after the wheels stand still', async () => {
    await rig.drive();
    rig.peer.flags.bumpLeft = true;
    rig.peer.sendFrame();
    await rig.client.start('late', { kind: 'backUp', distance: 1, speed: 0.1 }, 1);
    await rig.client.stop('test');
    await rig.run(1500);
    expect(rig.updates('stopped').map((u) => u.id)).toEqual(['late']);
    expect(rig.peer.left).toBe(0);
  });

  it('tells wheels that are held to stand still as well, before anybody lets them go', async () => {
    await rig.drive();
    rig.peer.jammed = true;
    await rig.run(500);
    expect(rig.peer.stopped).toBe(false);
    await rig.client.stop('test');
    const asked = rig.clock.mono();
    await rig.run(500);
    expect(rig.peer.stopped).toBe(true);
    expect(rig.drivesSince(asked).filter((d) => d.command === STOP).length).toBeGreaterThan(1);
  });

  it('leaves the station although its base charges in a mode in which it does not drive', async () => {
    rig.peer.flags.docked = true;
    rig.peer.flags.charging = true;
    await rig.run(5000);
    expect(rig.peer.mode).toBe(1);
    await rig.drive('out', { kind: 'undock', clearance: 0.5 });
    expect(rig.peer.mode).toBeGreaterThanOrEqual(2);
    expect(rig.peer.left).toBe(-100);
  });

  it('remembers where it stood, and takes that over on the same map after a restart', async () => {
    await rig.run(1500);
    expect(rig.poses.at(-1)).toMatchObject({ mapId: 'm-test', pose: { x: 1, y: 2 }, still: true });
    rig.poses.push({ mapId: 'm-good', pose: { x: 3, y: 4, theta: 1 }, at: 0, still: false });
    await rig.client.loadMap('/maps/good.yaml');
    expect(rig.navigator.relocalized).toEqual([
      { pose: { x: 3, y: 4, theta: 1 }, spread: { xy: 0.35, theta: 0.5 } },
    ]);
    expect(rig.navigator.looksEverywhere).toBe(0);
  });

  it('gives its map up when told to, and not while an action runs', async () => {
    await rig.drive();
    expect(await refusal(rig.client.clearMap())).toMatchObject({ reason: 'ILLEGAL_STATE' });
    expect(rig.state().mapId).toBe('m-test');
    await rig.client.stop('test');
    await rig.run(2000);
    await rig.client.clearMap();
    await rig.run(200);
    expect(rig.state().mapId).toBeNull();
  });

  it('does not believe its last place on a map that comes back after it drove without one', async () => {
    await rig.client.loadMap('/maps/good.yaml');
    await rig.run(1500);
    await rig.client.clearMap();
    rig.poses.push({ mapId: 'm-good', pose: { x: 3, y: 4, theta: 1 }, at: 0, still: true });
    await rig.run(1000);
    await rig.client.loadMap('/maps/good.yaml');
    expect(rig.navigator.relocalized).toHaveLength(1);
    await rig.client.clearMap();
    await rig.drive();
    await rig.client.stop('test');
    await rig.run(2000);
    const before = rig.navigator.looksEverywhere;
    await rig.client.loadMap('/maps/good.yaml');
    expect(rig.navigator.relocalized).toHaveLength(1);
    expect(rig.navigator.looksEverywhere).toBe(before + 1);
  });

  it('looks for itself on a map without a station, on which nothing else could tell it where it is', async () => {
    await rig.client.loadMap('/maps/good.yaml');
    expect(rig.navigator.relocalized).toEqual([]);
    expect(rig.navigator.looksEverywhere).toBe(1);
  });

  it('stops the wheels, lets go of the port and saves its pose when it is shut down', async () => {
    await rig.drive();
    const ended = rig.host.shutdown('test');
    expect(rig.peer.stopped).toBe(true);
    await rig.run(500);
    await ended;
    expect(rig.line.device.hostConnected).toBe(false);
    expect(rig.poses.at(-1)).toMatchObject({ mapId: 'm-test', still: false });
  });
});

import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DaemonToRt, RtToDaemon } from '../../../config/contracts/rt-protocol.js';
import { IpcChannel, type IpcEnd, isReplaceable, memoryChannel } from '../../../drivers/rt/channel.js';
import { HeartbeatServer, heartbeatLine } from '../../../drivers/rt/heartbeat-line.js';
import { until } from '../../support/until.js';

const beat = (n: number): DaemonToRt => ({ t: 'heartbeat', beat: n });
const log = (message: string): RtToDaemon => ({ t: 'log', level: 'info', message });
const view: RtToDaemon = { t: 'view', scan: null, path: [] };

describe('a channel within one process', () => {
  it('delivers before send returns, and in order when answers are sent in between', () => {
    const { daemon, rt } = memoryChannel();
    const seen: string[] = [];
    rt.onMessage((message) => {
      if (message.t !== 'heartbeat') return;
      rt.send(log(`answer ${message.beat}`));
      seen.push(`rt took ${message.beat}`);
    });
    daemon.onMessage((message) => {
      if (message.t === 'log' && message.message === 'answer 1') daemon.send(beat(2));
      if (message.t === 'log') seen.push(`daemon took ${message.message}`);
    });
    daemon.send(beat(1));
    expect(seen).toEqual(['daemon took answer 1', 'rt took 1', 'daemon took answer 2', 'rt took 2']);
  });

  it('hands over copies, as a pipe would', () => {
    const { daemon, rt } = memoryChannel();
    const path = [{ x: 1, y: 2, theta: 3 }];
    let got: RtToDaemon | null = null;
    daemon.onMessage((message) => {
      got = message;
    });
    rt.send({ t: 'view', scan: null, path });
    expect(got).toEqual({ t: 'view', scan: null, path });
    expect((got as unknown as { path: object }).path).not.toBe(path);
  });

  it('keeps what comes before there is a listener, and tells a late one that it is closed', () => {
    const { daemon, rt } = memoryChannel();
    rt.send(log('early'));
    const seen: unknown[] = [];
    daemon.onMessage((message) => seen.push(message));
    expect(seen).toEqual([log('early')]);
    rt.close();
    const reasons: string[] = [];
    daemon.onClose((reason) => reasons.push(reason));
    rt.send(log('late'));
    expect([seen.length, reasons.length]).toEqual([1, 1]);
  });
});

describe('a channel over the pipe to another process', () => {
  class Pipe extends EventEmitter implements IpcEnd {
    connected = true;
    readonly sent: object[] = [];
    readonly taken: ((error: Error | null) => void)[] = [];
    send(
      message: object,
      _handle: undefined,
      _options: object,
      sent: (error: Error | null) => void,
    ): boolean {
      this.sent.push(message);
      this.taken.push(sent);
      return true;
    }
  }

  it('drops only what the next of its kind replaces while the other side does not read, and bounds the rest', () => {
    const pipe = new Pipe();
    const channel = new IpcChannel<RtToDaemon, DaemonToRt>(pipe, { replaceable: isReplaceable });
    for (let i = 0; i < 40; i++) channel.send(view);
    expect(pipe.sent).toHaveLength(32);
    channel.send(log('an event is not a view'));
    expect(pipe.sent).toHaveLength(33);
    for (const done of pipe.taken.splice(0)) done(null);
    channel.send(view);
    expect(pipe.sent).toHaveLength(34);
    for (let i = 0; i < 2000; i++) channel.send(log('flood'));
    expect(pipe.sent).toHaveLength(33 + 1024);
    expect(channel.dropped).toBe(8 + 2000 - 1023);
  });

  it('counts what goes each way', () => {
    const pipe = new Pipe();
    const counts = { sent: 0, received: 0 };
    const channel = new IpcChannel<RtToDaemon, DaemonToRt>(pipe, { replaceable: isReplaceable, counts });
    channel.onMessage(() => {});
    channel.send(log('one'));
    pipe.emit('message', beat(1));
    pipe.emit('message', beat(2));
    expect(counts).toEqual({ sent: 1, received: 2 });
  });

  it('says once that it is closed, also when it was closed before anybody listened', () => {
    const pipe = new Pipe();
    pipe.connected = false;
    const channel = new IpcChannel<RtToDaemon, DaemonToRt>(pipe, { replaceable: isReplaceable });
    const reasons: string[] = [];
    channel.onClose((reason) => reasons.push(reason));
    pipe.emit('disconnect');
    expect(reasons).toHaveLength(1);
  });
});

describe('the line for the heartbeat', () => {
  let dir: string;
  let server: HeartbeatServer;
  let heard: string[];
  const clients: Socket[] = [];

  const dial = () =>
    new Promise<Socket>((resolve) => {
      const socket = connect(join(dir, 'beat.sock'), () => resolve(socket));
      socket.on('error', () => {});
      clients.push(socket);
    });
  const answer = (socket: Socket) =>
    new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())));
  const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()));

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'beat-'));
    heard = [];
    server = new HeartbeatServer(join(dir, 'beat.sock'), {
      onBeat: () => heard.push('beat'),
      onLost: () => heard.push('lost'),
    });
    await server.start();
  });
  afterEach(() => {
    server.stop();
    for (const client of clients.splice(0)) client.destroy();
    rmSync(dir, { recursive: true, force: true });
  });

  it('answers with the same line, and is open to its owner only', async () => {
    const socket = await dial();
    socket.write(heartbeatLine(41));
    expect(await answer(socket)).toBe(heartbeatLine(41));
    expect(heard).toEqual(['beat']);
    expect(statSync(join(dir, 'beat.sock')).mode & 0o777).toBe(0o600);
  });

  it('is lost when the daemon goes, and not when a connection goes that was replaced', async () => {
    const first = await dial();
    first.write(heartbeatLine(1));
    await answer(first);
    const second = await dial();
    await closed(first);
    second.write(heartbeatLine(2));
    await answer(second);
    expect(heard).toEqual(['beat', 'beat']);
    second.destroy();
    await until(() => heard.length > 2);
    expect(heard).toEqual(['beat', 'beat', 'lost']);
  });

  it('hangs up on whoever says something else', async () => {
    const socket = await dial();
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await closed(socket);
    expect(heard).toEqual(['lost']);
  });

  it('takes the place of a socket that a killed predecessor left behind', async () => {
    const again = new HeartbeatServer(join(dir, 'beat.sock'), { onBeat: () => {}, onLost: () => {} });
    await expect(again.start()).resolves.toBeUndefined();
    again.stop();
  });
});

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { createWebSocketStream, WebSocketServer } from 'ws';
import { SystemClock } from '../../../config/contracts/clock.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { createCloud } from '../../../daemon/cloud/cloud.js';
import type { Cloud, CloudOptions } from '../../../daemon/cloud/types.js';
import { createSimBroker } from '../../../simulator/broker/broker.js';
import { DEFAULT_CLOUD_OPTIONS } from '../../support/device.js';
import { MemoryOutbox } from '../../support/memory-outbox.js';
import { hasMosquitto, Mosquitto } from '../../support/mosquitto.js';
import { until } from '../../support/observer.js';

const has = (command: string, args: string[]) =>
  spawnSync(command, args, { stdio: 'ignore' }).error === undefined;
const hasTools = hasMosquitto && has('openssl', ['version']) && has('mosquitto_passwd', []);

/** A certificate authority with a server and a client certificate, made for this run. */
function makeCertificates(): string {
  const directory = mkdtempSync(join(tmpdir(), 'certificates-'));
  const openssl = (...args: string[]) => {
    const { status, stderr } = spawnSync('openssl', args, { cwd: directory });
    if (status !== 0) throw new Error(String(stderr));
  };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '2',
    '-subj',
    '/CN=test-ca',
  );
  for (const [name, subject] of [
    ['server', 'localhost'],
    ['robot', 'da-test'],
  ] as const) {
    openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${subject}`);
    writeFileSync(join(directory, `${name}.ext`), `subjectAltName=DNS:${subject}\n`);
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      '2',
      '-out',
      `${name}.pem`,
      '-extfile',
      `${name}.ext`,
    );
  }
  return directory;
}

describe.skipIf(!hasTools)('how the robot proves who it is, and checks who the broker is', () => {
  let cleanUp: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const step of cleanUp.reverse()) await step();
    cleanUp = [];
  });

  const start = (options: Partial<CloudOptions> & { url: string }): Cloud => {
    const clock = new SystemClock();
    const cloud = createCloud({
      clock,
      networkClock: clock,
      random: Math.random,
      options: { ...DEFAULT_CLOUD_OPTIONS, protocol: '3.1.1', deviceId: 'da-test', ...options },
      bootId: 'b',
      version: '0',
      outbox: new MemoryOutbox(),
      onCommand: async () => {},
      log: SILENT_LOG,
    });
    cleanUp.push(() => cloud.stop(300));
    cloud.start();
    return cloud;
  };
  const broker = async (config: string[]) => {
    const mosquitto = await Mosquitto.start({ config });
    cleanUp.push(() => mosquitto.close());
    return mosquitto;
  };
  const connected = (cloud: Cloud) => until(() => expect(cloud.facts().subscription_ready).toBe(true));
  const refused = (cloud: Cloud) =>
    until(() =>
      expect(cloud.counters()).toMatchObject({
        mqtt_connects_total: 0,
        mqtt_connect_failures_total: expect.toSatisfy((n: number) => n > 1),
      }),
    );

  it('TLS with a client certificate; none, or an unknown authority, is refused', async () => {
    const directory = makeCertificates();
    const pem = (name: string) => readFileSync(join(directory, name));
    const { port } = await broker([
      `cafile ${directory}/ca.pem`,
      `certfile ${directory}/server.pem`,
      `keyfile ${directory}/server.key`,
      'require_certificate true',
    ]);
    const url = `mqtts://localhost:${port}`;
    await connected(start({ url, ca: pem('ca.pem'), cert: pem('robot.pem'), key: pem('robot.key') }));
    await refused(start({ url, ca: pem('ca.pem') }));
    await refused(start({ url, cert: pem('robot.pem'), key: pem('robot.key') }));
  });

  it('user name and password', async () => {
    const passwords = join(mkdtempSync(join(tmpdir(), 'passwords-')), 'passwd');
    writeFileSync(passwords, '');
    spawnSync('mosquitto_passwd', ['-b', passwords, 'robot', 'secret']);
    const { url } = await broker([`password_file ${passwords}`, 'allow_anonymous false']);
    await connected(start({ url, username: 'robot', password: 'secret' }));
    await refused(start({ url, username: 'robot', password: 'wrong' }));
    await refused(start({ url }));
  });

  it('WebSockets', async () => {
    const embedded = await createSimBroker({ port: null, wall: () => performance.now() });
    await embedded.start();
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    server.on('connection', (socket) => {
      const stream = createWebSocketStream(socket);
      const inner = embedded.connect();
      pipeline(stream, inner, stream, () => {});
    });
    await once(server, 'listening');
    cleanUp.push(async () => {
      for (const client of server.clients) client.terminate();
      server.close();
      await embedded.close();
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    await connected(start({ url: `ws://127.0.0.1:${address.port}/mqtt` }));
  });

  it('keeps trying, and says so, when the address makes no sense', async () => {
    await refused(start({ url: 'mqtt://127.0.0.1:1' }));
    await refused(start({ url: 'ftp://127.0.0.1:1' }));
  });
});

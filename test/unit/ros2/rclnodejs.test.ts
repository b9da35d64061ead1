import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../config/contracts/clock.js';
import { boolType } from '../../../drivers/ros2/messages.js';
import { probeRclnodejs } from '../../../drivers/ros2/rclnodejs/environment.js';
import { plain } from '../../../drivers/ros2/rclnodejs/node.js';
import { RclPort } from '../../../drivers/ros2/rclnodejs/port.js';
import { QOS } from '../../../drivers/ros2/types.js';

describe('whether rclnodejs can be loaded, without loading it', () => {
  const env = { ROS_DISTRO: 'humble', AMENT_PREFIX_PATH: '/opt/ros/humble' };
  const all = {
    env,
    exists: () => true,
    list: () => ['std_msgs'],
    find: () => '/app/node_modules/rclnodejs/package.json',
  };

  it('is yes with a sourced ROS 2, its library, and generated types', () => {
    expect(probeRclnodejs(all)).toEqual({
      ok: true,
      distro: 'humble',
      module: '/app/node_modules/rclnodejs',
    });
  });
  it.each([
    ['no ROS 2 is sourced', { env: {} }, 'not sourced'],
    ['the C library is missing', { exists: (path: string) => !path.endsWith('librcl.so') }, 'librcl.so'],
    ['the package is not installed', { find: () => null }, 'not installed'],
    ['no message types were generated', { list: () => [] }, 'message types'],
  ])('is no, and says what to do, when %s', (_what, broken, why) => {
    expect(probeRclnodejs({ ...all, ...broken })).toMatchObject({
      ok: false,
      why: expect.stringContaining(why),
    });
  });
});

it('makes plain JSON of its messages: typed arrays, big numbers, and what is no number', () => {
  expect(
    plain({ ranges: new Float32Array([1, Number.NaN]), stamp: { sec: 5n }, name: 'x', on: true }),
  ).toEqual({
    ranges: [1, null],
    stamp: { sec: 5 },
    name: 'x',
    on: true,
  });
});

describe('the child that has rclnodejs', () => {
  const dir = mkdtempSync(join(tmpdir(), 'da-rcl-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  const clock = new SystemClock();
  const portWith = (program: string, logs: string[] = []) => {
    const entry = join(dir, `child-${Math.abs(hash(program))}.mjs`);
    writeFileSync(entry, program);
    return new RclPort({
      clock,
      machineClock: clock,
      random: () => 0,
      log: (_level, message) => logs.push(message),
      domainId: 7,
      node: '/deviceagent',
      probe: () => ({ ok: true, distro: 'humble', module: '/nowhere' }),
      entry,
    });
  };
  const linked = (port: RclPort, connected: boolean) =>
    new Promise<void>((resolve) => port.onLink((change) => change.connected === connected && resolve()));

  it('is started again when it dies, and told again what is listened to', async () => {
    // Says what it is told to listen to as a message of that topic, then dies the first time.
    const port = portWith(`
      import { existsSync, writeFileSync } from 'node:fs';
      const mark = ${JSON.stringify(join(dir, 'died'))};
      process.on('message', (m) => {
        if (m.op !== 'subscribe') return;
        process.send({ op: 'message', id: m.id, message: { data: process.env.ROS_DOMAIN_ID === '7' } });
        if (!existsSync(mark)) { writeFileSync(mark, ''); setTimeout(() => process.exit(3), 50); }
      });
      process.on('disconnect', () => process.exit(0));
      process.send({ op: 'ready', distro: 'humble' });`);
    const heard: boolean[] = [];
    port.subscribe('/x', boolType, QOS.reliable, (m) => heard.push(m.data));
    const up = linked(port, true);
    const down = linked(port, false);
    port.start();
    await up;
    await down;
    await linked(port, true);
    await new Promise<void>((resolve) => {
      const cancel = clock.every(10, () => {
        if (heard.length < 2) return;
        cancel();
        resolve();
      });
    });
    expect(heard).toEqual([true, true]);
    expect(port.counters().child_restarts).toBe(1);
    await port.close();
    expect(port.connected).toBe(false);
  });

  it('does not take this process along when its module cannot be loaded', async () => {
    const logs: string[] = [];
    const port = new RclPort({
      clock,
      machineClock: clock,
      random: () => 0,
      log: (_level, message) => logs.push(message),
      domainId: 0,
      node: '/deviceagent',
      probe: () => ({ ok: true, distro: 'humble', module: join(dir, 'missing') }),
    });
    port.start();
    await new Promise<void>((resolve) => {
      const cancel = clock.every(20, () => {
        if (logs.length === 0) return;
        cancel();
        resolve();
      });
    });
    expect(logs[0]).toContain('rclnodejs does not start');
    expect(port.connected).toBe(false);
    await port.close();
  });

  it.skipIf(!probeRclnodejs({ env: process.env }).ok)(
    'runs against the sourced ROS 2 of this machine',
    async () => {
      const port = new RclPort({
        clock,
        machineClock: clock,
        random: () => 0,
        log: () => {},
        domainId: 77,
        node: '/da_test',
      });
      const up = linked(port, true);
      port.start();
      await up;
      const heard = new Promise<boolean>((resolve) => {
        port.subscribe('/da_test_bool', boolType, QOS.latched, (m) => resolve(m.data));
      });
      port.advertise('/da_test_bool', boolType.name, QOS.latched).publish({ data: true });
      expect(await heard).toBe(true);
      await port.close();
    },
  );
});

function hash(text: string): number {
  return [...text].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) | 0, 7);
}

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { rosType } from '../../../drivers/ros2/messages.js';
import { type GoalEnd, PORT_LIMITS, QOS } from '../../../drivers/ros2/types.js';
import { type Bench, memoryBench, rosbridgeBench, webSocketBench } from './ports.js';

const text = rosType('std_msgs/msg/String', z.object({ data: z.string() }));
const answer = rosType('std_srvs/srv/SetBool', z.object({ success: z.boolean() }));
const count = rosType('feedback', z.object({ n: z.number() }));
const sum = rosType('result', z.object({ sum: z.number() }));

describe.each([
  ['memory', memoryBench],
  ['rosbridge over a line in memory', rosbridgeBench],
  ['rosbridge over a WebSocket', webSocketBench],
] as const)('a way to ROS: %s', (_name, make) => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await make();
  });
  afterEach(() => bench.close());

  const start = async () => {
    bench.port.start();
    await bench.pass();
    expect(bench.port.connected).toBe(true);
  };
  const hear = (topic: string, qos: typeof QOS.reliable | typeof QOS.latched = QOS.reliable) => {
    const heard: string[] = [];
    const end = bench.port.subscribe(topic, text, qos, (m) => heard.push(m.data));
    return { heard, end };
  };
  const send = (overrides: { silenceMs?: number } = {}) => {
    const ends: GoalEnd<{ sum: number }>[] = [];
    const feedback: number[] = [];
    const goal = bench.port.sendGoal({
      action: '/add',
      type: 'example_interfaces/action/Fibonacci',
      goal: { order: 3 },
      feedback: count,
      result: sum,
      onFeedback: (f) => feedback.push(f.n),
      onEnd: (end) => ends.push(end),
      silenceMs: 5_000,
      ...overrides,
    });
    return { goal, ends, feedback };
  };

  it('carries what is published to the robot, and from it', async () => {
    await start();
    const arrived = bench.peer.heard('/to_robot');
    const { heard } = hear('/from_robot');
    const publisher = bench.port.advertise('/to_robot', text.name, QOS.reliable);
    await bench.pass();
    expect(publisher.publish({ data: 'go' })).toBe(true);
    bench.peer.publish('/from_robot', text.name, { data: '안녕' });
    await bench.pass();
    expect(arrived).toEqual([{ data: 'go' }]);
    expect(heard).toEqual(['안녕']);
  });

  it('gives a late listener what was published once and kept', async () => {
    bench.peer.publish('/map_name', text.name, { data: 'home' }, true);
    await start();
    const { heard } = hear('/map_name', QOS.latched);
    await bench.pass();
    expect(heard).toEqual(['home']);
  });

  it('delivers no message that is not of its type, counts it, and delivers the next', async () => {
    await start();
    const { heard } = hear('/from_robot');
    await bench.pass();
    bench.peer.publish('/from_robot', text.name, { data: 7 });
    bench.peer.publish('/from_robot', text.name, { data: 'good' });
    await bench.pass();
    expect(heard).toEqual(['good']);
    expect(bench.port.counters().messages_invalid).toBe(1);
  });

  it('stops listening when told, and a listener that throws harms nobody else', async () => {
    await start();
    const { heard, end } = hear('/a');
    bench.port.subscribe('/b', text, QOS.reliable, () => {
      throw new Error('a defect');
    });
    await bench.pass();
    end();
    bench.peer.publish('/a', text.name, { data: 'x' });
    bench.peer.publish('/b', text.name, { data: 'x' });
    await bench.pass();
    expect(heard).toEqual([]);
    expect(bench.port.counters().listener_errors).toBe(1);
  });

  it('calls a service and checks the answer', async () => {
    await start();
    bench.peer.serve('/good', answer.name, () => ({ success: true }));
    bench.peer.serve('/odd', answer.name, () => ({ success: 'yes' }));
    bench.peer.serve('/broken', answer.name, () => {
      throw new Error('out of order');
    });
    const call = (service: string) => {
      const called = bench.port.call({
        service,
        type: answer.name,
        request: {},
        response: answer,
        timeoutMs: 1000,
      });
      called.catch(() => {});
      return called;
    };
    const [good, odd, broken, missing] = [call('/good'), call('/odd'), call('/broken'), call('/missing')];
    await bench.pass();
    await expect(good).resolves.toEqual({ success: true });
    await expect(odd).rejects.toMatchObject({ kind: 'invalid' });
    await expect(broken).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('out of order'),
    });
    await expect(missing).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('gives a service up that does not answer in time', async () => {
    await start();
    bench.peer.serve('/mute', answer.name, () => null);
    const mute = bench.port.call({
      service: '/mute',
      type: answer.name,
      request: {},
      response: answer,
      timeoutMs: 150,
    });
    mute.catch(() => {});
    await bench.pass(300);
    await expect(mute).rejects.toMatchObject({ kind: 'timeout' });
    expect(bench.port.counters().call_timeouts).toBe(1);
  });

  it('follows a goal to its result', async () => {
    await start();
    const goals = bench.peer.act('/add', 'example_interfaces/action/Fibonacci', () => true);
    const { ends, feedback } = send();
    await bench.pass();
    expect(goals[0]?.goal).toEqual({ order: 3 });
    goals[0]?.feedback({ n: 1 });
    goals[0]?.feedback({ n: 'two' });
    goals[0]?.finish('succeeded', { sum: 6 });
    await bench.pass();
    expect(feedback).toEqual([1]);
    expect(ends).toEqual([{ kind: 'result', status: 'succeeded', result: { sum: 6 } }]);
  });

  it('cancels a goal, and hears from the server how it ended', async () => {
    await start();
    const goals = bench.peer.act('/add', 'example_interfaces/action/Fibonacci', () => true);
    const { goal, ends } = send();
    await bench.pass();
    goal.cancel();
    goal.cancel();
    await bench.pass();
    expect(goals[0]?.cancelAsked).toBe(true);
    expect(goal.ended).toBe(false);
    goals[0]?.finish('canceled', { sum: 0 });
    await bench.pass();
    expect(ends).toMatchObject([{ kind: 'result', status: 'canceled' }]);
    expect(goal.ended).toBe(true);
  });

  it('tells a rejected goal from a server that is not there', async () => {
    await start();
    const nobody = send();
    await bench.pass();
    expect(nobody.ends).toMatchObject([{ kind: 'unavailable' }]);
    bench.peer.act('/add', 'example_interfaces/action/Fibonacci', () => false);
    const refused = send();
    await bench.pass();
    expect(refused.ends).toMatchObject([{ kind: 'rejected' }]);
  });

  it('ends a goal of which nothing is heard, and asks the server to give it up', async () => {
    await start();
    const goals = bench.peer.act('/add', 'example_interfaces/action/Fibonacci', () => true);
    const { ends } = send({ silenceMs: 200 });
    await bench.pass(100);
    goals[0]?.feedback({ n: 1 });
    await bench.pass(150);
    expect(ends).toEqual([]);
    await bench.pass(200);
    expect(ends).toMatchObject([{ kind: 'silent' }]);
    expect(goals[0]?.cancelAsked).toBe(true);
  });

  it('loses calls and goals with the connection, and afterwards listens and publishes again', async () => {
    await start();
    const links: boolean[] = [];
    bench.port.onLink(({ connected }) => links.push(connected));
    bench.peer.act('/add', 'example_interfaces/action/Fibonacci', () => true);
    bench.peer.serve('/mute', answer.name, () => null);
    const { heard } = hear('/from_robot');
    const arrived = bench.peer.heard('/to_robot');
    const publisher = bench.port.advertise('/to_robot', text.name, QOS.reliable);
    const { ends } = send();
    const mute = bench.port.call({
      service: '/mute',
      type: answer.name,
      request: {},
      response: answer,
      timeoutMs: 9_000,
    });
    mute.catch(() => {});
    await bench.pass();
    bench.peer.cut();
    await bench.pass();
    expect(bench.port.connected).toBe(false);
    expect(ends).toMatchObject([{ kind: 'lost' }]);
    await expect(mute).rejects.toMatchObject({ kind: 'not_connected' });
    expect(publisher.publish({ data: 'lost' })).toBe(false);
    bench.peer.mend();
    await bench.pass(1200);
    expect(bench.port.connected).toBe(true);
    expect(links).toEqual([false, true]);
    publisher.publish({ data: 'again' });
    bench.peer.publish('/from_robot', text.name, { data: 'again' });
    await bench.pass();
    expect(arrived).toEqual([{ data: 'again' }]);
    expect(heard).toEqual(['again']);
    expect(bench.port.counters().reconnects).toBe(1);
  });

  it('refuses at once without a connection, and beyond its bounds', async () => {
    const early = bench.port.call({
      service: '/x',
      type: answer.name,
      request: {},
      response: answer,
      timeoutMs: 1000,
    });
    await expect(early).rejects.toMatchObject({ kind: 'not_connected' });
    const { ends } = send();
    await bench.pass();
    expect(ends).toMatchObject([{ kind: 'lost' }]);
    for (let i = 0; i < PORT_LIMITS.topics; i++) hear(`/t${i}`);
    expect(() => hear('/one_more')).toThrowError(expect.objectContaining({ kind: 'busy' }));
  });
});

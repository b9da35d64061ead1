/** The way to the cloud breaks in the middle of a job: the robot goes on, and the cloud learns everything once. */
import { describe, expect, it } from 'vitest';
import { contextOf, expectCleanLane, type InHome, inHome } from './support/in-home.js';

const GOAL = '거실로 갔다가 안방으로 이동해서 청정해줘';

async function onTheJob({ home, witness }: InHome): Promise<string> {
  const { document } = await home.goal(GOAL);
  await home.until(() => witness.diary.travelled(0) > 1.5, 60_000, 'the robot is on its way');
  return document.workflow_id;
}

/** The job's end and every event before it at the cloud: in order, none missing, none twice. */
async function allIsTold(place: InHome, workflowId: string): Promise<void> {
  const { home } = place;
  const end = await home.end(workflowId, 400_000);
  expect(end).toMatchObject({ event: 'COMPLETED' });
  await home.run(2_000);
  expectCleanLane(place);
  const { events, firstSeq, lastSeq } = home.cloud.report();
  expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => (firstSeq ?? 0) + i));
  const ends = events.filter((e) => e.taskId !== null && e.event === 'COMPLETED').map((e) => e.method);
  expect(ends).toEqual(['undock', 'setMoveTo', 'setMoveTo', 'startCleaning', 'setLlmTts', 'returnToStation']);
  const stats = home.daemon.runtime.outbox.stats();
  expect(stats.depth).toBe(0);
  expect(stats.nextSeq - 1).toBe(lastSeq);
  expect(home.world.docked).toBe(true);
}

describe('the broker', () => {
  it.each([
    ['restarted without its sessions', [['broker', 'restart']], 0],
    [
      'stopped for two minutes and started again',
      [
        ['broker', 'stop'],
        ['broker', 'start'],
      ],
      120_000,
    ],
    [
      'restarted three times in a row',
      [
        ['broker', 'restart'],
        ['broker', 'restart'],
        ['broker', 'restart'],
      ],
      4_000,
    ],
  ])('%s in the middle of the job loses nothing', (_name, faults, pauseMs) =>
    inHome({}, async (place) => {
      const id = await onTheJob(place);
      for (const words of faults) {
        await place.home.inject(...words);
        await place.home.run(pauseMs);
      }
      await allIsTold(place, id);
    }),
  );

  it('that holds connections open and carries nothing is noticed, and nothing is lost', () =>
    inHome({ network: 'wall' }, async (place) => {
      const id = await onTheJob(place);
      await place.home.inject('broker', 'half-open');
      await place.home.run(90_000);
      await place.home.inject('broker', 'start');
      await allIsTold(place, id);
    }));
});

describe('the network', () => {
  it('down for the whole job: the robot does it all the same, and tells it afterwards', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await onTheJob(place);
      const before = home.events.length;
      await home.inject('network', 'down');
      await home.until(() => home.world.fan.rpm > 1_000, 120_000, 'the robot purifies without the cloud');
      await home.until(() => home.world.docked, 300_000, 'the robot is back without the cloud');
      expect(home.events.length).toBe(before);
      expect(home.daemon.runtime.cloud()).toMatchObject({
        transport_connected: false,
        subscription_ready: false,
      });
      await home.run(10_000);
      await home.inject('network', 'up');
      const id = home.daemon.runtime.tasks.listWorkflows()[0]?.workflowId ?? '';
      await allIsTold(place, id);
      const told = home.cloud.report().events.filter((e) => e.event === 'network.awsChanged');
      expect(told.length).toBeGreaterThanOrEqual(2);
      expect(witness.diary.collisions).toBe(0);
    }));

  it('flapping every few seconds for a minute loses nothing and repeats nothing under another key', () =>
    inHome({ seed: 2 }, async (place) => {
      const id = await onTheJob(place);
      for (let i = 0; i < 12; i++) {
        await place.home.inject('network', i % 2 === 0 ? 'down' : 'up');
        await place.home.run(3_000 + 700 * i);
      }
      await allIsTold(place, id);
    }));

  it('shows in the context as three facts, which are true again once it is back', () =>
    inHome({}, async ({ home }) => {
      const down = home.daemon.runtime.cloud();
      expect(down).toMatchObject({ transport_connected: true, subscription_ready: true });
      await home.inject('network', 'down');
      await home.run(2_000);
      expect(home.cloud.report().status).toBe('online');
      await home.inject('network', 'up');
      await home.until(() => home.daemon.runtime.cloud().subscription_ready, 90_000, 'the session is back');
      await home.run(1_000);
      const { network } = await contextOf(home);
      expect(network).toMatchObject({
        aws_iot_connected: true,
        transport_connected: true,
        subscription_ready: true,
      });
      expect(network.last_publish_ack_at).toBeGreaterThan(0);
    }));

  it('gone: a command that waited at the broker is carried out when it is still fresh, and refused when not', () =>
    inHome({}, async ({ home, witness }) => {
      await home.run(1_000);
      await home.inject('network', 'down');
      await home.run(500);
      home.killDaemon();
      await home.inject('network', 'up');
      await home.run(2_000);
      const speak = (fields: object) =>
        witness.envelope({
          kind: 'task',
          method: 'setLlmTts',
          params: { text: '안녕' },
          task: {},
          ...fields,
        });
      const old = speak({});
      const later = new Date(home.session.clock.wall() + 3_600_000).toISOString();
      const patient = speak({ expires_at: later });
      await witness.publish(old);
      await witness.publish(patient);
      await home.run(200_000);
      const fresh = speak({});
      await witness.publish(fresh);
      await home.startDaemon();
      const answerTo = (command: Record<string, unknown>) =>
        witness.responses.find((answer) => answer.command_id === command.command_id);
      await home.until(() => answerTo(fresh) !== undefined, 30_000, 'an answer to the last one');
      expect(answerTo(old)).toMatchObject({ status: 'rejected', reason_code: 'STALE_COMMAND' });
      expect(answerTo(patient)).toMatchObject({ status: 'accepted' });
      expect(answerTo(fresh)).toMatchObject({ status: 'accepted' });
    }));
});

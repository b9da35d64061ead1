/** Peace and quiet: everything is mended and ended, and then nothing may be left over. */
import { z } from 'zod';
import { livePaths } from './chores.js';
import type { SoakRobot } from './robot.js';
import { mendAll } from './troubles.js';

/** Robot time for what was cancelled to end, for the way home, and for events to leave, ms. */
const END_MS = 180_000;
const HOME_MS = 420_000;
const LEAVE_MS = 120_000;
const STILL_MS = 30_000;
const contextView = z.object({ resources: z.record(z.string(), z.object({ owner: z.string().nullable() })) });
const taskEnd = z.object({ state: z.string(), reason_code: z.string().nullable() });
const outboxView = z.object({ depth: z.number() });

/** What is wrong though nothing should be; empty when all is well. */
export async function rest(robot: SoakRobot): Promise<string[]> {
  await mendAll(robot);
  const findings: string[] = [];
  const ended = await robot.until(async () => {
    const live = await livePaths(robot);
    for (const path of live) await robot.api('POST', `${path}/cancel`, {});
    return live.length === 0;
  }, END_MS);
  if (!ended)
    findings.push(
      `zombie: still live ${END_MS / 1000} s after its cancellation: ${(await livePaths(robot)).join(', ')}`,
    );
  findings.push(...(await heldLeases(robot)));
  findings.push(...(await goHome(robot)));
  findings.push(...(await standsStill(robot)));
  findings.push(...(await nothingWaits(robot)));
  return findings;
}

async function heldLeases(robot: SoakRobot): Promise<string[]> {
  const { body } = await robot.api('GET', '/api/context?version=2');
  const held = Object.entries(contextView.parse(body).resources).filter(([, { owner }]) => owner !== null);
  return held.map(
    ([resource, { owner }]) => `stuck lease: ${resource} is held by ${owner}, and nothing runs`,
  );
}

async function goHome(robot: SoakRobot): Promise<string[]> {
  if ((await robot.world()).docked) return [];
  const answer = await robot.api('POST', '/api/tasks', { method: 'returnToStation', params: {} });
  const id: unknown = Object.entries(answer.body ?? {}).find(([key]) => key === 'task_id')?.[1];
  if (typeof id !== 'string')
    return [`not home: returnToStation was refused: ${JSON.stringify(answer.body)}`];
  let last = taskEnd.parse({ state: 'PENDING', reason_code: null });
  const over = await robot.until(async () => {
    last = taskEnd.parse((await robot.api('GET', `/api/tasks/${id}`)).body);
    return ['COMPLETED', 'FAILED', 'CANCELLED'].includes(last.state);
  }, HOME_MS);
  if (over && last.state === 'COMPLETED' && (await robot.world()).docked) return [];
  return [`not home: returnToStation is ${last.state} ${last.reason_code ?? ''}`];
}

async function standsStill(robot: SoakRobot): Promise<string[]> {
  const still = await robot.until(async () => {
    const { command, fan } = await robot.world();
    return command.left === 0 && command.right === 0 && fan.rpm === 0;
  }, STILL_MS);
  return still
    ? []
    : [`zombie: nothing runs, and wheels or fan turn: ${JSON.stringify(await robot.world())}`];
}

/** Every event has reached the cloud, in order and once. */
async function nothingWaits(robot: SoakRobot): Promise<string[]> {
  const empty = async () => outboxView.parse((await robot.api('GET', '/api/outbox')).body).depth === 0;
  const findings = (await robot.until(empty, LEAVE_MS))
    ? []
    : ['outbox: events wait though the cloud is there'];
  const { missing, problems, deadLettered } = await robot.cloud();
  if (missing.length > 0) findings.push(`lost: seq ${missing.slice(0, 10).join(', ')} never came`);
  if (deadLettered > 0) findings.push(`lost: ${deadLettered} dead letters`);
  return [...findings, ...problems.map(({ kind, text }) => `${kind}: ${text}`)];
}

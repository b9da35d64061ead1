/**
 * Turns a goal, one sentence in Korean or English, into a workflow document. A small set of patterns, enough to
 * speak with the robot as a cloud planner would: rooms in order, purify here or there, with a condition, a mode and
 * a time, report, go home. What it does not understand it refuses, naming what it knows.
 */
import type { WorkflowDocument, WorkflowStep } from '../../config/contracts/wire/workflow.js';
import { type Mention, mentionedRooms, normalised, type PlannerContext, type PlannerRoom } from './rooms.js';

const DWELL_MS = 60_000;
const MINUTE_MS = 60_000;

const PURIFY = /청정|정화|환기|purif|clean/g;
const HOME = /충전|스테이션|복귀|집으로|도크|station|dock|charg|go home/;
const EVERY_ROOM = /모든 ?방|방마다|전체|집 ?전체|every room|all (the )?rooms|whole (house|home)/;
const BAD_AIR = /(공기|미세 ?먼지)[^,.]*(나쁘|안 ?좋)|if the air (is|gets) (bad|poor)/;
const QUIET = /조용|quiet/;
const TURBO = /터보|강하게|세게|turbo/;
const MINUTES = /(\d{1,2})\s*(?:분|min)/;
const KOREAN = /[가-힣]/;

/** One stop of the plan: a room, and whether to purify there. */
interface Stop {
  room: PlannerRoom;
  purify: boolean;
}

class PlanError extends Error {
  override readonly name = 'PlanError';
}

/** Throws `PlanError` for a goal that no pattern fits. */
export function planGoal(
  goal: string,
  context: PlannerContext,
  ids: { workflow: string; plan: string },
): WorkflowDocument {
  const text = normalised(goal);
  const purifiesAt = [...text.matchAll(PURIFY)].map((match) => match.index);
  const stops = stopsOf(text, purifiesAt, context.map.rooms);
  const home = HOME.test(text);
  if (stops.length === 0 && purifiesAt.length === 0 && !home) {
    const rooms = context.map.rooms.map((room) => room.name).join(', ');
    throw new PlanError(
      `no plan for "${goal}": it names no room (known: ${rooms}), no purifying and no way home`,
    );
  }
  const steps = new StepList();
  const leaves = stops.length > 0;
  if (leaves) {
    // Only where the contacts are live: the device itself knows better than a context of a moment ago.
    steps.add({
      method: 'undock',
      params: {},
      condition: 'context.battery.on_station == true',
      on_condition_false: 'SKIP',
    });
  }
  let lastCleaning: string | null = null;
  for (const { room, purify } of stops) {
    steps.add({ method: 'setMoveTo', params: { positionId: room.id }, cloud_output_key: 'arrival' });
    if (purify) lastCleaning = steps.add(cleaning(text));
  }
  if (!leaves && purifiesAt.length > 0) lastCleaning = steps.add(cleaning(text));
  if (leaves || purifiesAt.length > 0) steps.add(report(goal, lastCleaning));
  if (leaves || home) steps.add({ method: 'returnToStation', params: {} });
  return {
    workflow_id: ids.workflow,
    plan_id: ids.plan,
    goal,
    steps: steps.list,
    replan_budget: { local_retries: 1, cloud_replans: 2, user_questions: 1 },
    on_cancel: 'COMPENSATE',
  };
}

class StepList {
  readonly list: WorkflowStep[] = [];

  /** Each step waits for the one before it. Returns its id. */
  add(step: Omit<WorkflowStep, 'step_id' | 'depends_on'>): string {
    const previous = this.list.at(-1);
    const step_id = `s${this.list.length + 1}`;
    this.list.push({ step_id, depends_on: previous === undefined ? [] : [previous.step_id], ...step });
    return step_id;
  }
}

function stopsOf(text: string, purifiesAt: readonly number[], rooms: readonly PlannerRoom[]): Stop[] {
  if (EVERY_ROOM.test(text)) return rooms.map((room) => ({ room, purify: purifiesAt.length > 0 }));
  const mentions = mentionedRooms(text, rooms);
  const purified = new Set(purifiesAt.map((at) => roomOfVerb(text, at, mentions)));
  return mentions.map((mention) => ({ room: mention.room, purify: purified.has(mention) }));
}

/**
 * Which room a verb is about. Korean puts it last ("거실로 갔다가 안방으로 이동해서 청정해줘"): the room before it. English
 * puts it first ("…, then purify the bedroom"): the room in its own clause, else the one before it.
 */
function roomOfVerb(text: string, at: number, mentions: readonly Mention[]): Mention | undefined {
  const before = mentions.findLast((mention) => mention.end <= at);
  if (KOREAN.test(text)) return before ?? mentions[0];
  const rest = text.slice(at);
  const clauseEnd = at + (CLAUSE_END.exec(rest)?.index ?? rest.length);
  return mentions.find((mention) => mention.at >= at && mention.end <= clauseEnd) ?? before ?? mentions[0];
}

const CLAUSE_END = /[,.;]|\bthen\b|\band\b/;

function cleaning(text: string): Omit<WorkflowStep, 'step_id' | 'depends_on'> {
  const minutes = MINUTES.exec(text)?.[1];
  const mode = QUIET.test(text) ? 'quiet' : TURBO.test(text) ? 'turbo' : 'auto';
  return {
    method: 'startCleaning',
    params: {
      mode,
      cleanMinTimeMs: minutes === undefined ? DWELL_MS : Number(minutes) * MINUTE_MS,
      untilGrade: 'good',
    },
    cloud_output_key: 'cleaning',
    ...(BAD_AIR.test(text)
      ? {
          condition: 'context.air_quality.usable && context.air_quality.pm2_5 > 35.0',
          on_condition_false: 'SKIP' as const,
        }
      : {}),
  };
}

function report(goal: string, cleaningStep: string | null): Omit<WorkflowStep, 'step_id' | 'depends_on'> {
  const korean = KOREAN.test(goal);
  const plain = korean ? '다녀왔어요.' : 'I have been there.';
  return {
    method: 'setLlmTts',
    params: {
      text: cleaningStep === null ? plain : `{{${cleaningStep}.output.summary}}`,
      language: korean ? 'ko' : 'en',
    },
    failure_policy: 'CONTINUE',
    cloud_output_key: 'report',
  };
}

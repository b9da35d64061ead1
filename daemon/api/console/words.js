/** Tasks, steps, events and reasons in words. */
import { age, clockTime, currentLanguage, known, t } from './language.js';
import { model } from './model.js';
import { inKorean } from './robot-words-ko.js';

/** `rooms`: of the map; `capabilities`: cards with titles. Filled in once they are loaded. */
export const catalogue = { rooms: [], capabilities: [] };

function roomName(id) {
  return catalogue.rooms.find((room) => room.id === id)?.name ?? null;
}

export function targetOf(params) {
  const id = params?.positionId ?? params?.areaId;
  if (typeof id === 'string') return roomName(id) ?? id;
  const name = params?.positionName ?? params?.roomName ?? params?.targetRoom;
  return typeof name === 'string' ? name : null;
}

export function methodTitle(method, params) {
  if (method === 'setMoveTo') {
    const target = targetOf(params);
    return target === null ? t('m_setMoveTo_any') : t('m_setMoveTo', { target });
  }
  if (known(`m_${method}`)) return t(`m_${method}`);
  const card = catalogue.capabilities.find((c) => c.methods[0] === method);
  return card?.title[currentLanguage()] ?? method;
}

/** A step names a method or a capability card. */
export function stepTitle(step, document) {
  const written = document.steps.find((s) => s.step_id === step.step_id);
  return methodTitle(step.method, written?.params);
}

export function stageText(stage) {
  return stage === null || stage === undefined ? null : t(`stage_${stage}`, {}, stage);
}

export function reasonText(code) {
  return t(`r_${code}`, {}, code);
}

/** The robot's own words in the reader's language; a task is named by what it does, not by its id. */
export function robotWords(message) {
  const named = message.replace(/(\w+) (t-[0-9A-Z]{26})/g, (_, method, id) => {
    const task = model.tasks.find((candidate) => candidate.task_id === id);
    return `“${methodTitle(method, task?.params)}”`;
  });
  return currentLanguage() === 'ko' ? inKorean(named) : named;
}

/** Of what `robotWords` makes of `message`: what has no Korean sentence stays English. */
export function languageOfWords(message) {
  return currentLanguage() === 'ko' && inKorean(message) !== message ? 'ko' : 'en';
}

/** What a running task reports about itself, in one line. */
export function progressText(task) {
  const progress = task.progress ?? {};
  const metres = progress.remaining_m ?? progress.remaining;
  const parts = [
    stageText(task.stage),
    typeof metres === 'number' ? t('remaining', { m: metres.toFixed(1) }) : null,
    typeof progress.remaining_s === 'number'
      ? t('remainingTime', { age: age(progress.remaining_s * 1000) })
      : null,
    typeof progress.grade === 'string' ? t(progress.grade) : null,
  ];
  return parts.filter((part) => part !== null).join(' · ');
}

const OBSERVATIONS = {
  'movement.arrived': 'o_arrived',
  'movement.obstructed': 'o_obstructed',
  'movement.localizationLost': 'o_localizationLost',
  'dock.stateChanged': 'o_dock',
  'battery.chargingChanged': 'o_charging',
  'battery.low': 'o_batteryLow',
  'air.qualityChanged': 'o_air',
  'network.awsChanged': 'o_network',
  'cleaning.stopped': 'o_cleaning',
  'device.faultChanged': 'o_fault',
};

/** `{name, text, tone}` of a row of the ordered lane. */
export function eventWords({ topic, payload }, titleOf) {
  if (topic === 'events/observation') {
    const key = OBSERVATIONS[payload.type];
    const room = roomName(payload.area_id) ?? t('outside');
    const text = key === undefined ? payload.type : t(key, { room });
    return { name: t('ev_observation'), text, tone: 'accent' };
  }
  const name = t(`ev_${payload.event}`, {}, payload.event ?? topic);
  const reason = payload.reason_code ? ` · ${reasonText(payload.reason_code)}` : '';
  const what = payload.task_id === null && payload.step_id === null ? t('workflowEnd') : titleOf(payload);
  return { name, text: `${what}${reason}`, tone: toneOf(payload.event) };
}

export function toneOf(state) {
  if (state === 'COMPLETED' || state === 'WORKFLOW_STEP_COMPLETED') return 'ok';
  if (state === 'FAILED' || state === 'DEAD_LETTERED') return 'bad';
  if (state === 'STARTED' || state === 'RUNNING' || state === 'WORKFLOW_STEP_STARTED') return 'accent';
  if (state === 'PAUSED' || state === 'CANCELLING' || state === 'BLOCKED') return 'warn';
  return 'plain';
}

/** Evidence as pairs to show: what proves the end, and what was seen. */
export function evidencePairs(evidence) {
  return Object.entries(evidence ?? {}).map(([key, value]) => [t(`e_${key}`, {}, key), shown(key, value)]);
}

/** A value by the unit in its name: `_at_ms` a time, `_ms` a duration, `_m`, `_rad`, `area_id`, `pose`. */
function shown(key, value) {
  if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
  if (typeof value === 'number') return numberWithUnit(key, value);
  if (key === 'area_id' && typeof value === 'string') return roomName(value) ?? value;
  if (key === 'visited' && Array.isArray(value)) return value.map((id) => roomName(id) ?? id).join(', ');
  if (key === 'grade' && typeof value === 'string') return t(value);
  if (value === null || value === undefined) return t('unknown');
  if (key === 'pose') return poseText(value);
  if (typeof value !== 'object') return String(value);
  return Object.entries(value)
    .map(([name, inner]) => `${t(`e_${name}`, {}, name)} ${shown(name, inner)}`)
    .join(', ');
}

function numberWithUnit(key, value) {
  if (key.endsWith('_at_ms')) return clockTime(value);
  if (key.endsWith('_ms')) return age(value);
  if (key.endsWith('_m')) return `${value.toFixed(2)} m`;
  if (key.endsWith('_rad')) return `${((value * 180) / Math.PI).toFixed(1)}°`;
  if (key.endsWith('_deg')) return `${value.toFixed(1)}°`;
  return String(Math.round(value * 100) / 100);
}

function poseText({ x, y, theta }) {
  return `x ${x.toFixed(2)}, y ${y.toFixed(2)}, ${Math.round((theta * 180) / Math.PI)}°`;
}

/** What changes with every frame and with time: the link, the alarm, what the robot is doing, where it is. */
import { byId, setText } from './dom.js';
import { age, clockTime, t } from './language.js';
import { LOST_AFTER_MS, linkStale, model, poseThen, robotNow, STALE_AFTER_MS, silence } from './model.js';
import { renderTiles } from './tiles.js';
import { methodTitle, progressText } from './words.js';

const POSE_TTL_MS = 3000;
const heading = byId('tiles-title');

/** `map`: the `MapView`. */
export function showNow(map) {
  showLink();
  showAlarm();
  showDoing();
  showPose(map);
  renderTiles(byId('tiles'), heading, {
    context: model.context,
    robot: model.robot,
    outbox: model.outbox,
    now: robotNow(),
    linkStale: linkStale(),
  });
}

function linkState() {
  const quiet = silence();
  if (model.frameAt === null) return ['connecting', t('connecting')];
  if (quiet > LOST_AFTER_MS) return ['lost', t('lost', { age: age(quiet) })];
  if (quiet > STALE_AFTER_MS) return ['stale', t('staleLink', { age: age(quiet) })];
  return ['live', model.status?.profile === 'sim' ? `${t('live')} · ${t('simulated')}` : t('live')];
}

function showLink() {
  const [state, text] = linkState();
  byId('link').dataset.state = state;
  setText('link', text);
}

function showAlarm() {
  const estop = model.robot?.safety.estop;
  byId('alarm').hidden = estop?.latched !== true;
  if (estop?.latched !== true) return;
  const by = estop.by ?? t('unknown');
  setText('alarm-title', t('estopTitle'));
  setText(
    'alarm-detail',
    t('estopDetail', {
      by: t(`by_${by}`, {}, t('by_other', { by })),
      time: estop.at_ms === null ? t('unknown') : clockTime(estop.at_ms),
    }),
  );
}

/** What the robot is doing, as a title and a detail. */
function doing() {
  const { robot, status, tasks, workflows } = model;
  if (status !== null && !status.ready) return [t('notReady'), ''];
  if (robot?.safety.estop.latched) return [t('estopTitle'), ''];
  const running = tasks.find((task) => ['STARTED', 'PAUSED', 'CANCELLING'].includes(task.state));
  if (running !== undefined) {
    const state = running.state === 'STARTED' ? null : t(`st_${running.state}`);
    const flow = workflows.find((w) => w.workflow_id === running.workflow_id);
    const details = [state, progressText(running), flow?.goal];
    return [methodTitle(running.method, running.params), details.filter(Boolean).join(' · ')];
  }
  if (robot !== null && robot.safety.level !== 'OK') return [t('safetyTitle'), ''];
  if (robot?.base.charging) return [t('idleCharging'), t('idleDetail')];
  return [t(robot?.base.docked ? 'idleDocked' : 'idle'), t('idleDetail')];
}

export function showDoing() {
  const [title, detail] = doing();
  setText('now-title', title);
  setText('now-detail', detail);
}

function showPose(map) {
  const { robot } = model;
  const pose = robot?.pose ?? null;
  const seenAt = robot?.pose_at_ms ?? null;
  const poseAge = seenAt === null ? silence() : robotNow() - seenAt;
  const fresh = poseAge < POSE_TTL_MS && !linkStale();
  map.setRobot({
    pose,
    sure: fresh && robot?.localized === true,
    scan: fresh && model.scan !== null ? { ...model.scan, from: poseThen(robot, model.scan.at_ms) } : null,
    path: model.path,
  });
  const note = poseNote(pose, fresh, poseAge);
  byId('stage-note').hidden = note === null;
  setText('stage-note', note ?? '');
  byId('stage').dataset.stale = String(pose !== null && !fresh);
}

function poseNote(pose, fresh, poseAge) {
  if (model.map === null) return t('noMap');
  if (pose === null) return t('noPose');
  if (!fresh) return t('stalePose', { age: age(poseAge) });
  return model.robot.localized === false ? t('lostPose') : null;
}

/** The map in a sentence, for those who do not see it. */
export function describeMap() {
  const [what] = doing();
  const pose = model.robot?.pose ?? null;
  if (pose === null) {
    setText('map-text', t('mapTextUnknown', { doing: what }));
    return;
  }
  const eighth = ((Math.round(pose.theta / (Math.PI / 4)) % 8) + 8) % 8;
  const room = model.context?.location?.current_room_name ?? t('outside');
  setText('map-text', t('mapText', { room, heading: t('headings')[eighth], doing: what }));
}

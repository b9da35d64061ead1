/** The console: loads what there is, follows what changes, and shows it. */
import { estop, release } from './actions.js';
import { announce, complain } from './dialog.js';
import { byId, gathered, h, replaceContent, setText } from './dom.js';
import { listenForDriving, showDriving } from './drive.js';
import {
  applyTheme,
  currentLanguage,
  currentTheme,
  nextTheme,
  onSystemTheme,
  setLanguage,
  t,
} from './language.js';
import { request, Stream, whenSignedOut } from './link.js';
import { eventTitle, showEvents, showLegend, showRooms, showWork } from './lists.js';
import { MapView } from './map-view.js';
import { linkStale, model } from './model.js';
import { describeMap, showDoing, showNow } from './now.js';
import { catalogue, eventWords } from './words.js';

const CONTEXT_EVERY_MS = 2000;
const KEPT_EVENTS = 120;
const TERMINAL = ['COMPLETED', 'FAILED', 'CANCELLED'];

const map = new MapView(byId('canvas'));
const unsaid = [];

/* Showing */

function showFixedTexts() {
  document.documentElement.lang = currentLanguage();
  for (const element of document.querySelectorAll('[data-t]')) element.textContent = t(element.dataset.t);
  for (const element of document.querySelectorAll('[data-label]')) {
    element.setAttribute('aria-label', t(element.dataset.label));
    element.title = t(element.dataset.label);
  }
  byId('canvas').removeAttribute('title');
  byId('language').textContent = t('otherLanguage');
  byId('language').lang = currentLanguage() === 'ko' ? 'en' : 'ko';
  for (const id of ['estop', 'estop-bar']) byId(id).title = t('estopHint');
  showTheme();
  if (model.status === null) return;
  const { device_id: device, version, profile, boot_id: boot } = model.status;
  setText('device', device);
  document.title = `${device} · DeviceAgent`;
  setText('foot', `DeviceAgent ${version} · ${profile} · ${boot}`);
}

function showTheme() {
  const theme = currentTheme();
  byId('theme').setAttribute('aria-label', t(`theme_${theme}`));
  byId('theme').title = t(`theme_${theme}`);
  const picture = { auto: 'auto', light: 'sun', dark: 'moon' }[theme];
  byId('theme').querySelector('use').setAttribute('href', `#i-${picture}`);
}

function showAll() {
  showFixedTexts();
  showLegend(map);
  showRooms();
  showDriving(model.methods.has('manualMove'));
  showEvents();
  showNow(map);
  showWork();
  describeMap();
}

function signedOut() {
  if (model.signedOut) return;
  model.signedOut = true;
  replaceContent(byId('main'), [
    h(
      'section',
      { class: 'signed-out' },
      h('h2', {}, t('signedOut')),
      h('p', { class: 'muted' }, t('signedOutDetail')),
      h('p', {}, h('code', {}, 'deviceagent console')),
    ),
  ]);
}

/* Loading and following */

const refreshWork = gathered(150, async () => {
  try {
    const [{ workflows }, { tasks }] = await Promise.all([
      request('/api/workflows?limit=10'),
      request('/api/tasks?limit=40'),
    ]);
    Object.assign(model, { workflows, tasks });
    showWork();
    showDoing();
    showEvents();
    sayEnds();
  } catch {
    // The link line already says that the robot does not answer; the next event asks again.
  }
});

async function refreshContext() {
  try {
    const [context, outbox, status] = await Promise.all([
      request('/api/context?version=1'),
      request('/api/outbox'),
      request('/api/status'),
    ]);
    Object.assign(model, { context, outbox, status });
  } catch {
    // As above: shown as stale by its age.
  }
}

async function loadMap() {
  model.map = await request('/api/map').catch(() => null);
  catalogue.rooms = model.map?.rooms ?? [];
  map.setMap(model.map);
  showRooms();
}

async function loadOnce() {
  const [{ methods }, { capabilities }, { events, next_since: newest }] = await Promise.all([
    request('/api/methods'),
    request('/api/capabilities'),
    request('/api/events?limit=60'),
  ]);
  model.methods = new Set(methods.map((m) => m.name));
  catalogue.capabilities = capabilities;
  model.events = events.reverse();
  model.newestSeq = newest;
}

function onRobotFrame(frame) {
  const mapBefore = model.robot?.map_id;
  model.robotNow = frame.now_ms;
  model.frameAt = performance.now();
  model.robot = frame.state;
  if (frame.scan !== undefined) model.scan = frame.scan;
  if (frame.path !== undefined) model.path = frame.path;
  if (mapBefore !== undefined && mapBefore !== frame.state?.map_id) loadMap();
  if (!model.signedOut) showNow(map);
}

function onEvent(message) {
  if (message.type === 'progress') return onProgress(message.payload);
  if (message.type === 'hello') model.newestSeq = message.since;
  if (message.type === 'gap') model.events.unshift({ gap: message.to - message.from + 1 });
  if (message.type === 'event') {
    model.newestSeq = message.seq;
    model.events.unshift(message);
    if (TERMINAL.includes(message.payload.event)) unsaid.push(message);
  }
  model.events.length = Math.min(model.events.length, KEPT_EVENTS);
  return refreshWork();
}

/** How things ended, for screen readers; said once it is loaded what they were. */
function sayEnds() {
  const ends = unsaid.splice(0).map((message) => eventWords(message, eventTitle));
  if (ends.length > 0) announce(ends.map(({ name, text }) => `${text}: ${name}`).join('. '));
}

/** Progress comes often; it is put into the task at hand instead of asking for everything again. */
function onProgress(payload) {
  const task = model.tasks.find((candidate) => candidate.task_id === payload.task_id);
  if (task === undefined) return refreshWork();
  task.progress = payload.progress;
  task.stage = payload.domain_stage ?? task.stage;
  showWork();
  return showDoing();
}

function listen() {
  byId('language').onclick = () => {
    setLanguage(currentLanguage() === 'ko' ? 'en' : 'ko');
    showAll();
  };
  byId('theme').onclick = () => {
    nextTheme();
    showTheme();
    map.restyle();
  };
  onSystemTheme(() => map.restyle());
  const showFollow = () => byId('follow').setAttribute('aria-pressed', String(map.followRobot));
  map.onMoved = showFollow;
  byId('zoom-in').onclick = () => map.zoom(1.3);
  byId('zoom-out').onclick = () => map.zoom(1 / 1.3);
  byId('fit').onclick = () => map.fit();
  byId('follow').onclick = () => map.setFollow(!map.followRobot);
  for (const id of ['estop', 'estop-bar']) byId(id).onclick = estop;
  byId('release').onclick = release;
  listenForDriving();
}

function keepUp() {
  setInterval(async () => {
    if (document.hidden || model.signedOut) return;
    await refreshContext();
    if (model.signedOut) return;
    showNow(map);
    describeMap();
  }, CONTEXT_EVERY_MS);
  // Without frames nothing else would make what is shown look as old as it is.
  setInterval(() => {
    if (!document.hidden && linkStale() && !model.signedOut) showNow(map);
  }, 1000);
}

async function start() {
  applyTheme();
  map.restyle();
  showAll();
  listen();
  whenSignedOut(signedOut);
  new Stream(() => '/api/robot/stream', onRobotFrame);
  await Promise.all([loadOnce(), loadMap(), refreshContext()]).catch(complain);
  if (model.signedOut) return;
  refreshWork();
  showAll();
  new Stream(
    () => `/api/events/stream?since=${model.newestSeq}`,
    onEvent,
    (open) => {
      if (open) refreshWork();
    },
  );
  keepUp();
}

start();

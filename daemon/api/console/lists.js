/** The lists beside the map: rooms to go to, what the map shows, workflows and tasks, the event log. */
import { control, goTo, submit } from './actions.js';
import { byId, h, replaceContent } from './dom.js';
import { clockTime, t } from './language.js';
import { model, robotNow } from './model.js';
import { eventWords, methodTitle, stepTitle } from './words.js';
import { renderTasks, renderWorkflows } from './work.js';

export function showRooms() {
  const chips = [];
  if (model.methods.has('setMoveTo')) {
    chips.push(
      ...(model.map?.rooms ?? []).map((room) => chip(room.name, `room-${room.id}`, () => goTo(room))),
    );
  }
  if (model.methods.has('returnToStation') && model.map?.station) {
    chips.push(chip(t('home'), 'home', () => submit('returnToStation', {})));
  }
  if (model.methods.has('stopMove'))
    chips.push(chip(t('stop'), 'stop', () => submit('stopMove', {}), 'danger'));
  byId('go').hidden = chips.length === 0;
  replaceContent(byId('rooms'), chips);
}

function chip(label, key, onclick, extra = '') {
  return h('button', { type: 'button', class: `ghost slim ${extra}`, 'data-key': key, onclick }, label);
}

export function showLegend(map) {
  const toggle = (name) => {
    map.layers[name] = !map.layers[name];
    map.invalidate();
    showLegend(map);
  };
  const buttons = Object.keys(map.layers).map((name) =>
    h(
      'button',
      {
        type: 'button',
        'aria-pressed': String(map.layers[name]),
        'data-key': `layer-${name}`,
        onclick: () => toggle(name),
      },
      h('span', { class: `swatch ${name}`, 'aria-hidden': 'true' }),
      t(`layer_${name}`),
    ),
  );
  replaceContent(byId('legend'), [h('legend', { class: 'hidden' }, t('legend')), ...buttons]);
}

export function showWork() {
  const parts = { workflows: model.workflows, tasks: model.tasks, now: robotNow(), act: control };
  renderWorkflows(byId('workflows'), parts);
  renderTasks(byId('tasks'), parts);
}

/** What an event is about: its step's title, its task's, or its method's. */
export function eventTitle(payload) {
  const flow = model.workflows.find((w) => w.workflow_id === payload.workflow_id);
  const step = flow?.steps.find((s) => s.step_id === payload.step_id);
  if (step !== undefined) return stepTitle(step, flow.document);
  const task = model.tasks.find((candidate) => candidate.task_id === payload.task_id);
  return methodTitle(payload.method ?? '', task?.params);
}

export function showEvents() {
  const rows = model.events.map((event) =>
    event.gap === undefined
      ? eventRow(event)
      : h('li', { class: 'empty small' }, t('eventGap', { count: event.gap })),
  );
  replaceContent(byId('events'), rows.length > 0 ? rows : [h('li', { class: 'empty' }, t('noEvents'))]);
}

function eventRow(event) {
  const { name, text, tone } = eventWords(event, eventTitle);
  const at = event.payload.observed_at_ms ?? Date.parse(event.payload.occurred_at ?? '');
  return h(
    'li',
    { class: 'event' },
    h('time', {}, Number.isFinite(at) ? clockTime(at) : ''),
    h('span', { class: 'tag', 'data-tone': tone }, name),
    h('p', {}, text),
    h('span', { class: 'seq' }, `#${event.seq}`),
  );
}

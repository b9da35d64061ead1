/** Workflows as timelines with the evidence of each step, and the list of recent tasks. */
import { h, icon, replaceContent } from './dom.js';
import { age, clockTime, t } from './language.js';
import {
  evidencePairs,
  languageOfWords,
  methodTitle,
  progressText,
  reasonText,
  robotWords,
  stepTitle,
  toneOf,
} from './words.js';

const STEP_ICONS = {
  PENDING: null,
  WAITING: 'wait',
  RUNNING: null,
  COMPLETED: 'check',
  FAILED: 'cross',
  SKIPPED: 'skip',
  CANCELLED: 'cross',
};

const LIVE = ['RUNNING', 'PAUSED', 'CANCELLING'];

/** `act(kind, id, verb, title)` is called for a pressed button. */
export function renderWorkflows(container, { workflows, tasks, now, act }) {
  const live = workflows.filter((w) => LIVE.includes(w.state));
  const shown = live.length > 0 ? live : workflows.slice(0, 1);
  const earlier = workflows.filter((w) => !shown.includes(w));
  const nodes = shown.map((w) => flow(w, tasks, now, act));
  if (nodes.length === 0) nodes.push(h('p', { class: 'empty' }, t('noWorkflow')));
  if (earlier.length > 0) {
    nodes.push(
      h(
        'details',
        { class: 'flow', 'data-key': 'earlier' },
        h('summary', {}, t('earlier', { count: earlier.length })),
        ...earlier.map((w) => flow(w, tasks, now, act)),
      ),
    );
  }
  replaceContent(container, nodes);
}

function flow(workflow, tasks, now, act) {
  const title = workflow.goal ?? workflow.workflow_id;
  const started = clockTime(workflow.created_at_ms);
  const lasting = age((workflow.ended_at_ms ?? now) - workflow.created_at_ms);
  const done = workflow.steps.filter((s) => ['COMPLETED', 'SKIPPED'].includes(s.state)).length;
  const at = Math.min(workflow.steps.length, done + 1);
  const meta = [
    t(`source_${workflow.source}`),
    started,
    lasting,
    workflow.state === 'RUNNING' ? t('step', { n: at, total: workflow.steps.length }) : null,
  ];
  return h(
    'article',
    { class: 'flow' },
    h(
      'div',
      { class: 'flow-head' },
      h('h3', {}, title),
      h('span', { class: 'tag', 'data-tone': toneOf(workflow.state) }, t(`st_${workflow.state}`)),
    ),
    h('p', { class: 'flow-meta' }, meta.filter(Boolean).join(' · ')),
    workflow.reason_code ? h('p', { class: 'reason small' }, ...why(workflow)) : null,
    LIVE.includes(workflow.state) ? buttons(workflow, title, act) : null,
    h('ol', { class: 'steps' }, ...workflow.steps.map((s) => step(s, workflow, tasks, now))),
  );
}

function buttons({ workflow_id: id, state }, title, act) {
  const button = (verb, extra = '') =>
    h(
      'button',
      {
        type: 'button',
        class: `ghost slim ${extra}`,
        'data-key': `${id}-${verb}`,
        disabled: state === 'CANCELLING',
        onclick: () => act('workflows', id, verb, title),
      },
      t(verb),
    );
  return h(
    'div',
    { class: 'flow-buttons' },
    button(state === 'PAUSED' ? 'resume' : 'pause'),
    button('cancel', 'danger'),
  );
}

function step(s, workflow, tasks, now) {
  const task = tasks.find((candidate) => candidate.task_id === s.task_id);
  const mark = STEP_ICONS[s.state] ?? null;
  return h(
    'li',
    { class: 'step', 'data-state': s.state },
    h('span', { class: 'step-icon' }, mark === null ? null : icon(mark)),
    h(
      'p',
      { class: 'step-title' },
      stepTitle(s, workflow.document),
      h('span', { class: 'hidden' }, ` — ${t(`st_${s.state}`)}`),
    ),
    h(
      'p',
      { class: 'step-time' },
      s.started_at_ms === null ? '' : age((s.ended_at_ms ?? now) - s.started_at_ms),
    ),
    h('div', { class: 'step-body' }, ...stepLines(s, task, workflow)),
  );
}

function stepLines(s, task, workflow) {
  const lines = [];
  if (s.state === 'RUNNING' && task !== undefined) lines.push(h('p', {}, progressText(task)));
  if (s.state === 'WAITING' && s.waiting_for !== null) {
    const awaited = workflow.steps.find((other) => other.step_id === s.waiting_for);
    const what = awaited === undefined ? s.waiting_for : stepTitle(awaited, workflow.document);
    lines.push(h('p', {}, t('waitingFor', { what })));
  }
  if (s.attempt > 1) lines.push(h('p', {}, t('attempt', { n: s.attempt })));
  if (s.reason_code !== null) lines.push(h('p', { class: 'reason' }, ...why(s)));
  if (s.evidence !== null) lines.push(evidence(`${workflow.workflow_id}-${s.step_id}`, s.evidence));
  return lines;
}

/** The reason in the reader's language, and what the robot said about it. */
function why({ reason_code: code, message }) {
  if (!message) return [reasonText(code)];
  return [
    reasonText(code),
    h('span', { class: 'said', lang: languageOfWords(message) }, ` · ${robotWords(message)}`),
  ];
}

function evidence(key, facts) {
  const pairs = evidencePairs(facts);
  return h(
    'details',
    { 'data-key': `evidence-${key}` },
    h('summary', { 'data-key': `summary-${key}` }, t('evidence')),
    h(
      'dl',
      { class: 'evidence' },
      ...pairs.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
    ),
  );
}

const ENDED = ['COMPLETED', 'FAILED', 'CANCELLED'];

export function renderTasks(container, { tasks, now, act }) {
  const rows = tasks.slice(0, 12).map((task) => taskRow(task, now, act));
  replaceContent(container, rows.length > 0 ? rows : [h('p', { class: 'empty' }, t('noTasks'))]);
}

function taskRow(task, now, act) {
  const title = methodTitle(task.method, task.params);
  const ended = ENDED.includes(task.state);
  const lasting = task.started_at_ms === null ? null : age((task.ended_at_ms ?? now) - task.started_at_ms);
  const meta = [
    t(`source_${task.source}`),
    clockTime(task.started_at_ms ?? task.created_at_ms),
    lasting,
    ended ? null : progressText(task),
  ];
  return h(
    'article',
    { class: 'task' },
    h('p', { class: 'task-title' }, title),
    h(
      'div',
      { class: 'task-side' },
      h('span', { class: 'tag', 'data-tone': toneOf(task.state) }, t(`st_${task.state}`)),
      ended
        ? null
        : h(
            'button',
            {
              type: 'button',
              class: 'ghost slim danger',
              'data-key': `${task.task_id}-cancel`,
              disabled: task.state === 'CANCELLING',
              onclick: () => act('tasks', task.task_id, 'cancel', title),
            },
            t('cancel'),
          ),
    ),
    h(
      'p',
      { class: 'task-meta' },
      meta.filter(Boolean).join(' · '),
      task.reason_code === null ? null : h('span', { class: 'reason' }, ' · ', ...why(task)),
    ),
  );
}

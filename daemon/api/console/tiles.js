/** The tiles: battery, station, location, safety, air, cloud. What is stale looks stale, what is unknown says so. */
import { h, icon, replaceContent } from './dom.js';
import { age, t } from './language.js';

/** Stays with what stands before it when a line breaks. */
const DOT = '\u00a0· ';

/**
 * `model`: `{context, robot, now, outbox, linkStale}`; each of the first two may be null. A tile is
 * `{icon, title, value, detail, tone, known, age, meter?, facts?}`.
 */
export function renderTiles(container, heading, model) {
  const tiles = [battery, dock, location, safety, air, cloud].map((build) => draw(build(model)));
  replaceContent(container, [heading, ...tiles]);
}

function draw(tile) {
  const staleTag =
    tile.known === 'stale' && tile.age !== null
      ? h('span', { class: 'tag', 'data-tone': 'warn' }, t('stale', { age: age(tile.age) }))
      : null;
  return h(
    'article',
    { class: 'tile', 'data-tone': tile.tone ?? 'plain', 'data-known': tile.known },
    h('p', { class: 'tile-head' }, icon(tile.icon), tile.title, staleTag),
    h('p', { class: 'tile-value' }, tile.value),
    meter(tile),
    tile.detail ? h('p', { class: 'tile-detail' }, tile.detail) : null,
    tile.facts ? h('ul', { class: 'facts' }, ...tile.facts.map(fact)) : null,
  );
}

function meter({ meter: percent, low }) {
  if (percent === undefined) return null;
  const fill = h('span');
  fill.style.width = `${Math.max(0, Math.min(100, percent))}%`;
  return h('div', { class: 'meter', 'data-low': String(low === true), 'aria-hidden': 'true' }, fill);
}

function fact({ text, holds }) {
  return h('li', { 'data-fact': holds === null ? 'unknown' : holds ? 'yes' : 'no' }, text);
}

const unknown = (name, title) => ({ icon: name, title, value: t('unknown'), detail: null, known: 'unknown' });

/** Of a block of the context: never seen, seen too long ago, or good. */
function knowledge(block, model) {
  if (block === undefined || block === null || block.observed_at_ms === null)
    return { known: 'unknown', age: null };
  const ageMs = model.now - block.observed_at_ms;
  return { known: block.stale || model.linkStale ? 'stale' : 'fresh', age: ageMs };
}

function battery(model) {
  const block = model.context?.battery;
  if (block === undefined || block.level === null) return unknown('battery', t('battery'));
  const low = block.low === true;
  const charging = block.charging === null ? null : t(block.charging ? 'charging' : 'notCharging');
  return {
    icon: 'battery',
    title: t('battery'),
    value: `${Math.round(block.level)}%`,
    meter: block.level,
    low,
    tone: low ? 'bad' : 'plain',
    detail: [low ? t('low') : null, charging].filter(Boolean).join(DOT),
    ...knowledge(block, model),
  };
}

function dock(model) {
  const docked = model.robot?.base.docked ?? null;
  if (docked === null) return unknown('dock', t('dock'));
  return {
    icon: 'dock',
    title: t('dock'),
    value: t(docked ? 'docked' : 'undocked'),
    detail: t(docked ? 'contactsLive' : 'contactsOpen'),
    tone: docked ? 'ok' : 'plain',
    ...robotKnowledge(model, model.robot?.base.last_frame_at_ms ?? null),
  };
}

const ROBOT_TTL_MS = 3000;

function robotKnowledge(model, at) {
  if (at === null) return { known: 'stale', age: null };
  const ageMs = model.now - at;
  return { known: model.linkStale || ageMs > ROBOT_TTL_MS ? 'stale' : 'fresh', age: ageMs };
}

function location(model) {
  const { robot } = model;
  if (robot === null || robot.pose === null) return unknown('pin', t('location'));
  const room = model.context?.location?.current_room_name ?? t('outside');
  const score =
    robot.localization_score === null
      ? null
      : t('score', { score: Math.round(robot.localization_score * 100) });
  const sure = robot.localized === null ? null : t(robot.localized ? 'localized' : 'notLocalized');
  return {
    icon: 'pin',
    title: t('location'),
    value: room,
    tone: robot.localized === false ? 'warn' : 'plain',
    detail: [sure, score].filter(Boolean).join(DOT),
    ...robotKnowledge(model, robot.pose_at_ms),
  };
}

function safety(model) {
  const { robot } = model;
  if (robot === null) return unknown('shield', t('safety'));
  const { level, active } = robot.safety;
  const parts = [
    robot.base.connected ? null : t('baseGone'),
    robot.lidar.connected ? null : t('lidarGone'),
  ].filter(Boolean);
  const causes = active.map((condition) => t(`c_${condition}`, {}, condition));
  return {
    icon: 'shield',
    title: t('safety'),
    value: level === 'OK' ? t('safe') : t(level),
    tone: level === 'OK' ? (parts.length > 0 ? 'warn' : 'ok') : 'bad',
    detail: [...causes, ...parts].join(DOT) || t('partsOk'),
    ...robotKnowledge(model, robot.at_ms),
  };
}

const AIR_TONES = { good: 'ok', moderate: 'plain', bad: 'warn', very_bad: 'bad' };

function air(model) {
  const block = model.context?.air_quality;
  if (block === undefined) return unknown('air', t('air'));
  if (block.source_state === 'warming_up') return { ...unknown('air', t('air')), detail: t('warming_up') };
  if (block.source_state === 'error') return { ...unknown('air', t('air')), detail: t('sensorError') };
  if (!block.grade) return unknown('air', t('air'));
  const figures = [
    block.pm2_5 === null ? null : `PM2.5\u00a0${Math.round(block.pm2_5)}\u00a0µg/m³`,
    block.co2 === null ? null : `CO₂\u00a0${Math.round(block.co2)}\u00a0ppm`,
    block.temperature === null ? null : `${block.temperature.toFixed(1)}\u00a0°C`,
    block.humidity === null ? null : `${Math.round(block.humidity)}\u00a0%`,
  ];
  return {
    icon: 'air',
    title: t('air'),
    value: t(block.grade),
    tone: AIR_TONES[block.grade] ?? 'plain',
    detail: figures.filter(Boolean).join(DOT),
    ...knowledge(block, model),
  };
}

function cloud(model) {
  const facts = model.context?.network;
  if (facts === undefined) return unknown('cloud', t('cloud'));
  const {
    transport_connected: transport,
    subscription_ready: subscription,
    last_publish_ack_at: ack,
  } = facts;
  const { outbox } = model;
  const waiting =
    outbox === null
      ? null
      : outbox.depth === 0
        ? t('outboxEmpty')
        : t('outboxWaiting', { count: outbox.depth });
  const refused =
    outbox !== null && outbox.dead_letters > 0 ? t('deadLetters', { count: outbox.dead_letters }) : null;
  return {
    icon: 'cloud',
    title: t('cloud'),
    value: t(transport && subscription ? 'connected' : transport ? 'partly' : 'offline'),
    tone: transport && subscription ? 'plain' : 'warn',
    facts: [
      { text: t('fact_transport'), holds: transport },
      { text: t('fact_subscription'), holds: subscription },
      {
        text: ack === null ? t('fact_noack') : t('fact_ack', { age: age(model.now - ack) }),
        holds: ack === null ? null : true,
      },
    ],
    detail: [waiting, refused].filter(Boolean).join(DOT),
    known: model.linkStale ? 'stale' : 'fresh',
    age: null,
  };
}

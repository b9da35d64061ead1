/**
 * Driving by hand: hold a button or an arrow key down and the robot moves; let go, look away or lose the page, and it
 * stops. Each press is a task; signs of life go out ten times a second, and the robot stops by itself without them.
 */
import { complain } from './dialog.js';
import { byId, setText } from './dom.js';
import { t } from './language.js';
import { model } from './model.js';

const SIGN_OF_LIFE_MS = 100;
/** m/s and rad/s: slow enough to be followed by eye. */
const SPEED = 0.2;
const TURN = 0.8;

const DIRECTIONS = {
  forward: { v: SPEED, w: 0 },
  back: { v: -SPEED, w: 0 },
  left: { v: 0, w: TURN },
  right: { v: 0, w: -TURN },
};
const KEYS = { ArrowUp: 'forward', ArrowDown: 'back', ArrowLeft: 'left', ArrowRight: 'right' };

/** What is held down now; two at once drive a curve. */
const held = new Set();
let socket = null;
let beat = null;
/** The press that the robot knows of: its task once it has told, and the motion asked for. */
let press = null;
/** A refusal stands until everything is let go: a held button must not ask again and again. */
let refused = false;

function wish() {
  if (held.size === 0 || refused) return null;
  let v = 0;
  let w = 0;
  for (const direction of held) {
    v += DIRECTIONS[direction].v;
    w += DIRECTIONS[direction].w;
  }
  return v === 0 && w === 0 ? null : { v, w };
}

function say(message) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

function open() {
  const url = new URL('/api/drive/stream', location.href);
  url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  const mine = new WebSocket(url);
  socket = mine;
  mine.onopen = update;
  mine.onmessage = ({ data }) => hear(JSON.parse(data));
  mine.onclose = () => {
    if (socket !== mine) return;
    socket = null;
    press = null;
    if (held.size > 0) show(t('driveLost'));
    letGo();
  };
}

function hear(message) {
  if (message.type === 'pressed' && press !== null) press.known = true;
  if (message.type === 'refused') {
    press = null;
    refused = true;
    show(t('driveRefused'));
    complain({ code: message.code, message: message.message });
  }
  if (message.type === 'ended') {
    press = null;
    if (message.event === 'FAILED') {
      refused = true;
      complain({ code: message.reason_code, message: message.message ?? '' });
    }
  }
  update();
}

/** Brings what the robot was asked for and what is held together. */
function update() {
  const wanted = wish();
  showHeld();
  if (wanted === null) {
    if (press?.let === false) say({ type: 'release' });
    if (press !== null) press.let = true;
    clearInterval(beat);
    beat = null;
    return;
  }
  if (socket === null) return open();
  if (socket.readyState !== WebSocket.OPEN) return undefined;
  if (press === null) {
    press = { ...wanted, known: false, let: false };
    say({ type: 'press', ...wanted });
    beat ??= setInterval(() => {
      if (press !== null && !press.let) say({ type: 'hold' });
    }, SIGN_OF_LIFE_MS);
  } else if ((press.v !== wanted.v || press.w !== wanted.w) && !press.let) {
    // Another direction is another press, once this one is over.
    press.let = true;
    say({ type: 'release' });
  }
  return undefined;
}

function showHeld() {
  if (model.signedOut) return;
  for (const name of Object.keys(DIRECTIONS)) {
    byId(`drive-${name}`).dataset.held = String(held.has(name));
  }
  if (held.size > 0 && !refused) show(t('driving'));
  else if (held.size === 0) show(t('driveHint'));
}

function show(text) {
  setText('drive-note', text);
}

function hold(direction) {
  if (held.has(direction)) return;
  held.add(direction);
  update();
}

function release(direction) {
  if (!held.delete(direction)) return;
  if (held.size === 0) refused = false;
  update();
}

function letGo() {
  held.clear();
  refused = false;
  update();
}

/** Buttons, keys, and everything that means that nobody holds them any more. */
export function listenForDriving() {
  for (const name of Object.keys(DIRECTIONS)) {
    const button = byId(`drive-${name}`);
    button.onpointerdown = (event) => {
      button.setPointerCapture(event.pointerId);
      hold(name);
    };
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture']) {
      button.addEventListener(end, () => release(name));
    }
    button.oncontextmenu = (event) => event.preventDefault();
    button.onkeydown = (event) => {
      if (event.key !== ' ' && event.key !== 'Enter') return;
      event.preventDefault();
      hold(name);
    };
    button.onkeyup = (event) => {
      if (event.key === ' ' || event.key === 'Enter') release(name);
    };
    button.onblur = () => release(name);
  }
  const pad = byId('drive');
  pad.addEventListener('keydown', (event) => {
    const direction = KEYS[event.key];
    if (direction === undefined) return;
    event.preventDefault();
    hold(direction);
  });
  pad.addEventListener('keyup', (event) => {
    const direction = KEYS[event.key];
    if (direction !== undefined) release(direction);
  });
  pad.addEventListener('focusout', (event) => {
    if (!pad.contains(event.relatedTarget)) letGo();
  });
  window.addEventListener('blur', letGo);
  window.addEventListener('pagehide', letGo);
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) letGo();
  });
}

/** Shown where the robot can be driven; the note in the language of the page. */
export function showDriving(available) {
  if (model.signedOut) return;
  byId('drive').hidden = !available;
  showHeld();
}

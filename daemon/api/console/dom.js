/** Small helpers for building the page. Text from the robot only ever becomes text nodes. */

const SVG = 'http://www.w3.org/2000/svg';

/** Finds an element that the page is known to have. */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page lacks #${id}`);
  return element;
}

/** Sets a text only when it differs, so that screen readers are not told it again. */
export function setText(id, text) {
  const element = byId(id);
  if (element.textContent !== text) element.textContent = text;
}

/** `h('p', {class: 'muted', onclick: f}, 'text', child)`; null children and properties are left out. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(SVG, 'use');
  use.setAttribute('href', `#i-${name}`);
  svg.append(use);
  return svg;
}

/**
 * Replaces the content of `container` and keeps what the person was doing: opened details, focus, scroll
 * position. Elements are recognised by `data-key`.
 */
export function replaceContent(container, nodes) {
  const open = new Set([...container.querySelectorAll('details[open][data-key]')].map((d) => d.dataset.key));
  const focused = container.contains(document.activeElement)
    ? document.activeElement?.closest('[data-key]')?.dataset.key
    : undefined;
  const { scrollTop } = container;
  container.replaceChildren(...nodes);
  for (const details of container.querySelectorAll('details[data-key]')) {
    if (open.has(details.dataset.key)) details.open = true;
  }
  if (focused !== undefined) container.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  container.scrollTop = scrollTop;
}

/** Calls `fn` once, `ms` after the first of a burst of calls. */
export function gathered(ms, fn) {
  let timer = null;
  return () => {
    if (timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      fn();
    }, ms);
  };
}

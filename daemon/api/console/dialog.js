/** Telling the person something, and asking before the robot moves or gives up its work. */
import { byId, h, setText } from './dom.js';
import { t } from './language.js';
import { model } from './model.js';
import { robotWords } from './words.js';

/** For screen readers: what happened, politely. */
export function announce(text) {
  byId('announce').textContent = text;
}

export function toast(title, detail, tone = 'plain') {
  const node = h('div', { class: 'toast', 'data-tone': tone }, h('strong', {}, title), detail);
  byId('toasts').append(node);
  setTimeout(() => node.remove(), tone === 'bad' ? 9000 : 4000);
}

/** Shows why a request was refused. */
export function complain(error) {
  if (model.signedOut) return;
  const title = error.code === 'UNREACHABLE' ? t('unreachable') : t(`r_${error.code}`, {}, t('failed'));
  toast(title, robotWords(error.message ?? ''), 'bad');
}

/** Resolves to true when the person agrees. */
export function ask({ title, detail, yes, no, danger = false }) {
  const dialog = byId('ask');
  setText('ask-title', title);
  setText('ask-detail', detail);
  setText('ask-yes', yes);
  setText('ask-no', no);
  byId('ask-yes').className = danger ? 'primary danger' : 'primary';
  return new Promise((resolve) => {
    const answer = (value) => {
      dialog.onclose = null;
      dialog.close();
      resolve(value);
    };
    byId('ask-yes').onclick = () => answer(true);
    byId('ask-no').onclick = () => answer(false);
    dialog.onclose = () => resolve(false);
    dialog.showModal();
  });
}

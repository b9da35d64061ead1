/** What a person can have the robot do. Everything goes through the robot's own gate and may be refused there. */
import { announce, ask, complain, toast } from './dialog.js';
import { t } from './language.js';
import { request } from './link.js';
import { methodTitle } from './words.js';

async function send(path, body) {
  try {
    return await request(path, body);
  } catch (error) {
    complain(error);
    return null;
  }
}

export async function submit(method, params) {
  const accepted = await send('/api/tasks', { method, params });
  if (accepted !== null) toast(methodTitle(method, params), `${t('sent')}. ${t('sentDetail')}`);
}

export async function goTo(room) {
  const agreed = await ask({
    title: t('goAsk', { room: room.name }),
    detail: t('goDetail'),
    yes: t('go'),
    no: t('close'),
  });
  if (agreed) await submit('setMoveTo', { positionId: room.id });
}

/** `kind`: `tasks` or `workflows`; `verb`: pause, resume, cancel. */
export async function control(kind, id, verb, title) {
  if (verb === 'cancel') {
    const agreed = await ask({
      title: t('cancelAsk', { what: title }),
      detail: t('cancelDetail'),
      yes: t('cancel'),
      no: t('keep'),
      danger: true,
    });
    if (!agreed) return;
  }
  await send(`/api/${kind}/${encodeURIComponent(id)}/${verb}`, {});
}

/** Never asked about, and never disabled: stopping twice does no harm. */
export async function estop() {
  announce(t('estop'));
  await send('/api/estop', {});
}

export async function release() {
  const agreed = await ask({
    title: t('releaseAsk'),
    detail: t('releaseDetail'),
    yes: t('release'),
    no: t('close'),
    danger: true,
  });
  if (agreed) await send('/api/estop/release', {});
}

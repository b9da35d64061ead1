/** What a card says of a task that waits for an approval, in Korean and English. */
import type { Source } from '../../config/contracts/wire/events.js';
import type { ApprovalRow } from './approval-table.js';
import type { Card } from './approval-view.js';

type Language = 'ko' | 'en';
type Text = Record<Language, string>;

/** What an approval of a task is about; its digest is taken of just this. */
export interface ShownTask extends Record<string, unknown> {
  method: string;
  params: Record<string, unknown>;
  source: Source;
  origin: Source;
  workflow_id: string | null;
  step_id: string | null;
  completion_area_id: string | null;
  /** What takes it back; null: nothing does. */
  undo: { method: string; params: Record<string, unknown> } | null;
}

interface Look {
  icon: string;
  tone: Card['tone'];
  title: Text;
  cta: Text;
}

/** Methods that people are asked about by a name of their own. */
const LOOKS: Readonly<Record<string, Look>> = {
  resetMap: {
    icon: 'map',
    tone: 'coral',
    title: { ko: '집 지도를 그만 쓸까요?', en: 'Stop using the map of the home?' },
    cta: { ko: '그만 쓰기', en: 'Stop using it' },
  },
  startLiveView: {
    icon: 'camera',
    tone: 'amber',
    title: { ko: '집 안을 실시간으로 보여 줄까요?', en: 'Show the home live?' },
    cta: { ko: '보여 주기', en: 'Show' },
  },
  startOta: {
    icon: 'update',
    tone: 'amber',
    title: { ko: '로봇 소프트웨어를 바꿀까요?', en: "Update the robot's software?" },
    cta: { ko: '업데이트', en: 'Update' },
  },
};

const WHO: Readonly<Record<Source, Text>> = {
  LOCAL: { ko: '로봇 앞의 사람', en: 'somebody at the robot' },
  APP: { ko: '앱이나 콘솔', en: 'the app or the console' },
  VOICE: { ko: '말로 부탁한 사람', en: 'somebody who spoke to it' },
  CLOUD: { ko: '클라우드', en: 'the cloud' },
  SCHEDULE: { ko: '예약', en: 'a schedule' },
  PROACTIVE: { ko: '로봇 스스로', en: 'the robot itself' },
  SUPERVISOR: { ko: '로봇 스스로', en: 'the robot itself' },
};

/** Never shown, whoever put it there. */
const SECRET = /token|pin|password|secret|sig$/i;
const LONGEST = 400;

/** `titleOf`: what a method is called where a capability card names it. */
export function taskCard(
  { request }: ApprovalRow,
  language: Language,
  titleOf: (method: string) => Text | null,
): Card {
  const task = request.shown as ShownTask;
  const look = LOOKS[task.method] ?? null;
  const title = look?.title ?? askedTitle(titleOf(task.method) ?? { ko: task.method, en: task.method });
  return {
    icon: look?.icon ?? (request.risk === 'high' ? 'warning' : 'question'),
    tone: look?.tone ?? (request.risk === 'high' ? 'amber' : 'blue'),
    title: title[language],
    detail: detailOf(task, language),
    why: request.why[language],
    cta: (look?.cta ?? { ko: '승인', en: 'Approve' })[language],
    alt: { ko: '하지 않기', en: 'Do not' }[language],
    undo_label: task.undo === null ? null : { ko: '되돌리기', en: 'Undo' }[language],
  };
}

function askedTitle({ ko, en }: Text): Text {
  return { ko: `${ko}: 해도 될까요?`, en: `${en}: may it be done?` };
}

function detailOf(task: ShownTask, language: Language): string {
  const who = task.origin === task.source ? WHO[task.source] : WHO[task.origin];
  const what = `${task.method} ${paramsOf(task.params)}`.trim();
  const where =
    task.workflow_id === null
      ? ''
      : ` (${task.workflow_id}${task.step_id === null ? '' : `/${task.step_id}`})`;
  if (language === 'ko') {
    const undo = task.undo === null ? '한 뒤에는 되돌릴 수 없어요.' : '한 뒤에 되돌릴 수 있어요.';
    return `${who.ko}: ${what}${where}. ${undo}`;
  }
  const undo = task.undo === null ? 'It cannot be undone.' : 'It can be undone afterwards.';
  return `Asked for by ${who.en}: ${what}${where}. ${undo}`;
}

function paramsOf(params: Record<string, unknown>): string {
  if (Object.keys(params).length === 0) return '';
  const text = JSON.stringify(params, (key, value) => (SECRET.test(key) ? '…' : value));
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}… (+${text.length - LONGEST})` : text;
}

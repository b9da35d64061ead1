/** What a cleaning did, as a person wants to hear it: the grade and what to do, never a list of numbers. */
import { AIR_GRADES, type AirGrade } from '../../config/contracts/air.js';
import type { AirSample, CleaningResult } from '../../state-machines/cleaning-types.js';

const KO: Record<AirGrade, string> = {
  good: '좋음',
  moderate: '보통',
  bad: '나쁨',
  very_bad: '매우 나쁨',
};
const EN: Record<AirGrade, string> = {
  good: 'good',
  moderate: 'moderate',
  bad: 'bad',
  very_bad: 'very bad',
};

export interface Summary {
  ko: string;
  en: string;
}

/** `room`: where it was, or null. */
export function cleaningSummary(result: CleaningResult, room: string | null): Summary {
  const before = known(result.before);
  const after = known(result.after);
  return {
    ko: [whatKo(result.durationMs, room), changeKo(before, after), adviceKo(after)].filter(Boolean).join(' '),
    en: [whatEn(result.durationMs, room), changeEn(before, after), adviceEn(after)].filter(Boolean).join(' '),
  };
}

function known(sample: AirSample): AirGrade | null {
  return sample.usable ? sample.grade : null;
}

function whatKo(ms: number, room: string | null): string {
  const where = room === null ? '' : `${room}에서 `;
  return ms < 60_000
    ? `${where}공기를 ${Math.max(1, Math.round(ms / 1000))}초 동안 청정했어요.`
    : `${where}공기를 ${Math.round(ms / 60_000)}분 동안 청정했어요.`;
}

function whatEn(ms: number, room: string | null): string {
  const where = room === null ? '' : ` in ${room}`;
  const [n, unit] =
    ms < 60_000 ? [Math.max(1, Math.round(ms / 1000)), 'second'] : [Math.round(ms / 60_000), 'minute'];
  return `I purified the air${where} for ${n} ${unit}${n === 1 ? '' : 's'}.`;
}

function changeKo(before: AirGrade | null, after: AirGrade | null): string {
  if (after === null) return '지금 공기 상태는 확인하지 못했어요.';
  if (before === null || before === after) return `지금 공기는 ${KO[after]} 상태예요.`;
  return `공기가 ${KO[before]}에서 ${KO[after]} 상태로 바뀌었어요.`;
}

function changeEn(before: AirGrade | null, after: AirGrade | null): string {
  if (after === null) return 'I could not check how the air is now.';
  if (before === null || before === after) return `The air is ${EN[after]} now.`;
  return `The air went from ${EN[before]} to ${EN[after]}.`;
}

function adviceKo(after: AirGrade | null): string {
  if (after === null) return '';
  return AIR_GRADES.indexOf(after) >= 2 ? '30분 정도 더 청정하는 게 좋겠어요.' : '';
}

function adviceEn(after: AirGrade | null): string {
  if (after === null) return '';
  return AIR_GRADES.indexOf(after) >= 2 ? 'Another half hour would do it good.' : '';
}

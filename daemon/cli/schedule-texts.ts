/** What `schedule …` says, in Korean and English. */

export const scheduleTexts = {
  cmdSchedule: {
    ko: '예약 추가, 보기, 멈추기, 다시 시작, 지우기',
    en: 'add, list, show, pause, resume and remove schedules',
  },
  cmdScheduleAdd: {
    ko: '예약 추가 (JSON 또는 YAML; -는 표준 입력)',
    en: 'add a schedule (JSON or YAML; - is standard input)',
  },
  cmdScheduleList: {
    ko: '예약 목록: 다음 실행과 마지막 결과',
    en: 'list schedules with their next run and how the last one ended',
  },
  cmdScheduleShow: { ko: '예약 하나와 실행할 내용', en: 'one schedule and what it runs' },
  cmdSchedulePause: {
    ko: '예약 멈추기: 그동안의 실행은 건너뛰어요',
    en: 'pause: what falls into that time is not run',
  },
  cmdScheduleResume: { ko: '다음 시각부터 다시 시작', en: 'resume with the next time' },
  cmdScheduleRemove: { ko: '예약 지우기', en: 'remove' },
  acceptedSchedule: { ko: '예약했어요: {id}, 다음 실행 {next}', en: 'scheduled: {id}, next at {next}' },
  noSchedules: { ko: '예약이 없어요', en: 'no schedules' },
  never: { ko: '없음', en: 'never' },
  hRule: { ko: '언제', en: 'when' },
  hDoes: { ko: '할 일', en: 'does' },
  hNext: { ko: '다음 실행', en: 'next run' },
  hLast: { ko: '마지막 실행', en: 'last run' },
  hBlocked: { ko: '막힌 이유', en: 'blocked by' },
} as const;

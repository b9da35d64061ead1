/** Whether the robot knows what time it is. Pure: evidence comes in, a verdict goes out. */

/** What `clock_trusted` of a profile can be; true and false are older words for always and never. */
export type ClockTrustMode = 'auto' | 'always' | 'never' | boolean;

/** What the host says about its clock; null where that cannot be told. */
export interface HostTimeFacts {
  /** The kernel's clock is kept by NTP, or was set by it since the host started. */
  synchronised: boolean | null;
  /** The kernel's clock was set from a battery-backed clock when the host started. */
  rtc: boolean | null;
}

export interface ClockEvidence {
  nowMs: number;
  /** The newest time at which this robot knew the time, or null. */
  newestMs: number | null;
  /** Null: not asked yet. */
  host: HostTimeFacts | null;
}

export interface ClockVerdict {
  trusted: boolean;
  why: { ko: string; en: string };
}

/** No robot runs this version before it was written; raised with each release. */
export const WRITTEN_MS = Date.UTC(2026, 10, 1);
/** A clock may have been a little ahead when its time was stored. */
const BEHIND_MS = 24 * 3_600_000;

export function judgeClock(mode: ClockTrustMode, evidence: ClockEvidence): ClockVerdict {
  if (mode === 'always' || mode === true) return yes('설정에 따라 믿어요', 'trusted by the profile');
  if (mode === 'never' || mode === false) return no('설정에 따라 믿지 않아요', 'not trusted by the profile');
  const { nowMs, newestMs, host } = evidence;
  if (nowMs < WRITTEN_MS) {
    return no(
      '프로그램이 만들어진 날보다 앞선 시각이에요',
      'it shows a time before this program was written',
    );
  }
  if (host === null) return no('아직 확인하는 중이에요', 'it is being looked at');
  if (host.synchronised === true) return yes('NTP로 맞춰져 있어요', 'kept by NTP');
  if (newestMs !== null && nowMs < newestMs - BEHIND_MS) {
    return no('이 로봇이 이미 지나온 시각보다 앞서요', 'it shows a time that this robot has left behind');
  }
  if (host.rtc === true) return yes('배터리 시계에서 왔어요', 'set from a battery-backed clock');
  if (host.synchronised === null) {
    return yes('그럴듯한 시각이고, 물어볼 곳이 없어요', 'plausible, and nobody can be asked');
  }
  return no('아직 NTP로 맞춰지지 않았어요', 'NTP has not set it yet');
}

function yes(ko: string, en: string): ClockVerdict {
  return { trusted: true, why: { ko, en } };
}

function no(ko: string, en: string): ClockVerdict {
  return { trusted: false, why: { ko, en } };
}

/**
 * The methods of the product that this version does not build, by executor. They are named, so that who asks for one
 * is told so and not that it does not exist; nothing else knows them. A method leaves this list when it is
 * registered: a test fails on a name that stands in both, and on one that stands in neither.
 */
import { Refusal } from '../config/contracts/errors.js';

export const NOT_BUILT = {
  cleaning: ['startRoomCleaning', 'startAirQualityPatrol', 'ampStop'],
  vision: ['setVisionEnable', 'scanForPeople', 'describeScene'],
  security: [
    'checkSecurityBasicAvailability',
    'startSecurityMode',
    'pauseSecurityMode',
    'resumeSecurityMode',
    'stopSecurityMode',
    'submitVerification',
  ],
  voice: ['setChangeLlmStatus', 'stopLlm', 'setVoiceGuide', 'setLanguage'],
  streaming: ['startLiveView', 'stopLiveView', 'liveViewMove', 'liveViewRotate', 'uploadEventAsset'],
  interaction: ['interSchedule', 'cancelInteraction', 'pauseInteraction', 'resumeInteraction'],
  app: ['setLauncherScreen', 'setAppStatus'],
  iot: ['syncSchedules', 'requestOutdoorAir', 'uploadDeviceLog'],
  maintenance: ['startOta', 'restartDaemon'],
  filing: ['startFiling', 'confirmFilingLogin', 'approveFilingSubmit', 'cancelFiling'],
  errand: ['startErrand', 'cancelErrand'],
  assistant: ['runJob', 'createFocusBlock', 'createTodo', 'setQuietHours'],
} as const;

export const NOT_BUILT_METHODS: ReadonlySet<string> = new Set(Object.values(NOT_BUILT).flat());

/** Why a card of such a method is not available, and why the method is refused. */
export function notBuiltText(method: string): string {
  return `this version does not build ${method} yet`;
}

/** Whether a reason says just that, with or without a code or a field before it. */
export function saysNotBuilt(text: string): boolean {
  return /(^|: )this version does not build \w+ yet$/.test(text);
}

/** The refusal of a method that is not registered, with its `field` named. */
export function noSuchMethod(method: string, field: string, registered: Iterable<string>): Refusal {
  if (NOT_BUILT_METHODS.has(method)) {
    return new Refusal('CAPABILITY_UNAVAILABLE', `${field}: ${notBuiltText(method)}`, field);
  }
  const known = [...registered].join(', ') || 'no methods';
  const found = JSON.stringify(method);
  return new Refusal('UNKNOWN_METHOD', `${field}: found ${found}; this robot has ${known}`, field);
}

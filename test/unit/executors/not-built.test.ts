/** What this version does not build is one list, and that list shrinks: a method stands in it, or is registered. */
import { describe, expect, it } from 'vitest';
import { NOT_BUILT, NOT_BUILT_METHODS, noSuchMethod, saysNotBuilt } from '../../../executors/not-built.js';
import { testRobot } from '../../support/services.js';

/** The product's table of methods, by executor: sixty of the device, and those of the three executors beyond. */
const DEVICE: Record<string, string> = {
  movement:
    'setMoveTo pauseMove resumeMove stopMove rotate manualMove returnToStation undock relocalizeAtStation startFollowMe stopFollowMe',
  map: 'startMapping stopMapping saveMap copyMap resetMap setAreas setKeepOut',
  cleaning:
    'startCleaning startRoomCleaning startAirQualityPatrol pauseCleaning resumeCleaning stopCleaning ampStop setCleaningMode',
  vision: 'setVisionEnable scanForPeople describeScene',
  security:
    'checkSecurityBasicAvailability startSecurityMode pauseSecurityMode resumeSecurityMode stopSecurityMode submitVerification',
  voice: 'setChangeLlmStatus stopLlm setLlmTts stopTts setVoiceGuide setLanguage',
  streaming: 'startLiveView stopLiveView liveViewMove liveViewRotate uploadEventAsset',
  interaction: 'interSchedule cancelInteraction pauseInteraction resumeInteraction',
  app: 'setLauncherScreen setAppStatus',
  iot: 'syncState syncSchedules requestOutdoorAir uploadDeviceLog',
  maintenance: 'runMotorDiagnostics calibrateSensors startOta restartDaemon',
};
const BEYOND: Record<string, string> = {
  filing: 'startFiling confirmFilingLogin approveFilingSubmit cancelFiling',
  errand: 'startErrand cancelErrand',
  assistant: 'runJob createFocusBlock createTodo setQuietHours',
};
const names = (table: Record<string, string>) => Object.values(table).flatMap((list) => list.split(' '));

const { methods } = testRobot();
const registered = new Map(methods.map((method) => [method.name, method.executor] as const));

describe('the methods of the product', () => {
  it('are sixty of the device on eleven executors', () => {
    expect(Object.keys(DEVICE)).toHaveLength(11);
    expect(new Set(names(DEVICE)).size).toBe(60);
  });

  it('are each registered with their executor, or listed there as not built; never both, never neither', () => {
    for (const [executor, list] of Object.entries({ ...DEVICE, ...BEYOND })) {
      const notBuilt: readonly string[] = NOT_BUILT[executor as keyof typeof NOT_BUILT] ?? [];
      for (const name of list.split(' ')) {
        expect(
          [registered.get(name) === executor, notBuilt.includes(name)].filter(Boolean),
          name,
        ).toHaveLength(1);
      }
    }
  });

  it('are all there is', () => {
    const table = [...names(DEVICE), ...names(BEYOND)];
    for (const name of [...registered.keys(), ...NOT_BUILT_METHODS]) expect(table).toContain(name);
    expect(registered.size + NOT_BUILT_METHODS.size).toBe(table.length);
  });
});

describe('a method that is not built', () => {
  it('is refused as such, one that does not exist as that', () => {
    expect(noSuchMethod('startOta', 'method', ['stopMove'])).toMatchObject({
      reason: 'CAPABILITY_UNAVAILABLE',
      message: 'method: this version does not build startOta yet',
      field: 'method',
    });
    expect(noSuchMethod('fly', 'steps.s1.method', ['stopMove'])).toMatchObject({
      reason: 'UNKNOWN_METHOD',
      message: 'steps.s1.method: found "fly"; this robot has stopMove',
    });
  });

  it('is told from everything else by its words', () => {
    expect(saysNotBuilt('CAPABILITY_UNAVAILABLE: this version does not build startOta yet')).toBe(true);
    expect(saysNotBuilt('CAPABILITY_UNAVAILABLE: no map is loaded')).toBe(false);
  });
});

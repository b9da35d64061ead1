import { describe, expect, it } from 'vitest';
import type { AmrDriver } from '../../../config/contracts/amr.js';
import { loadConfig } from '../../../config/load.js';
import { profilePath } from '../../../config/profiles.js';
import type { Config } from '../../../config/schema.js';
import { type DoctorSources, doctorOf } from '../../../daemon/compose/doctor.js';
import type { MapBundle } from '../../../drivers/amr/types.js';

const NO_VIEW = () => ({ scan: null, path: [] });

/** A robot whose parts report, or do not. */
function sources(over: Partial<DoctorSources> = {}, reports = false): DoctorSources {
  const state = {
    rtBootId: 'rt-1',
    base: { connected: reports },
    lidar: { connected: reports },
    localized: reports,
    safety: { estop: { latched: false } },
  };
  const { config } = loadConfig(profilePath('create2'), {}, '/tmp');
  return {
    config: {
      ...config,
      base:
        config.base === null
          ? null
          : { ...config.base, port: { kind: 'serial', path: '/dev/no-such-base', baud_rate: 115_200 } },
    },
    amr: { state: () => state, view: NO_VIEW } as unknown as AmrDriver,
    bodyUnavailable: null,
    map: null,
    mapProblem: null,
    airSensor: null,
    fan: null,
    cloud: null,
    databaseMovedTo: null,
    databaseFailing: null,
    outboxDepth: 0,
    clock: { trusted: true, why: { ko: 'NTP로 맞춰져 있어요', en: 'kept by NTP' } },
    ...over,
  };
}

const about = (part: string, given: DoctorSources) => doctorOf(given, 'en').find((c) => c.part === part);

describe('the doctor', () => {
  it('says why the clock is not trusted, and what waits for it', () => {
    const clock = {
      trusted: false,
      why: { ko: '아직 NTP로 맞춰지지 않았어요', en: 'NTP has not set it yet' },
    };
    expect(about('clock', sources())).toMatchObject({ state: 'ok', message: 'kept by NTP' });
    expect(about('clock', sources({ clock }))).toMatchObject({
      state: 'faulty',
      message: expect.stringContaining('schedules wait and commands are refused'),
    });
  });

  it('names a device that is not there, the key to set, and where the names are', () => {
    expect(about('base', sources())).toMatchObject({
      state: 'faulty',
      message: expect.stringMatching(/there is no device \/dev\/no-such-base.*(base\.port|USB cable)/),
    });
  });

  it('of a robot with Nav2 names the bridge and the topic that is missing, and asks for no serial port', () => {
    const { config } = loadConfig(profilePath('ros2'), {}, '/tmp');
    for (const part of ['base', 'lidar']) {
      expect(about(part, sources({ config }))).toMatchObject({
        state: 'faulty',
        message: expect.stringMatching(/no (odom|scan) comes over rosbridge ws:\/\/127\.0\.0\.1:9090/),
      });
      expect(about(part, sources({ config }, true))).toMatchObject({ state: 'ok' });
    }
  });

  it('does not ask to put a robot on its station that has no map to be found on', () => {
    expect(about('localisation', sources())).toMatchObject({
      state: 'missing',
      message: 'needs a map and a lidar',
    });
  });

  it('does not send a robot onto a station that its map does not have', () => {
    const lost = {
      rtBootId: 'rt-1',
      localized: false,
      base: { connected: true },
      lidar: { connected: true },
      safety: { estop: { latched: false } },
    };
    const map = { areas: { rooms: [], station: null } } as unknown as MapBundle;
    const given = sources({ map, amr: { state: () => lost, view: NO_VIEW } as unknown as AmrDriver });
    const lidar = {
      driver: 'ld19',
      port: { kind: 'serial', path: '/dev/null', baud_rate: 230_400 },
      yaw: 0,
      x: 0,
      y: 0,
      inverted: false,
      masks: [],
    } satisfies Config['lidar'];
    expect(about('localisation', { ...given, config: { ...given.config, lidar } })?.message).toContain(
      'has no station',
    );
  });

  it('says that nothing can be stored while the disk is full', () => {
    expect(about('database', sources({ databaseFailing: 'FULL' }))).toMatchObject({
      state: 'faulty',
      message: 'the disk is full: nothing can be stored; free some space',
    });
    expect(about('database', sources({ databaseFailing: 'IO' }))).toMatchObject({ state: 'faulty' });
  });

  it('speaks Korean and English about every part', () => {
    const hangul = /[가-힣]/;
    for (const given of [
      sources(),
      sources({ databaseMovedTo: '/var/old.db' }, true),
      sources({ databaseFailing: 'FULL' }),
      sources({ databaseFailing: 'IO' }),
    ]) {
      for (const check of doctorOf(given, 'ko')) expect(`${check.part} ${check.message}`).toMatch(hangul);
      for (const check of doctorOf(given, 'en')) expect(`${check.part} ${check.message}`).not.toMatch(hangul);
    }
  });
});

/** `doctor` tells a builder which wire is wrong, from what is heard on the lines and seen by the lidar. */
import { describe, expect, it } from 'vitest';
import type { Config } from '../../config/schema.js';
import type { Home } from '../support/home.js';
import { inHome } from './support/in-home.js';

function told(home: Home, language: 'ko' | 'en', part: string): string {
  return home.daemon.runtime
    .doctor(language)
    .filter((check) => check.part === part && check.state === 'faulty')
    .map((check) => check.message)
    .join(' ');
}

/** The daemon as a robot whose base does not answer comes up all the same; it is only never online with a context of motion. */
const swapped = ({ base, lidar, ...rest }: Config): Config => ({
  ...rest,
  base: base && { ...base, port: { kind: 'memory', name: 'lidar' } },
  lidar: lidar && { ...lidar, port: { kind: 'memory', name: 'base' } },
});

describe('doctor', () => {
  it('hears the lidar on the port of the base, and says to swap them', () =>
    inHome({ editConfig: swapped }, async ({ home }) => {
      await home.run(3_000);
      expect(told(home, 'en', 'base')).toMatch(
        /the lidar \(LD19\) is on base.*swap the two ports|the lidar \(LD19\) is on lidar: swap/,
      );
      expect(told(home, 'ko', '구동부')).toMatch(/라이다\(LD19\)가 꽂혀 있어요/);
      expect(told(home, 'en', 'lidar')).toMatch(/nothing is heard/);
    }));

  it('sees that the lidar is covered, and where', () =>
    inHome({}, async ({ home }) => {
      await home.inject('block-lidar', '90');
      await home.run(1_500);
      expect(told(home, 'en', 'lidar')).toMatch(/sees nothing over \d+° around -?\d°/);
    }));

  it('sees from the station that the lidar hangs head down', () =>
    inHome({ lidarMounting: { x: 0, y: 0, yaw: 0, inverted: true, posts: [] } }, async ({ home }) => {
      await home.run(1_500);
      expect(told(home, 'en', 'lidar')).toMatch(/mirror image.*lidar.inverted/);
    }));

  it('repeats what the last diagnosis of the wheels found, until one finds nothing', () =>
    inHome({}, async ({ home }) => {
      await home.end(await home.task('setMoveTo', { positionName: '거실' }));
      await home.inject('wires', 'swap-motors');
      await home.end(await home.task('runMotorDiagnostics'), 60_000);
      expect(told(home, 'en', 'wheels')).toMatch(/motor wires of left and right are swapped/);
      await home.inject('wires', 'ok');
      await home.end(await home.task('runMotorDiagnostics'), 60_000);
      expect(told(home, 'en', 'wheels')).toBe('');
    }));

  it('names the chips that answer, with their versions and temperature', () =>
    inHome({ base: 'kobuki', lidar: 'rplidar_a1' }, async ({ home }) => {
      await home.run(2_000);
      const ok = home.daemon.runtime.doctor('en').filter((check) => check.state === 'ok');
      expect(ok.find((check) => check.part === 'base')?.message).toBe('answers (kobuki, v1.2.0)');
      expect(ok.find((check) => check.part === 'lidar')?.message).toBe('sends scans (RPLIDAR A1 v1.29)');
    }));
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeLaserScan } from '../../../drivers/recorded/cdr.js';
import { isMcap, readMcap } from '../../../drivers/recorded/mcap.js';
import { itWithShared } from '../../support/shared-data.js';

describe('replay of MCAP', () => {
  itWithShared(
    'reads a ROS 2 recording that is compressed with zstd: every message counted, speeds decoded',
    'lidar_logs/nav2_cm_moving_obstacle/_tmp_cm_bag_0.mcap.zstd',
    (path) => {
      const bytes = readFileSync(path);
      expect(isMcap(bytes)).toBe(true);
      const items = [...readMcap(bytes)];
      const topics = items.flatMap((item) => (item.type === 'topic' ? [[item.topic, item.messages]] : []));
      expect(Object.fromEntries(topics)).toEqual({
        '/local_costmap/costmap': 231,
        '/cmd_vel_smoothed': 231,
        '/clock': 231,
      });
      const twists = items.filter((item) => item.type === 'twist');
      expect(twists).toHaveLength(231);
      expect(twists.every(({ v, w }) => Math.abs(v) <= 2 && Math.abs(w) <= 4)).toBe(true);
      expect(items.filter((item) => item.type === 'damaged')).toEqual([]);
    },
  );

  it('says what is damaged in a file that was cut, after what could be read', () => {
    const items = [...readMcap(Uint8Array.of(0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a, 0xff, 0xff))];
    expect(items.every((item) => item.type === 'damaged' || item.type === 'topic')).toBe(true);
  });

  it('decodes a LaserScan of ROS 2, whose numbers are aligned behind its text', () => {
    const bytes = new Uint8Array(4 + 64);
    const view = new DataView(bytes.buffer, 4);
    bytes.set([0, 1, 0, 0]);
    view.setUint32(8, 6, true);
    bytes.set(new TextEncoder().encode('laser'), 4 + 12);
    [-3, 3, 0.5, 0, 0.1, 0.2, 8].forEach((value, i) => {
      view.setFloat32(20 + 4 * i, value, true);
    });
    view.setUint32(48, 2, true);
    view.setFloat32(52, 1.5, true);
    view.setFloat32(56, 2.5, true);
    expect(decodeLaserScan(bytes)).toMatchObject({
      frame: 'laser',
      angleMin: -3,
      rangeMax: 8,
      ranges: [1.5, 2.5],
    });
  });
});

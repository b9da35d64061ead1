import { expect } from 'vitest';
import { pathQuality } from '../../support/path-quality.js';
import { itWithShared } from '../../support/shared-data.js';

const MAPS: readonly [string, number][] = [
  ['maps/aws_small_house/map.yaml', 40],
  ['maps/nav2_bringup/depot.yaml', 40],
  ['maps/nav2_bringup/warehouse.yaml', 8],
];

for (const [map, ways] of MAPS) {
  itWithShared(
    `ways on ${map} are hardly longer than the shortest at any angle, without kinks, and keep clear of walls`,
    map,
    (path) => {
      const { lengthRatio, sharpest, near, disagreements } = pathQuality(path, ways, 1);
      expect(disagreements).toBe(0);
      expect(lengthRatio).toBeLessThan(1.035);
      // The follower steers for a point 0.2 to 0.5 m ahead: what bends less between pieces of 0.1 m is a curve to it.
      expect(Math.max(...sharpest)).toBeLessThan((40 * Math.PI) / 180);
      expect(near.planned).toBeLessThan(0.5 * near.shortest);
    },
    60_000,
  );
}

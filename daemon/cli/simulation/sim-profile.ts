/** The simulated home's profile for a robot with another base or lidar than the reference robot's. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { profilePath } from '../../../config/profiles.js';
import type { BaseChip, LidarChip } from '../../../simulator/devices/index.js';

export interface SimChips {
  base: BaseChip;
  lidar: LidarChip;
  /** Instead of base and lidar: a robot behind a rosbridge; `url` null: in this process. */
  ros?: { distro: 'humble' | 'jazzy'; url: string | null } | null;
}

const FILE = 'sim-profile.yaml';
const LIDAR_BAUD: Readonly<Record<LidarChip, number>> = { ld19: 230_400, rplidar_a1: 115_200 };

/**
 * Path of the profile: the one that comes along for the reference robot; otherwise a copy of it in the state directory
 * that names the other chips, as a builder would write it.
 */
export function simProfile(stateDir: string, { base, lidar, ros = null }: SimChips): string {
  const original = profilePath('sim');
  if (ros === null && base === 'create2' && lidar === 'ld19') return original;
  const profile = parseDocument(readFileSync(original, 'utf8'));
  if (ros !== null) {
    profile.delete('base');
    profile.delete('lidar');
    const topics = { hazards: 'hazard_detection', dock: 'dock_status' };
    const url = ros.url ?? 'ws://127.0.0.1:9090';
    profile.set('ros2', profile.createNode({ distro: ros.distro, url, topics }));
    const path = join(stateDir, FILE);
    writeFileSync(path, String(profile), { mode: 0o600 });
    return path;
  }
  profile.setIn(['base', 'driver'], base);
  profile.setIn(['lidar', 'driver'], lidar);
  profile.setIn(['lidar', 'port', 'baud_rate'], LIDAR_BAUD[lidar]);
  const path = join(stateDir, FILE);
  writeFileSync(path, String(profile), { mode: 0o600 });
  return path;
}

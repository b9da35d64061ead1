/** What the navigation on board can do. */
import type { AmrAbilities } from '../../config/contracts/amr.js';

/** Without a lidar nothing sees: neither walls, nor people, nor where the robot is. */
export function onboardAbilities(lidar: boolean): AmrAbilities {
  return {
    mapping: lidar,
    follow: lidar,
    manualDrive: true,
    relocalizeAnywhere: lidar,
    diagnostics: true,
    calibration: true,
  };
}

import { errorText } from '../config/contracts/errors.js';
import type { Log } from '../config/contracts/log.js';
import type { SnapshotStorage } from './types.js';

/** A snapshot that cannot be written costs the memory of a restart, never a motion that is under way, nor whoever heard of it. */
export function tolerantSnapshots(snapshots: SnapshotStorage, log: Log): SnapshotStorage {
  return {
    loadSnapshot: (key) => snapshots.loadSnapshot(key),
    saveSnapshot(key, snapshot) {
      try {
        snapshots.saveSnapshot(key, snapshot);
      } catch (error) {
        log.error(
          { key, error: errorText(error) },
          'a machine snapshot was not stored; the robot goes on without it',
        );
      }
    },
  };
}

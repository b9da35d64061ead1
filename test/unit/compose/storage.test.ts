import { afterEach, expect, it } from 'vitest';
import { Ids, seededRandom } from '../../../config/contracts/ids.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { loadConfig } from '../../../config/load.js';
import { profilePath } from '../../../config/profiles.js';
import { openStorage } from '../../../daemon/compose/storage.js';
import { CommitExcuse, Liveness } from '../../../daemon/rt-client/liveness.js';
import { removeTemporaryDirectories, temporaryDirectory } from '../store/store-world.js';

afterEach(removeTemporaryDirectories);

it('a commit to a slow disk excuses the main loop from its sign of life, and only while it lasts', async () => {
  const clock = new SimClock(Date.UTC(2026, 10, 30));
  const stateDir = temporaryDirectory();
  const loaded = loadConfig(profilePath('sim'), {}, stateDir);
  const ids = new Ids(() => clock.now(), seededRandom(1));
  const commits = new Liveness();
  const { store } = openStorage({ loaded, stateDir, clock, log: SILENT_LOG }, ids, 'b-1', commits);
  const excused: boolean[] = [];
  const look = () => excused.push(new CommitExcuse().holds(0, commits.commit));
  store.participate({ beforeCommit: look });
  look();
  store.afterCommit(look);
  await store.committed();
  expect(excused).toEqual([false, true, false]);
  store.close();
});

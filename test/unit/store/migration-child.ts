/** Migrates the database named in its argument by a step that lasts for ever, for a test that kills it inside. */
import { SystemClock } from '../../../config/contracts/clock.js';
import { Ids, seededRandom } from '../../../config/contracts/ids.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { MIGRATIONS } from '../../../daemon/store/schema.js';
import { Store } from '../../../daemon/store/store.js';

const clock = new SystemClock();
const ids = new Ids(() => clock.now(), seededRandom(1));
const endless = `
  ALTER TABLE outbox_ordered ADD COLUMN half_way TEXT;
  UPDATE outbox_ordered SET payload = 'half way';
  DELETE FROM outbox_responses;
  CREATE TABLE filler (x);
  INSERT INTO filler WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1e12)
    SELECT randomblob(200) FROM n;
`;
process.stdout.write('migrating\n');
Store.open({
  file: process.argv[2] ?? '',
  clock,
  ids,
  log: SILENT_LOG,
  migrations: [...MIGRATIONS, endless],
});
process.stdout.write('done\n');

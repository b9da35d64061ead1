/** Where a run takes place: disk, broker, network, simulation; and the first start, which may be hard. */
import { cpSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../config/contracts/ids.js';
import { freePort } from '../../daemon/cli/simulation/free-port.js';
import { aedesBroker, type CrashBroker, mosquittoBroker } from './brokers.js';
import { FaultDesk } from './fault-orders.js';
import { leaveOldDatabase, MIGRATIONS_DUE } from './old-database.js';
import { pick } from './pick.js';
import type { CrashRunOptions } from './run-options.js';
import { Simulation } from './simulation.js';
import { SmallDisk } from './small-disk.js';
import { sleep } from './waiting.js';

export interface Place {
  sim: Simulation;
  broker: CrashBroker;
  desk: FaultDesk;
  disk: SmallDisk | null;
  diskNotFilled: string | null;
  stateDir: string;
  inherited: readonly string[];
  /** Lets the daemon die in its migrations, a few times, and then get through. */
  throughMigrations(): Promise<void>;
  /** What the daemon speaks from its next start on. */
  nextProtocol(): void;
  close(): Promise<void>;
}

const MIGRATION_DEATHS = 2;
const MIGRATION_MS = 30_000;

export async function preparePlace(options: CrashRunOptions): Promise<Place> {
  const { stateDir: dir, seed } = options;
  let diskNotFilled: string | null = null;
  const stateDir = join(dir, 'state');
  const disk =
    options.smallDisk === true
      ? SmallDisk.mount(stateDir, (reason) => {
          diskNotFilled = reason;
        })
      : null;
  const desk = new FaultDesk(join(dir, 'faults'));
  const inherited = options.oldDatabase === true ? leaveOldDatabase(stateDir) : [];
  const mqttPort = await freePort(0);
  let sim: Simulation | null = null;
  const theSim = () => {
    if (sim === null) throw new Error('there is no simulation yet');
    return sim;
  };
  const broker =
    options.broker === 'mosquitto' ? await mosquittoBroker() : await aedesBroker(mqttPort, theSim);
  const random = seededRandom(seed ^ 0x917);
  const nextProtocol = () => {
    const protocol = options.mqtt === 'mix' ? pick(['3.1.1', '5'] as const, random) : options.mqtt;
    desk.order({
      env: { DEVICEAGENT_MQTT_URL: broker.robotUrl, DEVICEAGENT_MQTT_PROTOCOL: protocol },
    });
  };
  nextProtocol();
  const migrating = inherited.length > 0 && MIGRATIONS_DUE > 0;
  if (migrating) desk.order({ die: 'migration', nth: 1, early: seed % 2 === 0 });
  sim = await Simulation.start({ ...options, stateDir, mqttPort, faultsDir: desk.dir });
  const started = sim;
  return {
    sim: started,
    broker,
    desk,
    disk,
    diskNotFilled,
    stateDir,
    inherited,
    nextProtocol,
    throughMigrations: async () => {
      if (migrating) await dieInMigrations(desk);
    },
    close: async () => {
      if (started.ended === null) await started.stop();
      await broker.close();
      if (disk === null) return;
      // For whoever has to find out what happened: what lies in memory is gone with it.
      cpSync(stateDir, join(dir, 'state-of-the-small-disk'), { recursive: true, filter: isFile });
      disk.unmount();
    },
  };
}

/** Sockets and device files cannot be copied. */
function isFile(path: string): boolean {
  const kind = lstatSync(path);
  return kind.isFile() || kind.isDirectory();
}

/** Once at the first step, once at the last; then nothing stands in the way. */
async function dieInMigrations(desk: FaultDesk): Promise<void> {
  const deadline = Date.now() + MIGRATION_MS;
  for (let deaths = 0; deaths < MIGRATION_DEATHS; ) {
    if (Date.now() > deadline) throw new Error('the daemon does not migrate its database');
    await sleep(5);
    if (desk.deaths.length === deaths) continue;
    deaths = desk.deaths.length;
    const more = deaths < MIGRATION_DEATHS;
    desk.order(more ? { die: 'migration', nth: MIGRATIONS_DUE, early: false } : { die: null });
  }
}

/**
 * A daemon that takes part in a lock-step simulation and leaves the station at a fixed time on the robot's clock;
 * a process of its own, with a motion process below it.
 */
import { join } from 'node:path';
import { SystemClock } from '../../../config/contracts/clock.js';
import { LOCKSTEP_ENV } from '../../../config/contracts/lockstep.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { RtClient } from '../../../daemon/rt-client/rt-client.js';
import { RtSupervisor } from '../../../daemon/rt-client/rt-supervisor.js';
import { loadMapBundle } from '../../../drivers/amr/map/bundle.js';
import { LockstepParticipant } from '../../../drivers/lockstep/participant.js';
import { rtConfigSchema } from '../../../drivers/rt/config.js';

const config = rtConfigSchema.parse(JSON.parse(process.argv[2] ?? ''));
const machine = new SystemClock();
const participant = await LockstepParticipant.join({
  socketPath: process.env[LOCKSTEP_ENV] ?? '',
  name: 'daemon',
  pid: process.pid,
  wall: () => machine.wall(),
  onLost: () => process.exit(0),
});
const { clock } = participant;
const client = new RtClient({ clock, log: SILENT_LOG, heartbeat: 'on_clock', latchEstop: async () => {} });
const supervisor = new RtSupervisor({
  client,
  config,
  clock: machine,
  log: SILENT_LOG,
  env: process.env,
  silentLimitMs: null,
});
client.subscribe((event) => {
  if (event.type === 'action') process.send?.({ at: event.update.at, status: event.update.status });
});
clock.after(1500, () => void leaveStation());
supervisor.start();
participant.watch({
  ports: () => ({}),
  links: () => ({ rt: supervisor.linkCounts }),
  busy: () => (client.connected ? 0 : 1),
});

async function leaveStation(): Promise<void> {
  const mapYaml = join(config.stateDir, 'world', 'map.yaml');
  await client.loadMap(mapYaml);
  const station = loadMapBundle(mapYaml).areas.station;
  if (station === null) throw new Error('the map has no station');
  await client.relocalize(station.pose);
  await client.start('out', { kind: 'undock', clearance: 0.4 }, 1);
}

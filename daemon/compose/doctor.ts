/** What is there, what is missing, and what to do about it: one line for each part. */
import type { AmrDriver } from '../../config/contracts/amr.js';
import type { Config } from '../../config/schema.js';
import type { MapBundle } from '../../drivers/amr/types.js';
import type { SerialDriver } from '../../drivers/serial/types.js';
import type { ConnectionFacts, DoctorCheck } from '../runtime.js';

export interface DoctorSources {
  config: Config;
  amr: AmrDriver;
  /** Why nothing can move, or null. */
  bodyUnavailable: string | null;
  map: MapBundle | null;
  /** Why the map could not be loaded, or null. */
  mapProblem: string | null;
  airSensor: SerialDriver | null;
  fan: SerialDriver | null;
  cloud: ConnectionFacts | null;
  /** Where an unusable database was put, or null. */
  databaseMovedTo: string | null;
  outboxDepth: number;
}

export function doctorOf(sources: DoctorSources): DoctorCheck[] {
  return [
    database(sources),
    ...motion(sources),
    mapCheck(sources),
    serial('air sensor', sources.airSensor, 'ZPHS01B on air_sensor.port', 'air quality stays unknown'),
    serial('fan', sources.fan, 'Modbus RTU fan on fan.port', 'cleaning is unavailable'),
    speaker(sources.config),
    cloud(sources),
  ];
}

const ok = (part: string, message: string): DoctorCheck => ({ part, state: 'ok', message });
const faulty = (part: string, message: string): DoctorCheck => ({ part, state: 'faulty', message });
const missing = (part: string, message: string): DoctorCheck => ({ part, state: 'missing', message });

function database({ databaseMovedTo }: DoctorSources): DoctorCheck {
  return databaseMovedTo === null
    ? ok('database', 'open')
    : faulty(
        'database',
        `the old one could not be used and was moved to ${databaseMovedTo}; this one is new`,
      );
}

function motion({ amr, bodyUnavailable, config }: DoctorSources): DoctorCheck[] {
  if (bodyUnavailable !== null) return [missing('base', bodyUnavailable)];
  const state = amr.state();
  if (state === null) return [faulty('motion process', 'has not reported yet; see the log')];
  const checks = [
    ok('motion process', `runs (${state.rtBootId})`),
    state.base.connected ? ok('base', 'answers') : faulty('base', plug('base', config.base?.port)),
  ];
  if (config.lidar === null)
    checks.push(missing('lidar', 'none configured; set lidar.port to localise and navigate'));
  else
    checks.push(
      state.lidar.connected ? ok('lidar', 'sends scans') : faulty('lidar', plug('lidar', config.lidar.port)),
    );
  checks.push(
    state.safety.estop.latched
      ? faulty('e-stop', 'latched; release it at the robot with `deviceagent estop release`')
      : ok('e-stop', 'released'),
  );
  checks.push(
    state.localized === true
      ? ok('localisation', 'knows where the robot is')
      : faulty('localisation', 'does not know where the robot is; put it on its station'),
  );
  return checks;
}

function mapCheck({ map, mapProblem }: DoctorSources): DoctorCheck {
  if (mapProblem !== null) return faulty('map', mapProblem);
  if (map === null)
    return missing('map', 'none configured; set map.file to a map.yaml with an areas.yaml beside it');
  return ok(
    'map',
    `${map.areas.rooms.length} rooms, ${map.areas.station === null ? 'no station' : 'a station'}`,
  );
}

function serial(part: string, driver: SerialDriver | null, what: string, otherwise: string): DoctorCheck {
  if (driver === null) return missing(part, `none configured; ${otherwise}`);
  return driver.connected
    ? ok(part, `${what} answers`)
    : faulty(part, `no answer: check ${what}, its power and cable`);
}

function speaker(config: Config): DoctorCheck {
  return config.speaker === 'virtual'
    ? ok('speaker', 'virtual: takes the time that speaking would, makes no sound')
    : missing('speaker', 'none; what the robot would say ends CAPABILITY_UNAVAILABLE');
}

function cloud({ cloud: facts, config, outboxDepth }: DoctorSources): DoctorCheck {
  if (facts === null)
    return { part: 'cloud', state: 'off', message: 'no broker configured; events wait in the outbox' };
  const waiting = `${outboxDepth} messages wait`;
  if (!facts.transport_connected) {
    const why = facts.last_publish_error === null ? '' : ` (${facts.last_publish_error})`;
    return faulty('cloud', `not connected to ${config.cloud.url}${why}; ${waiting}`);
  }
  return facts.subscription_ready
    ? ok('cloud', `connected and subscribed; ${waiting}`)
    : faulty('cloud', `connected, but the broker has not granted the subscription; ${waiting}`);
}

function plug(part: string, port: { kind: string; path?: string; host?: string } | undefined): string {
  const where = port?.path ?? port?.host ?? 'its port';
  return `${part} does not report on ${where}: check its power, its cable and the permission to open the device`;
}

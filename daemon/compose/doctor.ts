/** What is there, what is missing, and what to do about it: one line for each part. */
import { existsSync } from 'node:fs';
import type { AmrDriver, LineFinding, RobotState } from '../../config/contracts/amr.js';
import type { Config, PortConfig } from '../../config/schema.js';
import type { MapBundle } from '../../drivers/amr/types.js';
import type { SerialDriver } from '../../drivers/serial/types.js';
import type { ClockVerdict } from '../clock/judge.js';
import type { ConnectionFacts, DoctorCheck } from '../runtime.js';
import type { StoreErrorCode } from '../store/store-error.js';
import { lineAdvice, type Words } from './line-advice.js';
import { darkSector, looksMirrored } from './scan-check.js';
import { serialNames } from './serial-names.js';

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
  /** What the last commit failed with, or null. */
  databaseFailing: StoreErrorCode | null;
  outboxDepth: number;
  clock: ClockVerdict;
  /** What the last runMotorDiagnostics since the start found wrong; absent: none ran. */
  diagnosis?: () => readonly Words[];
}

export function doctorOf(sources: DoctorSources, language: 'ko' | 'en'): DoctorCheck[] {
  return [
    database(sources),
    clock(sources),
    ...motion(sources),
    mapCheck(sources),
    serial(AIR_SENSOR, sources.airSensor, 'ZPHS01B, air_sensor.port', {
      ko: '공기 질을 알 수 없어요',
      en: 'air quality stays unknown',
    }),
    serial(FAN, sources.fan, 'Modbus RTU, fan.port', {
      ko: '공기 청정을 할 수 없어요',
      en: 'cleaning is unavailable',
    }),
    speaker(sources.config),
    cloud(sources),
  ].map(({ part, state, message }) => ({ part: part[language], state, message: message[language] }));
}

interface Finding {
  part: Words;
  state: DoctorCheck['state'];
  message: Words;
}

const CLOCK = { ko: '시계', en: 'clock' };
const DATABASE = { ko: '데이터베이스', en: 'database' };
const MOTION = { ko: '구동 프로세스', en: 'motion process' };
const BASE = { ko: '구동부', en: 'base' };
const LIDAR = { ko: '라이다', en: 'lidar' };
const WHEELS = { ko: '바퀴', en: 'wheels' };
const ESTOP = { ko: '비상 정지', en: 'e-stop' };
const PLACE = { ko: '위치 인식', en: 'localisation' };
const MAP = { ko: '지도', en: 'map' };
const AIR_SENSOR = { ko: '공기 센서', en: 'air sensor' };
const FAN = { ko: '팬', en: 'fan' };
const SPEAKER = { ko: '스피커', en: 'speaker' };
const CLOUD = { ko: '클라우드', en: 'cloud' };

const ok = (part: Words, ko: string, en: string): Finding => ({ part, state: 'ok', message: { ko, en } });
const faulty = (part: Words, ko: string, en: string): Finding => ({
  part,
  state: 'faulty',
  message: { ko, en },
});
const missing = (part: Words, ko: string, en: string): Finding => ({
  part,
  state: 'missing',
  message: { ko, en },
});

function database({ databaseMovedTo: old, databaseFailing }: DoctorSources): Finding {
  if (databaseFailing === 'FULL') {
    return faulty(
      DATABASE,
      '디스크가 가득 차서 아무것도 저장하지 못해요. 자리를 비워 주세요',
      'the disk is full: nothing can be stored; free some space',
    );
  }
  if (databaseFailing !== null) {
    return faulty(
      DATABASE,
      `저장하지 못하고 있어요(${databaseFailing}). 로그를 보세요`,
      `nothing can be stored (${databaseFailing}); see the log`,
    );
  }
  return old === null
    ? ok(DATABASE, '열려 있어요', 'open')
    : faulty(
        DATABASE,
        `전의 것을 쓸 수 없어 ${old}(으)로 옮기고 새로 만들었어요`,
        `the old one could not be used and was moved to ${old}; this one is new`,
      );
}

function clock({ clock: { trusted, why } }: DoctorSources): Finding {
  if (trusted) return ok(CLOCK, why.ko, why.en);
  return faulty(
    CLOCK,
    `${why.ko}. 그때까지 예약과 명령은 기다려요. 시계가 맞다면 clock_trusted: always`,
    `${why.en}; until then schedules wait and commands are refused; clock_trusted: always if it is right`,
  );
}

function motion(sources: DoctorSources): Finding[] {
  const { amr, bodyUnavailable, config } = sources;
  if (bodyUnavailable !== null) return [missing(BASE, bodyUnavailable, bodyUnavailable)];
  const state = amr.state();
  if (state === null) {
    return [faulty(MOTION, '아직 소식이 없어요. 로그를 보세요.', 'has not reported yet; see the log')];
  }
  const { latched } = state.safety.estop;
  const parts =
    config.ros2 === null ? [baseCheck(config, state), lidar(config, state)] : overRos(config.ros2, state);
  return [
    ok(MOTION, `실행 중 (${state.rtBootId})`, `runs (${state.rtBootId})`),
    ...parts,
    ...lidarView(sources, state),
    ...selfTest(state),
    ...(sources.diagnosis?.() ?? []).map(({ ko, en }) => faulty(WHEELS, ko, en)),
    latched
      ? faulty(
          ESTOP,
          '걸려 있어요. 로봇 곁에서 `deviceagent estop release`로 해제하세요.',
          'latched; release it at the robot with `deviceagent estop release`',
        )
      : ok(ESTOP, '해제됨', 'released'),
    localisation(sources, state),
  ];
}

/** Wheels and lidar of a robot with Nav2 come over one line. */
function overRos(ros2: NonNullable<Config['ros2']>, { base, lidar: { connected } }: RobotState): Finding[] {
  const via = ros2.via === 'rosbridge' ? `rosbridge ${ros2.url}` : `rclnodejs, domain ${ros2.domain_id}`;
  const { odom, scan } = ros2.topics;
  return [
    base.connected
      ? ok(BASE, `${odom}을 보내요 (${via})`, `sends ${odom} (${via})`)
      : faulty(
          BASE,
          `${odom}이 오지 않아요 (${via}). 로봇의 ROS 2와 다리가 켜져 있는지 확인하세요`,
          `no ${odom} comes over ${via}: is the robot's ROS 2 running, and the bridge to it?`,
        ),
    connected
      ? ok(LIDAR, `${scan}을 보내요`, `sends ${scan}`)
      : faulty(LIDAR, `${scan}이 오지 않아요 (${via})`, `no ${scan} comes over ${via}`),
  ];
}

function baseCheck({ base }: Config, state: RobotState): Finding {
  if (!state.base.connected) return silent(BASE, 'base', base, state.hardware?.lines.base);
  const chip = state.hardware?.base;
  const known = [chip?.chip, version('', chip?.firmwareVersion), degrees(chip?.temperature)];
  const about = known.filter((text) => text !== undefined && text !== '').join(', ');
  return ok(BASE, `응답해요 (${about})`, `answers (${about})`);
}

function version(what: string, value: string | null | undefined): string {
  return value == null ? '' : `${what}v${value}`;
}

function degrees(value: number | null | undefined): string {
  return value == null ? '' : `${value} °C`;
}

/** What the chips' own tests say at the start and since. */
function selfTest({ hardware }: RobotState): Finding[] {
  if (hardware?.lidar?.health !== 'error') return [];
  return [
    faulty(
      LIDAR,
      '자체 진단에 실패해서 스스로 멈췄어요. 전원을 껐다 켜고, 그래도 그러면 바꾸세요',
      'failed its own self-test and protects itself: switch it off and on, and replace it if that does not help',
    ),
  ];
}

/** Of a turn, so much without a return in one piece is a hand, a box or a cover, degrees. */
const COVERED_DEG = 50;

function lidarView({ amr, map }: DoctorSources, state: RobotState): Finding[] {
  const { scan } = amr.view();
  if (scan === null || !state.lidar.connected) return [];
  const found: Finding[] = [];
  const dark = darkSector(scan);
  if (dark !== null && dark.width >= COVERED_DEG) {
    const where = `${Math.round(dark.middle)}°`;
    found.push(
      faulty(
        LIDAR,
        `${where} 쪽 ${Math.round(dark.width)}°에서 아무것도 안 보여요. 무엇이 라이다를 가리고 있나요? 로봇의 기둥이면 lidar.masks에 적으세요`,
        `sees nothing over ${Math.round(dark.width)}° around ${where} (0 ahead, positive to the left): is it covered? for the robot's own posts set lidar.masks`,
      ),
    );
  }
  if (map !== null && state.base.docked === true && map.areas.station !== null && looksMirrored(scan, map)) {
    found.push(
      faulty(
        LIDAR,
        '충전대에서 보이는 것이 지도의 거울상이에요. 뒤집어 달았다면 lidar.inverted를 true로 하세요',
        'sees the mirror image of the map from the station: if it hangs head down, set lidar.inverted to true',
      ),
    );
  }
  return found;
}

function lidar(config: Config, { lidar: { connected }, hardware }: RobotState): Finding {
  if (config.lidar === null) {
    return missing(
      LIDAR,
      '설정하지 않았어요. 위치를 알고 다니려면 lidar.port를 정하세요.',
      'none configured; set lidar.port to localise and navigate',
    );
  }
  const about = [
    hardware?.lidar?.model ?? hardware?.lidar?.chip,
    version('', hardware?.lidar?.firmwareVersion),
  ]
    .filter((text) => text !== undefined && text !== '')
    .join(' ');
  return connected
    ? ok(LIDAR, `스캔을 보내요 (${about})`, `sends scans (${about})`)
    : silent(LIDAR, 'lidar', config.lidar, hardware?.lines.lidar);
}

function localisation({ map, config }: DoctorSources, state: RobotState): Finding {
  if (state.localized === true) return ok(PLACE, '로봇의 위치를 알아요', 'knows where the robot is');
  if (map === null || (config.lidar === null && config.ros2 === null)) {
    return missing(PLACE, '지도와 라이다가 있어야 해요', 'needs a map and a lidar');
  }
  if (!state.base.connected || !state.lidar.connected) {
    return faulty(PLACE, '구동부와 라이다를 기다려요', 'waits for base and lidar');
  }
  if (map.areas.station === null) {
    return faulty(
      PLACE,
      '로봇의 위치를 찾고 있어요. 지도에 충전대가 없으니 제자리에서 돌려 주세요: deviceagent task submit rotate \'{"angleDeg":360}\'',
      'looks for where the robot is; the map has no station, so let it turn: deviceagent task submit rotate \'{"angleDeg":360}\'',
    );
  }
  return faulty(
    PLACE,
    '로봇의 위치를 몰라요. 충전대에 올려 주세요.',
    'does not know where the robot is; put it on its station',
  );
}

function mapCheck({ map, mapProblem }: DoctorSources): Finding {
  if (mapProblem !== null) return faulty(MAP, mapProblem, mapProblem);
  if (map === null) {
    return missing(
      MAP,
      '설정하지 않았어요. map.file에 map.yaml을 정하고 그 옆에 areas.yaml을 두세요.',
      'none configured; set map.file to a map.yaml with an areas.yaml beside it',
    );
  }
  const { rooms, station } = map.areas;
  return ok(
    MAP,
    `방 ${rooms.length}개, 충전대 ${station === null ? '없음' : '있음'}`,
    `${rooms.length} rooms, ${station === null ? 'no station' : 'a station'}`,
  );
}

function serial(part: Words, driver: SerialDriver | null, what: string, otherwise: Words): Finding {
  if (driver === null) {
    return missing(part, `설정하지 않았어요. ${otherwise.ko}.`, `none configured; ${otherwise.en}`);
  }
  return driver.connected
    ? ok(part, `응답해요 (${what})`, `answers (${what})`)
    : faulty(
        part,
        `응답이 없어요. 전원과 케이블, 설정을 확인하세요 (${what}).`,
        `does not answer: check its power, its cable and its settings (${what})`,
      );
}

function speaker(config: Config): Finding {
  return config.speaker === 'virtual'
    ? ok(
        SPEAKER,
        '가상: 말하는 데 걸릴 시간만 쓰고 소리는 내지 않아요',
        'virtual: takes the time that speaking would, makes no sound',
      )
    : missing(
        SPEAKER,
        '없어요. 말하기는 CAPABILITY_UNAVAILABLE로 끝나요.',
        'none; what the robot would say ends CAPABILITY_UNAVAILABLE',
      );
}

function cloud({ cloud: facts, config, outboxDepth: waiting }: DoctorSources): Finding {
  if (facts === null) {
    const message = {
      ko: '브로커를 설정하지 않았어요. 이벤트는 보낼 편지함에서 기다려요.',
      en: 'no broker configured; events wait in the outbox',
    };
    return { part: CLOUD, state: 'off', message };
  }
  const ko = `기다리는 메시지 ${waiting}개`;
  const en = `${waiting} messages wait`;
  if (!facts.transport_connected) {
    const why = facts.last_publish_error === null ? '' : ` (${facts.last_publish_error})`;
    const { url } = config.cloud;
    return faulty(CLOUD, `${url}에 연결되지 않았어요${why}. ${ko}.`, `not connected to ${url}${why}; ${en}`);
  }
  return facts.subscription_ready
    ? ok(CLOUD, `연결되고 구독했어요. ${ko}.`, `connected and subscribed; ${en}`)
    : faulty(
        CLOUD,
        `연결되었지만 브로커가 구독을 허락하지 않았어요. ${ko}.`,
        `connected, but the broker has not granted the subscription; ${en}`,
      );
}

/** A base or lidar that does not report; `key`: of the profile. */
function silent(
  part: Words,
  key: string,
  device: { driver: string; port: PortConfig } | null,
  finding: LineFinding | null | undefined,
): Finding {
  if (device === null) return missing(part, '설정하지 않았어요.', 'none configured');
  const { port } = device;
  const gone = port.kind === 'serial' && !existsSync(port.path);
  const heard = finding ?? { heard: 'nothing' as const, reason: '' };
  const { ko, en } = lineAdvice({
    key,
    chip: device.driver,
    port,
    finding: gone ? { heard: 'nothing', reason: `${port.path}: no such device` } : heard,
    byId: serialNames(),
  });
  return faulty(part, `${ko}.`, en);
}

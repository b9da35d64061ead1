/** What a profile's check and the simulator say in English, in Korean; see `daemon/api/console/korean.js`. */
import { koreanBy, type Pairs } from '../api/console/korean.js';
import { ALLOWED } from '../api/console/robot-words-ko.js';

export const PROFILE_WORDS: Pairs = [
  [
    'base: none configured; plug in an iRobot Create 2 or a Kobuki and set base.port to drive',
    'base: 설정하지 않았어요. 움직이려면 iRobot Create 2나 Kobuki를 꽂고 base.port를 정하세요',
  ],
  [
    'lidar: none configured; connect an LD19/LD06 or an RPLIDAR A1 and set lidar.port to localise and navigate',
    'lidar: 설정하지 않았어요. 위치를 알고 길을 찾으려면 LD19/LD06이나 RPLIDAR A1을 꽂고 lidar.port를 정하세요',
  ],
  [
    'map: none configured; set map.file to a map.yaml with an areas.yaml beside it',
    'map: 설정하지 않았어요. map.file에 map.yaml을 정하고 그 옆에 areas.yaml을 두세요',
  ],
  [
    'air_sensor: none configured; air quality stays unknown',
    'air_sensor: 설정하지 않았어요. 공기 질을 알 수 없어요',
  ],
  ['fan: none configured; cleaning is unavailable', 'fan: 설정하지 않았어요. 공기 청정을 할 수 없어요'],
  [
    'speaker: none; what the robot would say ends CAPABILITY_UNAVAILABLE',
    'speaker: 없어요. 말하기는 CAPABILITY_UNAVAILABLE로 끝나요',
  ],
  [
    'cloud: no broker configured; events wait in the outbox',
    'cloud: 브로커를 설정하지 않았어요. 이벤트는 보낼 편지함에서 기다려요',
  ],
  ['cannot be read ({why})', '읽을 수 없어요 ({why})'],
  ['line {n}: not valid YAML: {why}', '{n}번째 줄: 올바른 YAML이 아니에요: {why}'],
  [
    'timezone is {value}: allowed is an IANA time zone such as Asia/Seoul',
    'timezone: {value}. Asia/Seoul 같은 IANA 시간대여야 해요',
  ],
  [
    'cloud.cert_file and cloud.key_file belong together: set both or neither',
    'cloud.cert_file과 cloud.key_file은 둘 다 정하거나 둘 다 빼세요',
  ],
  [
    'cloud.username is null: a password in DEVICEAGENT_MQTT_PASSWORD needs a user name',
    'cloud.username이 없어요. DEVICEAGENT_MQTT_PASSWORD의 암호에는 사용자 이름이 있어야 해요',
  ],
  [
    'api.host is {value}: beyond 127.0.0.1 the API needs tokens: set api.tokens_file',
    'api.host: {value}. 127.0.0.1이 아니면 토큰이 있어야 해요. api.tokens_file을 정하세요',
  ],
  [
    'api.tokens_file {file} can be read by others (mode {mode}): chmod 600 {path}',
    'api.tokens_file {file}: 다른 사용자가 읽을 수 있어요 ({mode}). chmod 600 {path}',
  ],
  ['api.tokens_file {file} cannot be read ({why})', 'api.tokens_file {file}: 읽을 수 없어요 ({why})'],
  ['api.tokens_file {file} is not valid YAML', 'api.tokens_file {file}: 올바른 YAML이 아니에요'],
  [
    'base and ros2 are both set: a robot is driven over serial or over ROS 2, not both',
    'base와 ros2를 둘 다 정했어요. 로봇은 시리얼이나 ROS 2 가운데 하나로 움직여요',
  ],
  [
    'allowed: {kind: serial, path: DEVICE, baud_rate: N} or {kind: tcp, host: HOST, port: N}',
    '이렇게 적으세요: {kind: serial, path: DEVICE, baud_rate: N} 또는 {kind: tcp, host: HOST, port: N}',
  ],
  ['{field} is missing: {allowed!}', '{field}: 없어요. {allowed!}'],
  ['{field} is {value}: {allowed!}', '{field}: {value}. {allowed!}'],
  ...ALLOWED,
];

export const SIMULATOR_WORDS: Pairs = [
  ['unknown fault {name}; known are: {names}', '모르는 일이에요: {name}. 있는 것: {names}'],
  ['a person stands in {room} at {place}', '{room}에 사람이 서 있어요 {place}'],
  ['there is no room for a person in {room}', '{room}에는 사람이 설 자리가 없어요'],
  ['nobody was there', '아무도 없었어요'],
  ['the person went away', '사람이 나갔어요'],
  ['all {n} people went away', '{n}명이 모두 나갔어요'],
  ['PM2.5 in {room} is now {value} µg/m³', '{room}의 초미세먼지가 {value} µg/m³가 됐어요'],
  ['it is dark in {room}', '{room}의 불이 꺼졌어요'],
  ['it is light in {room}', '{room}의 불이 켜졌어요'],
  ['nothing was in the way', '치울 장애물이 없었어요'],
  ['the obstacle was taken away', '장애물을 치웠어요'],
  ['{n} obstacles were taken away', '장애물 {n}개를 치웠어요'],
  [
    'an obstacle of {radius} m radius does not fit at {place}: something is there',
    '{place}에는 반지름 {radius} m 장애물을 놓을 수 없어요. 무언가 있어요',
  ],
  ['an obstacle of {radius} m radius stands at {place}', '{place}에 반지름 {radius} m 장애물이 있어요'],
  ['the battery is at {percent} %', '배터리가 {percent}%가 됐어요'],
  ['the wheels are held fast', '바퀴를 붙잡았어요'],
  ['the wheels are free', '바퀴를 놓았어요'],
  ['the lidar is uncovered', '라이다를 가리지 않아요'],
  ['{degrees}° in front of the lidar are covered', '라이다 앞쪽 {degrees}°를 가렸어요'],
  ['the left bumper is pressed for {seconds} s', '왼쪽 범퍼를 {seconds}초 동안 눌러요'],
  ['the right bumper is pressed for {seconds} s', '오른쪽 범퍼를 {seconds}초 동안 눌러요'],
  ['the cliff sensors see no floor for {seconds} s', '낭떠러지 센서에 {seconds}초 동안 바닥이 보이지 않아요'],
  ['the stop button on the robot was pressed', '로봇의 비상 정지 버튼을 눌렀어요'],
  ['{device} was unplugged already', '{device}: 이미 빠져 있어요'],
  ['{device} is unplugged', '{device}: 뽑았어요'],
  ['{device} was plugged in already', '{device}: 이미 꽂혀 있어요'],
  ['{device} is plugged in', '{device}: 꽂았어요'],
  ['{percent} % of the frames of {device} are damaged', '{device}: 프레임의 {percent}%가 망가져요'],
  ['the network is down: connections are cut and refused', '네트워크를 끊었어요. 새 연결도 거절해요'],
  ['the network is up', '네트워크를 다시 이었어요'],
  ['the broker is stopped', '브로커를 멈췄어요'],
  ['the broker runs', '브로커를 켰어요'],
  ['the broker was restarted and has forgotten every session', '브로커를 다시 켰어요. 세션을 모두 잊었어요'],
  [
    'connections to the broker stay open and carry nothing, until broker start',
    '브로커와의 연결은 남지만 broker start까지 아무것도 오가지 않아요',
  ],
  ["the robot's clock jumped by {seconds} s", '로봇의 시계를 {seconds}초 옮겼어요'],
  [
    'clock: at real speed the robot reads the host clock; start with --speed 2 or more',
    'clock: 실제 속도에서는 이 컴퓨터의 시계를 써요. --speed 2 이상으로 시작하세요',
  ],
  [
    'clock: found {value}; expected a number of seconds such as +3600 or -60',
    'clock: {value}. +3600이나 -60처럼 초로 적어 주세요',
  ],
  ['no room {name} in this world; there are: {rooms}', '{name}: 그런 방이 없어요. 있는 방: {rooms}'],
  ['usage: {usage}', '쓰는 법: {usage}'],
  [
    '{field}: found {value}; it must be a number from {min} to {max}',
    '{field}: {value}. {min}에서 {max} 사이의 숫자여야 해요',
  ],
  ['found {value}; allowed is {values}', '{value}: 다음 가운데 하나여야 해요: {values}'],
  ['found {value}; allowed are: {values}', '{value}: 다음 가운데 하나여야 해요: {values}'],
];

const KOREAN = { profile: koreanBy(PROFILE_WORDS), simulator: koreanBy(SIMULATOR_WORDS) };

/** `message` of the profile's check or of the simulator, in the terminal's language. */
export function said(language: 'ko' | 'en', by: keyof typeof KOREAN, message: string): string {
  return language === 'ko' ? KOREAN[by](message) : message;
}

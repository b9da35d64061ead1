/**
 * The robot's own words in Korean: why it refuses something, or why something ended. On the wire they are English;
 * the console and the command line show these where the reader's language is Korean. In a sentence `{x}` stands for
 * anything and is put in as it is, `{x!}` for further words of the robot. A test holds them against the robot's code.
 */
import { DRIVE_WORDS } from './drive-words-ko.js';
import { koreanBy } from './korean.js';
import { MAINTENANCE_WORDS } from './maintenance-words-ko.js';
import { MAP_WORDS } from './map-words-ko.js';
import { REQUEST_WORDS } from './request-words-ko.js';
import { problemsInKorean, WORKFLOW_FRAMES, WORKFLOW_WORDS } from './workflow-words-ko.js';

/** What a value has to be, as `config/contracts/allowed-text.ts` says it. */
export const ALLOWED = [
  ['this field is not known here', '여기에는 없는 항목이에요'],
  ['it has to be a string', '글자여야 해요'],
  ['it has to be a number', '숫자여야 해요'],
  ['it has to be a whole number', '정수여야 해요'],
  ['it has to be true or false', 'true나 false여야 해요'],
  ['it has to be an object', '여러 항목의 묶음이어야 해요'],
  ['it has to be a list', '목록이어야 해요'],
  ['it has to be a URL', 'URL이어야 해요'],
  ['it has to be one of {values}', '다음 가운데 하나여야 해요: {values}'],
  ['it has to be at most {limit}', '{limit} 이하여야 해요'],
  ['it has to be at least {limit}', '{limit} 이상이어야 해요'],
  ['it has to be above {limit}', '{limit}보다 커야 해요'],
  ['it has to be below {limit}', '{limit}보다 작아야 해요'],
  ['it has to have at most {limit} characters', '{limit}글자 이하여야 해요'],
  ['it has to have at least {limit} characters', '{limit}글자 이상이어야 해요'],
  ['it has to have at most {limit} entries', '{limit}개 이하여야 해요'],
  ['it has to have at least {limit} entries', '{limit}개 이상이어야 해요'],
  ['it has to be a multiple of {step}', '{step}의 배수여야 해요'],
  ['it has to begin with {text}', '{text}로 시작해야 해요'],
  ['it has to fit {pattern}', '이런 꼴이어야 해요: {pattern}'],
  ['it has to be {value}', '이것이어야 해요: {value}'],
];

export const ROBOT_WORDS = [
  // Sentences that hold others come first: what follows would take them as a part of theirs.
  ['step {id}: {why!}', '{id} 단계: {why!}'],
  ...WORKFLOW_FRAMES,
  [
    '{first!}; {method} was being stopped when the daemon restarted',
    '{first!}. {method}: 멈추는 중에 프로그램이 다시 시작했어요',
  ],
  [
    'cancelled, but step {id} did not prove its stop: {why!}',
    '취소했지만 {id} 단계가 멈춘 것을 확인하지 못했어요: {why!}',
  ],
  ['{field}: this version does not build {method} yet', '이 버전에는 {method} 기능이 아직 없어요'],
  ['this version does not build {method} yet', '이 버전에는 {method} 기능이 아직 없어요'],
  ['the emergency stop is latched: release it at the robot', '비상 정지 상태예요. 로봇 곁에서 해제해 주세요'],
  ['the emergency stop is latched; a person has to release it', '비상 정지 상태예요. 사람이 해제해야 해요'],
  ['the emergency stop is latched', '비상 정지 상태예요'],
  ['the emergency stop button of the base is still pressed', '로봇의 비상 정지 버튼이 아직 눌려 있어요'],
  [
    'the base does not report: check its cable and power',
    '바퀴 베이스가 응답하지 않아요. 케이블과 전원을 확인해 주세요',
  ],
  ['the base is not connected', '바퀴 베이스가 연결되어 있지 않아요'],
  [
    'the lidar does not report: check its cable and power',
    '라이다가 응답하지 않아요. 케이블과 전원을 확인해 주세요',
  ],
  ['the robot does not know where it is on the map', '로봇이 지도에서 자기 위치를 몰라요'],
  ['the robot does not know where it is', '로봇이 자기 위치를 몰라요'],
  [
    'the battery is at {percent} %, below the reserve of {reserve} %',
    '배터리가 {percent}%예요. 남겨 두어야 하는 {reserve}%보다 적어요',
  ],
  [
    'no map is loaded: take one over with deviceagent map import',
    '지도가 없어요. deviceagent map import로 가져와 주세요',
  ],
  [
    'the map cannot be stored ({why}): the robot keeps the one it has',
    '지도를 저장할 수 없어요 ({why}). 쓰던 지도는 그대로예요',
  ],
  [
    'the profile names no map: set map.file to where this robot keeps its map, and restart it',
    '설정에 지도가 없어요. map.file에 지도를 둘 곳을 정하고 다시 시작해 주세요',
  ],
  [
    'the robot moves; stop it before it gets another map',
    '로봇이 움직이고 있어요. 멈춘 다음에 지도를 바꿔 주세요',
  ],
  ['there is no map to reset', '초기화할 지도가 없어요'],
  ['no map is kept', '보관한 지도가 없어요'],
  ['the map is being changed already', '지도를 이미 바꾸고 있어요'],
  [
    'the robot drives: the map is changed only while nothing does',
    '로봇이 움직이고 있어요. 지도는 멈춰 있을 때만 바꿔요',
  ],
  [
    'the motion process does not report: the map cannot be changed without it',
    '주행 프로그램이 응답하지 않아서 지도를 바꿀 수 없어요',
  ],
  ['{field}: there is no map {value}; kept are: {ids}', '{value}: 그런 지도가 없어요. 보관한 지도: {ids}'],
  ['{field}: no map is out of use; kept are: {ids}', '초기화한 지도가 없어요. 보관한 지도: {ids}'],
  ['the kept map {id} cannot be used: {why}', '보관한 지도 {id}: 쓸 수 없어요 ({why})'],
  [
    'the motion process did not give the map up ({why!}): the robot keeps it',
    '주행 프로그램이 지도를 내려놓지 않았어요 ({why!}). 지도는 그대로예요',
  ],
  [
    'the map is stored, but the motion process did not take it ({why!}); it is asked again by itself',
    '지도를 저장했지만 주행 프로그램이 아직 받지 않았어요 ({why!}). 스스로 다시 시도해요',
  ],
  ['it does not report what it was told', '바꾼 것을 알려 오지 않아요'],
  ['the motion process is gone', '주행 프로그램이 없어요'],
  ['the map cannot be changed while an action runs', '움직이는 동안에는 지도를 바꿀 수 없어요'],
  ['the map has no rooms: name them in areas.yaml', '지도에 방이 없어요. areas.yaml에 방 이름을 적어 주세요'],
  ['the map has no station: add one to areas.yaml', '지도에 충전대가 없어요. areas.yaml에 적어 주세요'],
  [
    'the map is being edited: nothing drives until that is done',
    '지도를 고치는 중이에요. 끝날 때까지 움직이지 않아요',
  ],
  ['nothing is moving; there is nothing to pause', '움직이고 있지 않아서 멈출 것이 없어요'],
  ['the journey is held already', '이동을 이미 멈추고 있어요'],
  ['no journey is held; there is nothing to resume', '멈춰 둔 이동이 없어서 다시 시작할 것이 없어요'],
  ['no cleaning runs; there is nothing to {what}', '공기 청정을 하고 있지 않아요'],
  ['the cleaning is paused already', '공기 청정을 이미 멈추고 있어요'],
  ['the cleaning is not paused; there is nothing to resume', '멈춰 둔 공기 청정이 없어요'],
  ['a cleaning is under way', '공기 청정을 이미 하고 있어요'],
  ['another mode was set before the fan had followed', '팬이 따라오기 전에 청정 세기가 다시 바뀌었어요'],
  ['the robot is moving: it purifies standing still', '움직이는 중이에요. 공기 청정은 서 있을 때 해요'],
  [
    'this robot has no fan: plug one in and name its port in the profile',
    '이 로봇에는 팬이 없어요. 팬을 꽂고 프로필에 포트를 적어 주세요',
  ],
  ['the robot is not docked', '로봇이 충전대에 있지 않아요'],
  ['the robot does not stand on its charging contacts', '로봇이 충전 단자 위에 있지 않아요'],
  ['the robot is already docking', '로봇이 이미 충전대로 들어가고 있어요'],
  ['another journey is still under way', '다른 이동이 아직 끝나지 않았어요'],
  [
    'no speaker is configured: set speaker in the profile',
    '스피커를 설정하지 않았어요. 프로필에서 speaker를 정해 주세요',
  ],
  ['something else is being said; interrupt would cut it off', '다른 말을 하고 있어요'],
  ['no target given', '어디로 갈지 정하지 않았어요'],
  ['{field}: no room {name}; did you mean {rooms}?', '{name}: 그런 방이 없어요. 혹시 {rooms}인가요?'],
  ['{field}: no room {name}; the rooms are {rooms}', '{name}: 그런 방이 없어요. 있는 방: {rooms}'],
  ['{field}: no room {name}; the map in use has no rooms', '{name}: 그런 방이 없어요. 지도에 방이 없어요'],
  ['{field}: {name} is the name of {rooms}', '{name}: 같은 이름의 방이 여럿이에요. {rooms}'],
  [
    '{field}: {name} is not the whole name of any room; meant may be {rooms}',
    '{name}: 어느 방인지 분명하지 않아요. {rooms}',
  ],
  ['{field}: {where} is off the map', '{where}: 지도 밖이에요'],
  ['{field}: {where} is in unknown space', '{where}: 지도에서 모르는 곳이에요'],
  [
    '{field}: {where} is in an obstacle, or too close to one for the robot to stand there',
    '{where}: 장애물이 있거나 너무 가까워서 로봇이 설 수 없어요',
  ],
  ['{field}: {where} is in a keep-out area', '{where}: 금지 구역이에요'],
  ['the way is blocked; {n} attempts to get past it', '길이 막혔어요. {n}번 지나가 보려 했어요'],
  [
    'the way is blocked at ({x}, {y}): {why!}; {n} attempts to get past it',
    '길이 막혔어요 ({x}, {y}): {why!}. {n}번 지나가 보려 했어요',
  ],
  [
    'the way is blocked: {why!}; {n} attempts to get past it',
    '길이 막혔어요: {why!}. {n}번 지나가 보려 했어요',
  ],
  ['{why!}, and no other way was found in {seconds} s', '{why!}. {seconds}초 동안 다른 길을 찾지 못했어요'],
  ['the way is blocked', '길이 막혔어요'],
  ['the robot is off its path', '로봇이 경로에서 벗어났어요'],
  ['the robot touched something', '로봇이 무언가에 닿았어요'],
  ['no nearer to the goal for {seconds} s', '{seconds}초 동안 목적지에 가까워지지 못했어요'],
  ['cannot come within tolerance of the goal', '목적지에 충분히 가까이 가지 못했어요'],
  ['the goal {place} has no room for the robot because of {why}', '목적지 {place}에 로봇이 설 자리가 없어요'],
  ['something stands before the station', '충전대 앞에 무언가 있어요'],
  ['no charging contact after {n} attempts: {why!}', '{n}번 해 봤지만 충전대에 닿지 못했어요: {why!}'],
  [
    'the robot could not leave its station after {n} attempts: {why!}',
    '{n}번 해 봤지만 충전대에서 나오지 못했어요: {why!}',
  ],
  ['the base did not confirm live charging contacts', '충전이 시작된 것을 확인하지 못했어요'],
  ['the base did not confirm that it left the station', '충전대에서 나온 것을 확인하지 못했어요'],
  [
    'something stands behind the robot; {done} m of {all} m driven',
    '로봇 뒤에 무언가 있어요. {all} m 가운데 {done} m를 갔어요',
  ],
  ['the robot does not know where it is before the station', '충전대 앞에서 로봇이 자기 위치를 몰라요'],
  [
    'no way from {from} to {to} because of an obstacle seen now',
    '지금 보이는 장애물 때문에 {from}에서 {to}까지 갈 길이 없어요',
  ],
  ['no way from {from} to {to}', '{from}에서 {to}까지 갈 길이 없어요'],
  [
    'the robot at {place} is shut in; no free space within reach',
    '로봇이 {place}에 갇혔어요. 닿을 수 있는 빈 곳이 없어요',
  ],
  ['the wheels are told to turn and do not', '바퀴를 돌리라고 했는데 돌지 않아요'],
  ['the wheels turn but the robot does not move on', '바퀴는 도는데 로봇이 앞으로 나아가지 않아요'],
  [
    'the wheels were told to stop and still turn, or report nothing',
    '바퀴를 멈추라고 했는데 아직 돌거나 응답이 없어요',
  ],
  ['the safety layer stopped the robot: {conditions}', '안전 장치가 로봇을 멈췄어요: {conditions}'],
  ['still held back by {conditions}', '아직 막고 있는 것: {conditions}'],
  ['the motion process is gone: {why}', '구동 프로그램이 멈췄어요: {why}'],
  ['the motion process is gone', '구동 프로그램이 멈췄어요'],
  [
    'the fan does not answer: check its cable and power',
    '팬이 응답하지 않아요. 케이블과 전원을 확인해 주세요',
  ],
  ['the fan reports a fault (at {rpm} rpm)', '팬이 고장을 알렸어요 ({rpm} rpm)'],
  [
    'the fan turns at {rpm} rpm instead of its set-point of {percent} %',
    '팬이 {percent}%로 돌아야 하는데 {rpm} rpm이에요',
  ],
  ['the speaker failed: {why}', '스피커에 문제가 있어요'],
  ['there is no task {id}', '그런 작업이 없어요: {id}'],
  ['there is no workflow {id}', '그런 작업 흐름이 없어요: {id}'],
  ['task {id} is {state} already', '작업이 이미 끝났어요 ({state})'],
  ['workflow {id} is {state} already', '작업 흐름이 이미 끝났어요 ({state})'],
  ['task {id} was submitted as not cancellable', '취소할 수 없게 맡긴 작업이에요'],
  ['workflow {id} is {state}: it cannot be {what}', '작업 흐름이 {state} 상태라서 지금은 할 수 없어요'],
  ['{method} was not done within {ms} ms', '{method}: {ms} ms 안에 끝나지 않았어요'],
  ['{method} was stopped by another request', '{method}: 다른 요청으로 멈췄어요'],
  [
    '{method} was being stopped when the daemon restarted',
    '{method}: 멈추는 중에 프로그램이 다시 시작했어요',
  ],
  ['it had not begun when the workflow ended', '시작하기 전에 작업 흐름이 끝났어요'],
  ['its condition is false', '조건이 맞지 않았어요'],
  ['it needs the output of {id}, which was skipped', '건너뛴 {id} 단계의 결과가 필요해요'],
  ['it needs the output of {id}, which failed', '실패한 {id} 단계의 결과가 필요해요'],
  ['failed and tolerated: {steps}', '실패했지만 넘어간 단계: {steps}'],
  ['waited {ms} ms for {what}', '{what}: {ms} ms 동안 기다렸어요'],
  ['cancelled on request', '요청으로 취소했어요'],
  ['{what} took its place', '{what}에 자리를 내주었어요'],
  [
    'the robot is starting or stopping: nothing is taken',
    '로봇이 켜지거나 꺼지는 중이라 아직 받을 수 없어요',
  ],
  ...WORKFLOW_WORDS,
  ...MAP_WORDS,
  ...DRIVE_WORDS,
  ...MAINTENANCE_WORDS,
  ...REQUEST_WORDS,
  ['{field}: found {value}; {allowed!}', '{field}: {value}. {allowed!}'],
  ...ALLOWED,
];

const translate = koreanBy(ROBOT_WORDS);

/** In Korean where there is a sentence for it, else as it is. */
export function inKorean(message) {
  return problemsInKorean(message, translate) ?? translate(message);
}

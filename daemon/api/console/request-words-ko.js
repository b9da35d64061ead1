/** What a request is refused with at the door, and what the planner, the schedules and the queue say, in Korean. */
export const REQUEST_WORDS = [
  ['{field}: found {name}; this robot has {names}', '{name}: 그런 기능이 없어요. 있는 기능: {names}'],
  [
    '{field}: found {name}; that is no card but {methods}: send a command of kind schedule_task or schedule_workflow',
    '{name}: 능력 카드가 아니라 예약이에요 ({methods}). kind를 schedule_task나 schedule_workflow로 보내 주세요',
  ],
  [
    'asked to turn {asked}°, turned {turned}° after {n} corrections',
    '{asked}°를 돌라고 했는데 {turned}°만 돌았어요. {n}번 고쳐 보았어요',
  ],
  ['how far the robot turned could not be measured', '얼마나 돌았는지 잴 수 없었어요'],
  ['{n} plans are under way', '길을 {n}개 찾는 중이에요'],
  ['{n} plans are waiting for the planner already', '길 찾기가 {n}개 밀려 있어요'],
  ['the map {file} cannot be used: {why}', '지도 {file}: 쓸 수 없어요 ({why})'],
  ['the planner is shut down', '길 찾기를 끝낸 상태예요'],
  ['planning took longer than {ms} ms', '길을 찾는 데 {ms} ms보다 오래 걸렸어요'],
  ['the planner thread ended: {why}', '길 찾기가 갑자기 끝났어요: {why}'],
  ['the motion process sent no plan', '주행 프로그램이 길을 보내지 않았어요'],
  [
    'the emergency stop is not written down ({why}): the robot stands, but a restart would forget it',
    '비상 정지를 저장하지 못했어요 ({why}). 로봇은 서 있지만 다시 켜면 잊어요',
  ],
  ['fan speed: found {value}; allowed: 0…100 percent', '팬 세기: {value}. 0에서 100 사이여야 해요'],
  [
    'kind: {value} is not built in this version; allowed are {kinds}',
    'kind: {value}는 이 버전에 없어요. 있는 것: {kinds}',
  ],
  [
    'source: the channel decides who is asking; leave it out',
    'source: 누가 보냈는지는 통로가 정해요. 빼 주세요',
  ],
  [
    'retained: a command is never retained; it was refused and cleared',
    'retained: 명령은 남겨 둘 수 없어요. 거절하고 지웠어요',
  ],
  [
    'command_id: {id} was used for another command; every command needs its own',
    'command_id: {id}는 다른 명령에 쓴 것이에요. 명령마다 다른 것을 써 주세요',
  ],
  [
    'the store is full; commands are taken again once events have left it',
    '저장 공간이 가득 찼어요. 이벤트가 나가면 다시 받아요',
  ],
  ['a defect of the device; the log has it under {id}', '로봇의 결함이에요. 기록에서 {id}를 찾아 주세요'],
  ['the payload is not UTF-8', '내용이 UTF-8이 아니에요'],
  ['the payload is not JSON', '내용이 JSON이 아니에요'],
  ['{field}: found twice; every key may stand once', '{field}: 두 번 있어요. 한 번만 있어야 해요'],
  ['the payload is {what}; allowed is a JSON object', '내용이 {what}이에요. JSON 객체여야 해요'],
  [
    'the payload nests {n} levels deep; allowed are at most {max}',
    '내용이 {n}겹이에요. {max}겹 이하여야 해요',
  ],
  ['the payload has no canonical form: {why}', '내용을 정해진 꼴로 바꿀 수 없어요: {why}'],
  ['sig: found nothing; a signature is required here', 'sig: 서명이 없어요. 여기서는 서명이 있어야 해요'],
  ['sig: the signature does not fit this body', 'sig: 서명이 내용과 맞지 않아요'],
  [
    'the robot does not know the time yet (no RTC, not synchronised); only stops and cancellations are taken',
    '로봇이 아직 시각을 몰라요. 멈춤과 취소만 받아요',
  ],
  [
    'issued_at: found {at}, {span} in the future; allowed are {window}',
    'issued_at: {at}. {span} 뒤예요. {window}까지만 돼요',
  ],
  [
    'issued_at: found {at}, {span} ago; allowed are {window}, or a future expires_at',
    'issued_at: {at}. {span} 전이에요. {window}까지만 되거나, expires_at이 앞으로여야 해요',
  ],
  [
    'expires_at: found {at}, {span} ago; allowed is a time ahead',
    'expires_at: {at}. {span} 전이에요. 앞으로의 시각이어야 해요',
  ],
  ['expires_at: found {at}; allowed are at most 7 days ahead', 'expires_at: {at}. 7일 안이어야 해요'],
  [
    '{field}: found {value}; allowed is ISO 8601 with seconds and an offset, e.g. {example}',
    '{field}: {value}. {example}처럼 초와 시차가 있는 ISO 8601이어야 해요',
  ],
  [
    'method: found {name}; a person has to approve it first ({why}), and {how} cannot wait; send it as a managed task with executionMode QUEUED',
    '{name}: 먼저 사람이 승인해야 해요 ({why}). 이렇게 보낸 것은 기다릴 수 없으니 executionMode QUEUED로 보내 주세요',
  ],
  ['approval {id} is being undone already, by {task}', '이미 되돌리는 중이에요 ({task})'],
  ['approval {id} is {status}: it can no longer be decided', '{id}: 이미 정해진 일이에요 ({status})'],
  [
    'approval {id} is {status}: only what was carried out can be undone',
    '{id}: 실제로 한 일만 되돌릴 수 있어요 ({status})',
  ],
  [
    'source: found {source}; approving, denying and undoing belong to a person in the home',
    '{source}: 승인과 거절, 되돌리기는 집에 있는 사람만 할 수 있어요',
  ],
  ['there is no approval {id}', '{id}: 그런 승인 요청이 없어요'],
  [
    '{n} approvals are waiting; decide on some first',
    '승인을 기다리는 일이 {n}개예요. 먼저 몇 가지를 정해 주세요',
  ],
  [
    '{field}: found {value}; only a person at the robot may make this less strict than {now}',
    '{field}: {value}. {now}보다 느슨하게 하는 것은 로봇 앞의 사람만 할 수 있어요',
  ],
  ['{name} cannot start now: {why!}', '{name}: 지금은 시작할 수 없어요. {why!}'],
  ['{name} cannot begin: {why!}', '{name}: 시작할 수 없어요. {why!}'],
  ['no further task is taken now: {why!}', '지금은 작업을 더 받을 수 없어요. {why!}'],
  ['{field}: found {id}; there is a schedule of this id', '{id}: 같은 예약이 이미 있어요'],
  ['no further schedule is taken: there are {n}', '예약이 {n}개라서 더 받을 수 없어요'],
  ['there is no schedule {id}', '{id}: 그런 예약이 없어요'],
  ['method: {name} is no control; allowed are {names}', '{name}: 제어 명령이 아니에요. 있는 것: {names}'],
  ['method: {name} is no query; allowed are {names}', '{name}: 조회가 아니에요. 있는 것: {names}'],
  [
    '{field}: {found}; exactly one of method and capability is allowed',
    '{field}: method와 capability 가운데 하나만 적어 주세요',
  ],
];

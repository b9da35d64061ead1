/** What is said of rooms, closed ground and mapping, in Korean. */
export const MAP_WORDS = [
  [
    'no map is loaded: take one over with deviceagent map import, or have the home mapped with startMapping',
    '지도가 없어요. deviceagent map import로 가져오거나 startMapping으로 집을 돌아보게 해 주세요',
  ],
  ['there is no map', '지도가 없어요'],
  ['the motion process reports another map', '주행 프로그램이 다른 지도를 쓰고 있어요'],
  [
    'the motion process did not take the areas ({why!}): the map stays as it was',
    '주행 프로그램이 구역을 받지 않았어요 ({why!}). 지도는 그대로예요',
  ],
  ['undo: nothing that was drawn on this map can be taken back', '이 지도에서 되돌릴 변경이 없어요'],
  [
    'undo: the newest change was made by {method}: undo that first',
    '마지막 변경은 {method}로 한 것이에요. 그것부터 되돌려 주세요',
  ],
  ['{field}: found {id} twice; ids must differ', '{field}: {id}가 두 번 있어요. 서로 달라야 해요'],
  ['{field}: no way leads to {place}', '{place}: 갈 수 있는 길이 없어요'],
  ['{field}: the robot cannot stand at {place}: {why}', '{place}: 로봇이 설 수 없는 자리예요 ({why})'],
  [
    '{field}: the robot finds no place to stand in {room} that a way leads to',
    '{room}: 로봇이 가서 설 수 있는 자리가 없어요',
  ],
  ['{field}: {name} already stands for {room}', '{name}: 이미 {room}을(를) 가리키는 이름이에요'],
  [
    '{field}: the outline crosses or touches itself at {place}',
    '{field}: 테두리가 {place}에서 스스로 겹쳐요',
  ],
  [
    '{field}: found {area} m²; at least {least} m² are needed',
    '{field}: {area} m²예요. {least} m² 이상이어야 해요',
  ],
  [
    '{field}: it would lie on {area} m² of {room}; rooms must not overlap',
    '{field}: {room}와(과) {area} m² 겹쳐요. 방은 겹칠 수 없어요',
  ],
  ['{field}: {place} must lie inside the room', '{field}: {place}: 방 안이어야 해요'],
  ['{field}: the same room stands there twice', '{field}: 같은 방이 두 번 있어요'],
  ['{field}: no room stands there', '{field}: 방이 없어요'],
  [
    '{field}: {room} does not lie next to the others; at most {gap} m may be between rooms',
    '{room}: 다른 방과 붙어 있지 않아요. 사이가 {gap} m 이하여야 해요',
  ],
  [
    '{field}: it must cross the outline of {room} exactly twice',
    '{field}: {room}의 테두리를 꼭 두 번 지나야 해요',
  ],
  ['{field}: a map has at most {n} rooms', '방은 {n}개까지예요'],
  [
    '{field}: the station stands in this room: merge it with another one instead',
    '{field}: 충전대가 있는 방이에요. 지우지 말고 다른 방과 합쳐 주세요',
  ],
  ['{field}: it would bar the robot from its station', '{field}: 로봇이 충전대로 돌아갈 길을 막아요'],
  [
    '{field}: schedule {schedule} calls the room {name}: that name has to stay',
    '예약 {schedule}이(가) {name}(이)라는 이름을 써요. 그 이름은 남겨 주세요',
  ],
  [
    '{field}: only one id can stay, and schedules use more than one of them: {who}',
    '{field}: 방 번호는 하나만 남는데 예약이 둘 이상을 써요: {who}',
  ],
  ['{field}: schedule {schedule} uses the room', '예약 {schedule}이(가) 이 방을 써요'],
  [
    'this robot cannot make maps: import one with deviceagent map import',
    '이 로봇은 지도를 만들 수 없어요. deviceagent map import로 가져와 주세요',
  ],
  ['this robot cannot make maps', '이 로봇은 지도를 만들 수 없어요'],
  ['a map is being made already', '지도를 이미 만들고 있어요'],
  [
    'a map is being made already: save it or give it up with stopMapping',
    '지도를 이미 만들고 있어요. stopMapping으로 저장하거나 그만둬 주세요',
  ],
  ['the robot drives: a map begins where it stands', '로봇이 움직이고 있어요. 지도는 멈춰 있을 때 시작해요'],
  ['no map is being made', '만들고 있는 지도가 없어요'],
  [
    'no map is being made: begin one with startMapping',
    '만들고 있는 지도가 없어요. startMapping으로 시작해 주세요',
  ],
  [
    'a map is being made: it has to be finished or given up first',
    '지도를 만들고 있어요. 먼저 끝내거나 그만둬 주세요',
  ],
  [
    'the home is being mapped: the robot goes to no room until that is saved or given up with stopMapping',
    '집 지도를 만드는 중이에요. stopMapping으로 저장하거나 그만둘 때까지 방으로 가지 않아요',
  ],
  [
    'the home is being mapped: save that or give it up with stopMapping first',
    '집 지도를 만드는 중이에요. 먼저 stopMapping으로 저장하거나 그만둬 주세요',
  ],
  [
    'the robot still explores: it is saved once it stands',
    '로봇이 아직 둘러보고 있어요. 멈춘 다음에 저장해요',
  ],
  [
    'no map is being made, or the robot still explores',
    '만들고 있는 지도가 없거나 로봇이 아직 둘러보고 있어요',
  ],
  ['there is no map to save', '저장할 지도가 없어요'],
  ['the new map cannot be written: {why}', '새 지도를 저장할 수 없어요: {why}'],
  ['the new map is not in use ({why!}); {where!}', '새 지도를 쓰지 못했어요 ({why!}). {where!}'],
  ['it is lost', '새 지도는 남아 있지 않아요'],
  ['it is kept as {id}', '{id}(으)로 보관했어요'],
  ['the motion process did not begin a map in time', '주행 프로그램이 제때 지도를 시작하지 못했어요'],
  [
    'the motion process has lost the map that was being made',
    '주행 프로그램이 다시 시작되어 만들던 지도가 사라졌어요',
  ],
  ['the motion process did not say where to explore', '주행 프로그램이 어디를 둘러볼지 알려 주지 않았어요'],
  ['the motion process did not say what it has mapped', '주행 프로그램이 만든 지도를 알려 주지 않았어요'],
  [
    'the motion process still reports the map that was given up',
    '주행 프로그램이 그만둔 지도를 아직 내려놓지 않았어요',
  ],
  ['the motion process is gone', '주행 프로그램이 꺼졌어요'],
  ['an exploration did not end', '둘러보기가 끝나지 않았어요'],
];

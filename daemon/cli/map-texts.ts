/** What `map …` says, in Korean and English. */

export const mapTexts = {
  cmdMap: { ko: '지도 보기, 가져오기, 내보내기, 그리기', en: 'show, import, export and draw maps' },
  cmdMapShow: { ko: '지도와 방', en: 'the map and its rooms' },
  cmdMapImport: { ko: 'ROS 지도와 areas.yaml 가져오기', en: 'take over a ROS map and its areas.yaml' },
  cmdMapExport: { ko: '지도를 폴더로 내보내기', en: 'write the map into a folder' },
  cmdMapDraw: {
    ko: '지도 파일을 그림으로 (데몬 없이)',
    en: 'draw a map file as a picture; needs no daemon',
  },
  cmdMapPlan: {
    ko: '지도 파일에서 길 찾기 (데몬 없이)',
    en: 'plan a way on a map file; needs no daemon',
  },
  cmdMapBuild: {
    ko: '기록된 주행에서 지도 만들기 (데몬 없이)',
    en: 'make a map out of a recorded drive; needs no daemon',
  },
  optLog: { ko: '주행 기록 파일 (BreezySLAM 형식)', en: 'log of the drive, in the format of BreezySLAM' },
  optOut: { ko: '지도를 쓸 폴더', en: 'folder to write the map into' },
  optResolution: { ko: '한 칸의 크기 m', en: 'size of a cell, m' },
  optNoOdometry: { ko: '바퀴를 믿지 않기', en: 'do not believe the wheels' },
  optNoRooms: { ko: '방으로 나누지 않기', en: 'do not divide into rooms' },
  optWheelRadius: { ko: '바퀴 반지름 m', en: 'radius of a wheel, m' },
  optWheelBase: { ko: '두 바퀴 사이 거리 m', en: 'distance between the wheels, m' },
  optTicks: { ko: '바퀴 한 바퀴의 틱 수', en: 'ticks for a turn of a wheel' },
  optLidarX: {
    ko: '라이다가 축 중앙에서 앞으로 나온 거리 m',
    en: 'how far in front of the axle the lidar sits, m',
  },
  buildProgress: { ko: '스캔 {done}/{scans} · {percent}%', en: 'scan {done} of {scans} · {percent}%' },
  buildDone: {
    ko: '지도를 썼어요: {file}, 그림 {picture}\n스캔 {scans}개 (맞지 않은 것 {unmatched}개), 주행 {way} m, 방 {rooms}개\n일치도 {score}%, 다시 알아본 곳 {loops}번, 바로잡은 어긋남 최대 {drift} m, 벽 두께 {wall} cm',
    en: 'map written: {file}, picture {picture}\n{scans} scans ({unmatched} did not fit), {way} m driven, rooms: {rooms}\nfit {score}%, places seen again {loops}, drift corrected up to {drift} m, walls {wall} cm thick',
  },
  buildCutOff: {
    ko: '{file}: 마지막 줄이 잘려 있어서 뺐어요',
    en: '{file}: the last line is cut off and was left out',
  },
  buildNothing: {
    ko: '{file}: 지도를 만들 수 있는 스캔이 없어요',
    en: '{file}: no scan in it sees enough for a map',
  },
  optPng: { ko: '그림을 쓸 PNG 파일', en: 'PNG file to write the picture to' },
  optFrom: {
    ko: '출발: x,y (m) 또는 방 이름이나 id',
    en: 'start: x,y in metres, or the name or id of a room',
  },
  optTo: { ko: '도착: x,y (m) 또는 방 이름이나 id', en: 'goal: x,y in metres, or the name or id of a room' },
  optRadius: { ko: '로봇 반지름 m', en: 'radius of the robot, m' },
  mapImported: { ko: '지도를 가져왔어요: {rooms}', en: 'map taken over: {rooms}' },
  mapProposed: {
    ko: '방 정보(areas.yaml)가 없는 지도라서 방 {count}개로 나눠 봤어요. 이름과 경계는 setAreas로 고치고, 나누지 않으려면 --no-rooms를 쓰세요.',
    en: 'the map came without areas.yaml; rooms proposed: {count}. Name, merge and split them with setAreas, or import with --no-rooms',
  },
  mapNoRooms: { ko: '이 지도에는 방이 없어요', en: 'the map has no rooms' },
  mapNoStation: {
    ko: '이 지도에는 충전대가 없어서 도킹과 복귀를 할 수 없어요. areas.yaml에 station을 넣고 다시 가져오세요.',
    en: 'the map has no station: the robot cannot dock or return to it; add station to areas.yaml and import again',
  },
  mapExported: { ko: '지도를 썼어요: {file}', en: 'map written: {file}' },
  mapChanged: {
    ko: '{file}: 데몬이 쓰는 지도와 달라요. 데몬을 다시 시작한 뒤 내보내세요.',
    en: '{file} differs from the map in use; restart the daemon, then export',
  },
  mapNoFile: { ko: '이 데몬의 지도에는 파일이 없어요', en: "this daemon's map has no file" },
  mapSize: {
    ko: '{id}: {width} × {height} m, 한 칸 {cell} m',
    en: '{id}: {width} × {height} m, cells of {cell} m',
  },
  mapKeepout: { ko: '금지 구역: {count}', en: 'keep-out areas: {count}' },
  mapDrawn: {
    ko: '그림을 썼어요: {file} ({width} × {height})',
    en: 'picture written: {file} ({width} × {height})',
  },
  mapWay: {
    ko: '길이 {length} m (직선 {straight} m), 가장 좁은 곳 장애물까지 {clearance} m, {ms} ms 걸려 찾았어요',
    en: '{length} m long ({straight} m in a straight line), at its narrowest {clearance} m from an obstacle, found in {ms} ms',
  },
  badPlace: {
    ko: '{option}: {value}는 x,y가 아니에요. 두 수를 쉼표로 이어 주세요. 예: 1.5,-2',
    en: '{option}: found {value}; two numbers with a comma between them are needed, e.g. 1.5,-2',
  },
  badRadius: {
    ko: '{option}: {value}; 0.05에서 1 사이의 수가 필요해요',
    en: '{option}: found {value}; a number from 0.05 to 1 is needed',
  },
} as const;

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
  optPng: { ko: '그림을 쓸 PNG 파일', en: 'PNG file to write the picture to' },
  optFrom: {
    ko: '출발: x,y (m) 또는 방 이름이나 id',
    en: 'start: x,y in metres, or the name or id of a room',
  },
  optTo: { ko: '도착: x,y (m) 또는 방 이름이나 id', en: 'goal: x,y in metres, or the name or id of a room' },
  optRadius: { ko: '로봇 반지름 m', en: 'radius of the robot, m' },
  mapImported: { ko: '지도를 가져왔어요: {rooms}', en: 'map taken over: {rooms}' },
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

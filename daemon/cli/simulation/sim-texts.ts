/** What `run` and `sim` say, in Korean and English. */

export const simTexts = {
  runConfig: {
    ko: '프로필: YAML 파일 또는 {names}',
    en: 'profile: a YAML file, or one of {names}',
  },
  runStateDir: { ko: '로봇의 기억을 두는 곳', en: 'where the robot keeps what it knows' },
  runRt: { ko: '구동 프로세스: "process" 또는 "inline"', en: 'the motion process: "process" or "inline"' },
  simSpeed: { ko: '실제보다 몇 배 빠르게, 또는 "max"', en: 'times real speed, or "max"' },
  simSeed: { ko: '같은 수는 같은 결과', en: 'the same seed gives the same run' },
  simWorld: {
    ko: '함께 오는 집 대신 쓸 집 파일',
    en: 'a world file instead of the home that comes along',
  },
  simMap: { ko: '아무 ROS 지도(map.yaml)로 만든 집', en: 'any ROS map (map.yaml) as the world' },
  simMqttPort: {
    ko: '이 컴퓨터에서만 열리는 브로커 포트 ({port} 또는 빈 포트)',
    en: 'port of the broker on loopback ({port}, or a free one)',
  },
  simApiPort: {
    ko: '이 컴퓨터에서만 열리는 콘솔 포트 ({port} 또는 빈 포트)',
    en: 'port of the console on loopback ({port}, or a free one)',
  },
  simStateDir: {
    ko: '로봇의 기억을 두는 곳. 정하지 않으면 매번 비우고 시작',
    en: 'where the robot keeps what it knows; the default starts empty each time',
  },
  simCloud: {
    ko: '내장 클라우드와 그것이 보내는 작업 흐름',
    en: 'the built-in cloud and the workflow it sends',
  },
  simOnce: {
    ko: '작업 흐름이 끝나면 0 또는 1로 종료',
    en: 'end after the workflow, with exit code 0 or 1',
  },
  simHeadless: {
    ko: '--once가 없으면 작업 흐름 없이, 진행 줄 없이',
    en: 'no workflow unless --once, no live line',
  },
  simTransport: {
    ko: '장치 연결 방법. memory: 모두 한 프로세스에',
    en: 'how devices are connected; memory: everything in one process',
  },
  simRt: { ko: '구동 프로세스가 도는 곳', en: 'where the motion process runs' },
  simBase: {
    ko: '로봇의 구동부 칩',
    en: 'the chip of the base',
  },
  simBackEnd: {
    ko: '직접 모는 로봇(onboard) 또는 Nav2가 있는 ROS 2 로봇',
    en: 'a robot driven from here (onboard), or one with ROS 2 and Nav2',
  },
  simLidar: {
    ko: '로봇의 라이다 칩',
    en: 'the chip of the lidar',
  },
  simWatchdog: {
    ko: '스스로 멈추는 펌웨어를 가진 구동부. 실제 Create 2에는 없음',
    en: 'a base whose firmware stops by itself; real Create 2 have none',
  },

  simHome: { ko: '시뮬레이션 집', en: 'simulated home' },
  simBroker: { ko: '브로커', en: 'broker' },
  simBrokerAt: { ko: '{url}   장치 {device}', en: '{url}   device {device}' },
  simInMemory: { ko: '메모리', en: 'in memory' },
  simState: { ko: '상태 디렉터리', en: 'state' },
  simConsole: { ko: '콘솔', en: 'console' },
  simNone: { ko: '없음', en: 'none' },
  simDied: { ko: '데몬이 죽었어요 ({how})', en: 'the daemon died ({how})' },
  simDiedAgain: {
    ko: '데몬이 죽었어요 ({how}). {ms} ms 뒤에 다시 시작합니다.',
    en: 'the daemon died ({how}); it is started again in {ms} ms',
  },
  simWaiting: {
    ko: '로봇을 기다리는 중: 구동 프로세스, 위치 인식, 클라우드 연결 …',
    en: 'waiting for the robot: motion process, localisation, cloud session …',
  },
  simToRobot: { ko: '클라우드 → 로봇', en: 'cloud → robot' },
  simToCloud: { ko: '로봇 → 클라우드', en: 'robot → cloud' },
  simWall: { ko: '실제 시간', en: 'wall time' },
  simUnsettled: { ko: '안정되지 않은 틱', en: 'unsettled ticks' },
  simStays: {
    ko: '로봇은 계속 켜져 있어요. 다른 터미널에서 말을 걸어 보세요. 예: `npx deviceagent task list`. Ctrl-C로 끝냅니다.',
    en: 'the robot stays up; talk to it from a second terminal, e.g. `npx deviceagent task list`. Ctrl-C ends.',
  },
  simPortTaken: {
    ko: '{option} {port}: 이미 쓰이는 포트예요. 다른 포트를 고르거나 빼면 빈 포트를 찾아요.',
    en: '{option} {port} is in use; choose another, or leave it out and a free one is found',
  },
  simTaken: {
    ko: '{dir}에서 이미 로봇이 실행 중이에요. 그 로봇을 끄거나 다른 --state-dir를 쓰세요.',
    en: 'a robot already runs on {dir}; stop it, or use another --state-dir',
  },
  simDone: {
    ko: '✓ 로봇 시간 {seconds}초에 끝남: 모든 단계에 증거가 있고, 모든 이벤트가 순서대로 한 번씩 도착했어요',
    en: '✓ done in {seconds} s of robot time: every step with its evidence, every event received once and in order',
  },
  simNotDone: {
    ko: '✗ 로봇 시간 {seconds}초 뒤, 제대로 되지 않았어요',
    en: '✗ not as it should be, after {seconds} s of robot time',
  },
  simNotOnline: {
    ko: '로봇이 클라우드에 연결하고 상태를 알리지 않았어요',
    en: 'the robot did not come online and show its context',
  },
  simRefused: { ko: '거부됨: {code}', en: 'refused: {code}' },
  simTooLong: { ko: '작업 흐름이 제시간에 끝나지 않았어요', en: 'the workflow did not end in time' },
  simEnded: { ko: '작업 흐름의 끝: {end}', en: 'the workflow ended {end}' },
  simMissing: { ko: '오지 않은 이벤트: {seqs}', en: 'events missing: {seqs}' },
  simReceived: {
    ko: '클라우드가 받은 것: 이벤트 {events}개, seq {first}…{last}, {order}, 빠짐 {missing}, 되풀이 {repeats}, 텔레메트리 {telemetry}, 응답 {responses}',
    en: 'received by the cloud: {events} events, seq {first}…{last}, {order}, {missing} missing, {repeats} repeated, {telemetry} telemetry, {responses} responses',
  },
  simInOrder: { ko: '순서대로', en: 'in order' },
  simNotInOrder: { ko: '순서 어긋남', en: 'NOT in order' },
  simBattery: { ko: '배터리', en: 'battery' },
  hFromS: { ko: '시작 초', en: 'from s' },
  hToS: { ko: '끝 초', en: 'to s' },
  hEnd: { ko: '끝', en: 'end' },
  hSeq: { ko: '번호', en: 'seq' },
  hEvent: { ko: '이벤트', en: 'event' },
} as const;

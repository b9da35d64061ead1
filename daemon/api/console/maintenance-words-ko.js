/** What is said of diagnostics, calibration and back ends, in Korean. */
export const MAINTENANCE_WORDS = [
  [
    'the lidar failed its own self-test and does not turn: switch it off and on, and replace it if that does not help',
    '라이다가 자체 점검에 실패해서 돌지 않아요. 껐다 켜 보고, 그래도 안 되면 교체해 주세요',
  ],
  [
    'the robot stands on its station: let it leave first (undock)',
    '충전대 위에 있어요. 먼저 충전대에서 나오게 해 주세요 (undock)',
  ],
  [
    'too little of the walls was seen, or something moved: calibrate in a room with walls within four metres and nobody near',
    '벽이 잘 보이지 않거나 무언가 움직였어요. 4미터 안에 벽이 있고 가까이에 사람이 없는 방에서 보정해 주세요',
  ],
  [
    'wheels off by {wheels}, wheel base by {base}, lidar by {lidar}°: more than {most} % or {angle}° is a wrong figure in the profile; run runMotorDiagnostics, then correct base and lidar',
    '바퀴 {wheels}, 바퀴 간격 {base}, 라이다 {lidar}° 차이가 나요. {most} %나 {angle}°가 넘으면 프로필의 값이 잘못된 거예요. runMotorDiagnostics를 실행한 뒤 base와 lidar를 고쳐 주세요',
  ],
  ['the calibration could not be written down: {why!}', '보정 값을 저장하지 못했어요: {why!}'],
  ['this motion process keeps no calibration', '이 주행 프로그램은 보정 값을 두지 않아요'],
  [
    'the motion process does not report its wheels and lidar yet',
    '주행 프로그램이 아직 바퀴와 라이다를 알려 주지 않아요',
  ],
  ['the motion process does not report', '주행 프로그램이 응답하지 않아요'],
  [
    'the motion process has not said yet what the robot can do',
    '주행 프로그램이 로봇이 할 수 있는 일을 아직 알려 주지 않았어요',
  ],
  ['the calibration cannot be changed while an action runs', '움직이는 동안에는 보정 값을 바꿀 수 없어요'],
  ['Nav2 did not plan: {why!}', 'Nav2가 길을 찾지 못했어요: {why!}'],
];

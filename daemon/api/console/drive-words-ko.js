/** What is said of driving by hand and of following people, in Korean. */
export const DRIVE_WORDS = [
  [
    'the robot stands on its station: undock it before driving by hand',
    '충전대 위에 있어요. 먼저 충전대에서 나오게 해 주세요',
  ],
  [
    'the press was over before its turn came; the wheels did not turn',
    '차례가 오기 전에 버튼에서 손을 뗐어요. 바퀴는 움직이지 않았어요',
  ],
  ['somebody else holds this press', '다른 사람이 누르고 있어요'],
  ['there is no press of yours with this id', '이 번호로 누르고 있는 버튼이 없어요'],
  ['a message has to be JSON', '메시지는 JSON이어야 해요'],
];

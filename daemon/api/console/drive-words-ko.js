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
  [
    'the battery is needed for the way home; the following has ended',
    '돌아갈 배터리만 남아서 따라가기를 끝냈어요',
  ],
  ['nobody to follow was seen before the time was over', '시간이 끝날 때까지 따라갈 사람이 보이지 않았어요'],
  ['nobody to follow was seen in {n} s', '{n}초 동안 따라갈 사람이 보이지 않았어요'],
  ['the person has been out of sight for {n} s', '{n}초 동안 사람이 보이지 않아요'],
  ['no way to the person was found in {n} s', '{n}초 동안 사람에게 갈 길을 찾지 못했어요'],
  ['somebody else holds this press', '다른 사람이 누르고 있어요'],
  ['there is no press of yours with this id', '이 번호로 누르고 있는 버튼이 없어요'],
  ['a message has to be JSON', '메시지는 JSON이어야 해요'],
];

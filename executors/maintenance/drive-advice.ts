/** What a builder does about a verdict: one sentence for each fault, in Korean and in English. */
import type { DriveVerdict } from './drive-verdict.js';

export interface Advice {
  ko: string;
  en: string;
}

const SIDES = { left: { ko: '왼쪽', en: 'left' }, right: { ko: '오른쪽', en: 'right' } } as const;

export function driveAdvice(verdict: DriveVerdict): Advice[] {
  const found: Advice[] = [];
  const { left, right } = verdict;
  if (left.motor === 'swapped' && right.motor === 'swapped') {
    const both = left.encoder === 'swapped';
    found.push(
      both
        ? {
            ko: '왼쪽과 오른쪽 바퀴의 모터선과 엔코더선이 통째로 바뀌었어요. 두 쪽을 서로 바꿔 꽂으세요.',
            en: 'motor and encoder wires of left and right are plugged in on the other side: swap them.',
          }
        : {
            ko: '왼쪽과 오른쪽 모터선이 바뀌었어요. 두 모터의 선을 서로 바꿔 꽂으세요.',
            en: 'the motor wires of left and right are swapped: change them over.',
          },
    );
  } else if (left.encoder === 'swapped' && right.encoder === 'swapped') {
    found.push({
      ko: '왼쪽과 오른쪽 엔코더선이 바뀌었어요. 두 엔코더의 선을 서로 바꿔 꽂으세요.',
      en: 'the encoder wires of left and right are swapped: change them over.',
    });
  }
  for (const side of ['left', 'right'] as const) found.push(...sideAdvice(verdict[side], SIDES[side]));
  if (verdict.brake === 'slow') {
    found.push({
      ko: '바퀴가 늦게 멈춰요. 바퀴와 기어에 낀 것이 없는지, 짐이 너무 무겁지 않은지 보세요.',
      en: 'the wheels take long to stop: look for a load that is too heavy, or worn gears.',
    });
  }
  if (verdict.lidar === 'mirrored') {
    found.push({
      ko: '라이다가 회전을 거꾸로 봐요. 뒤집어 달았다면 lidar.inverted를 true로 하고, 아니라면 양쪽 바퀴의 선이 바뀐 거예요.',
      en: 'the lidar sees every turn the other way round: if it hangs head down set lidar.inverted to true; if not, the wires of both wheels are on the other side.',
    });
  }
  return found;
}

function sideAdvice(
  { motor, encoder, current }: DriveVerdict['left'],
  side: { ko: string; en: string },
): Advice[] {
  const found: Advice[] = [];
  if (motor === 'no_response') {
    found.push({
      ko: `${side.ko} 바퀴가 움직이지 않아요. 모터선과 바퀴에 낀 것을 확인하세요.`,
      en: `the ${side.en} wheel does not move: check its motor wires, and that nothing holds it.`,
    });
  }
  if (motor === 'reversed') {
    found.push({
      ko: `${side.ko} 바퀴가 반대로 돌아요. 모터의 두 선을 서로 바꾸세요.`,
      en: `the ${side.en} wheel turns backwards: change the two wires of its motor over.`,
    });
  }
  if (motor === 'slips') {
    found.push({
      ko: `${side.ko} 바퀴가 헛돌아요. 바퀴의 고무와 바닥을 확인하세요.`,
      en: `the ${side.en} wheel slips: look at its tyre and at the floor.`,
    });
  }
  if (encoder === 'no_response') {
    found.push({
      ko: `${side.ko} 엔코더가 세지 않아요. 엔코더선을 확인하세요.`,
      en: `the ${side.en} encoder does not count: check its wires.`,
    });
  }
  if (encoder === 'reversed') {
    found.push({
      ko: `${side.ko} 엔코더가 반대로 세요. 엔코더의 두 신호선을 서로 바꾸세요.`,
      en: `the ${side.en} encoder counts backwards: change its two signal wires over.`,
    });
  }
  if (current === 'high') {
    found.push({
      ko: `${side.ko} 모터에 전류가 너무 많이 흘러요. 바퀴에 낀 것이 없는지 보세요.`,
      en: `the ${side.en} motor draws too much current: see what holds the wheel.`,
    });
  }
  return found;
}

/** What the robot says of workflows, of their documents and of amendments, in Korean; see `robot-words-ko.js`. */

/** Sentences that hold others: they stand before what would take them as a part of theirs. */
export const WORKFLOW_FRAMES = [
  [
    '{why!} ({reason}); no cloud_replans are left',
    '{why!} ({reason}). 클라우드가 다시 계획할 수 있는 횟수를 다 썼어요',
  ],
  ['{why!}; no amendment came within {ms} ms', '{why!}. {ms} ms 안에 고친 계획이 오지 않았어요'],
  ['{why!}; not compensated: {steps}', '{why!}. 되돌리지 못한 단계: {steps}'],
  [
    'an amendment within {ms} ms (cloud_replans left: {n}), after {reason}: {why!}',
    '고친 계획을 {ms} ms까지 기다려요 (남은 횟수 {n}). 까닭: {reason}, {why!}',
  ],
  [
    'retry {n} of {max} in {ms} ms, after {reason}: {why!}',
    '{ms} ms 뒤에 다시 해 봐요 ({max}번 가운데 {n}번째). 까닭: {reason}, {why!}',
  ],
  [
    '{field}: found {base}; workflow {id} stands at revision {revision}: read it and amend that',
    '{field}: {base}. 작업 흐름 {id}의 revision은 지금 {revision}이에요. 다시 읽고 고쳐 주세요',
  ],
  [
    '{field}: found {value}; this id was used before',
    '{field}: {value}. 전에 쓴 이름이에요. 다른 이름을 정해 주세요',
  ],
  ['{field}: found {value}; there is no such step', '{field}: {value}. 그런 단계가 없어요'],
  [
    '{field}: found {value}; a step cannot depend on itself',
    '{field}: {value}. 자기 자신을 기다릴 수 없어요',
  ],
  ['{field}: found {n} steps; allowed are {max}', '단계가 {n}개예요. {max}개까지 할 수 있어요'],
];

export const WORKFLOW_WORDS = [
  [
    'workflow {id} was amended {n} times by the cloud; no cloud_replans are left',
    '클라우드가 작업 흐름 {id}을(를) {n}번 고쳤어요. 더 고칠 수 없어요',
  ],
  [
    'workflow {id} was amended {n} times already: submit another one',
    '작업 흐름 {id}을(를) 이미 {n}번 고쳤어요. 새 작업 흐름을 맡겨 주세요',
  ],
  ['workflow {id} is ending already ({as})', '작업 흐름이 이미 끝나는 중이에요 ({as})'],
  [
    'no further workflow is taken now: the outbox is full',
    '보낼 편지함이 가득 차서 작업 흐름을 더 받을 수 없어요',
  ],
  ['no further workflow is taken now: {n} are live', '작업 흐름 {n}개가 돌고 있어서 더 받을 수 없어요'],
  [
    '{field}: found nothing in add, replace and remove: an amendment changes something',
    '{field}: add, replace, remove가 모두 비었어요. 무엇을 고칠지 적어 주세요',
  ],
  ['{field}: this step stands in {list} already', '{field}: {list}에 이미 있는 단계예요'],
  [
    '{field}: no step would be left; cancel the workflow',
    '{field}: 남는 단계가 없어요. 작업 흐름을 취소해 주세요',
  ],
  [
    '{field}: a step has this id; use replace, or another id',
    '{field}: 이미 있는 이름이에요. replace나 다른 이름을 쓰세요',
  ],
  [
    '{field}: a step that was removed had this id; every step needs its own',
    '{field}: 뺀 단계의 이름이에요. 새 이름을 정해 주세요',
  ],
  [
    '{field}: it is {state}; only a step that has not begun, or failed and waits for an amendment, can change',
    '{field}: {state} 상태예요. 아직 시작하지 않았거나, 실패해서 고친 계획을 기다리는 단계만 고칠 수 있어요',
  ],
  ['{field}: two steps have this id', '{field}: 두 단계의 이름이 같아요'],
  [
    '{field}: found {what}; exactly one of method and capability is allowed',
    '{field}: method와 capability 가운데 하나만 적어 주세요',
  ],
  [
    '{field}: exactly one of method and capability is needed, found {what}',
    '{field}: method와 capability 가운데 하나만 적어 주세요',
  ],
  ['{field}: the steps depend on each other: {circle}', '{field}: 단계가 서로를 기다려요: {circle}'],
  ['{field}: {output}: there is no step {id}', '{field}: {output}: {id} 단계가 없어요'],
  [
    '{field}: {output}: {step} does not come after {id}',
    '{field}: {output}: {step} 단계는 {id} 단계 다음이 아니에요',
  ],
  [
    '{field}: {output}: nobody waits for the end of {id} (its wait_policy)',
    '{field}: {output}: {id} 단계의 끝을 기다리지 않아요 (wait_policy)',
  ],
  [
    '{field}: {output}: {id} ended {state}, without an output',
    '{field}: {output}: {id} 단계는 결과 없이 끝났어요 ({state})',
  ],
  ['{field}: {output}: {method} gives no such output', '{field}: {output}: {method}에는 그런 결과가 없어요'],
  ['{field}: there is no such step', '{field}: 그런 단계가 없어요'],
  ['stale: {what}', '{what} 값이 오래됐어요'],
  ['unknown: {what}', '{what} 값을 몰라요'],
  ['{ms} ms after the end of {id}', '{id} 단계가 끝나고 {ms} ms 뒤'],
];

/** A refusal that lists several things, by `translate`. Some of them have a semicolon of their own. */
export function problemsInKorean(message, translate) {
  const found = /^(\d+) problems: (.+)$/s.exec(message);
  if (found === null) return null;
  const [, count, list] = found;
  const open = list.split('; ');
  const said = [];
  while (open.length > 0) {
    const words = [open[0], open.slice(0, 2).join('; ')];
    const length = words.findIndex((text) => translate(text) !== text) + 1 || 1;
    said.push(translate(open.splice(0, length).join('; ')));
  }
  return `잘못된 곳이 ${count}군데예요: ${said.join('; ')}`;
}

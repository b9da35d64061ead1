import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { sampleSchedule } from '../../support/api/schedule.js';
import { type Served, serve } from '../../support/api/serve.js';
import { DOCUMENT } from '../../support/api/work.js';
import { type RunOptions, run } from '../../support/cli/fake-io.js';

let served: Served;
beforeEach(async () => {
  served = await serve();
});
afterEach(() => served.stop());

const da = (line: string[], options: RunOptions = {}) => run([...line, '--state-dir', served.dir], options);
const daJson = async (line: string[]) =>
  JSON.parse((await da([...line, '--json'])).out) as Record<string, unknown>;

/** Cells of a table, row by row, without the frame. */
function cells(table: string): string[][] {
  return table
    .split('\n')
    .filter((line) => line.startsWith('│'))
    .map((line) =>
      line
        .split('│')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

describe('task', () => {
  it('submit names the task and where its end will show', async () => {
    const ran = await da(['task', 'submit', 'setMoveTo', '{"positionName":"거실"}']);
    expect(ran).toEqual({
      code: 0,
      out: 'task t-1 accepted; its end comes as an event: deviceagent task show t-1\n',
      err: '',
    });
    expect(served.runtime.handled[0]).toMatchObject({
      raw: { kind: 'task', method: 'setMoveTo', params: { positionName: '거실' } },
      principal: { source: 'LOCAL' },
    });
  });

  it('submit passes on capability, priority, dry run and the name of the request', async () => {
    const line = 'task submit move_to_room --capability --priority 70 --dry-run --key k1'.split(' ');
    expect((await da(line)).code).toBe(0);
    expect(served.runtime.handled[0]?.raw).toMatchObject({
      command_id: 'api:k1',
      capability: 'move_to_room',
      task: { priority: 70, dryRun: true },
    });
  });

  it('submit says why it was refused in the language of the terminal', async () => {
    served.runtime.refuse.set('setMoveTo', {
      reason: 'EMERGENCY_STOP',
      message: 'the emergency stop is latched: release it at the robot',
    });
    expect((await da(['task', 'submit', 'setMoveTo', '{}'], { lang: 'ko_KR.UTF-8' })).err).toBe(
      'deviceagent: 거부됨 EMERGENCY_STOP: 비상 정지 상태예요. 로봇 곁에서 해제해 주세요\n',
    );
  });

  it('submit says why it was refused, in one line, with exit code 1', async () => {
    served.runtime.refuse.set('setMoveTo', { reason: 'UNKNOWN_TARGET', message: 'no room is called 서재' });
    expect(await da(['task', 'submit', 'setMoveTo', '{"positionName":"서재"}'])).toEqual({
      code: 1,
      out: '',
      err: 'deviceagent: refused, UNKNOWN_TARGET: no room is called 서재\n',
    });
    const json = await da(['task', 'submit', 'setMoveTo', '{}', '--json']);
    expect(JSON.parse(json.err)).toEqual({
      error: { code: 'UNKNOWN_TARGET', message: 'no room is called 서재' },
    });
  });

  const wrong: [string, string[], string][] = [
    [
      'params that are not JSON',
      ['task', 'submit', 'setMoveTo', '{bad'],
      'write it like \'{"positionName":"거실"}\'',
    ],
    ['params that are no object', ['task', 'submit', 'setMoveTo', '[1]'], 'params has to be a JSON object'],
    [
      'a priority that is none',
      ['task', 'submit', 'x', '--priority', 'high'],
      '--priority: found high; allowed is 0–100',
    ],
    ['a limit that is none', ['task', 'list', '--limit', '0'], '--limit: found 0; allowed is 1–500'],
    ['a file that is not there', ['workflow', 'submit', '/none.json'], 'there is no file /none.json'],
    [
      'an unknown command',
      ['tsk', 'list'],
      "deviceagent: unknown command 'tsk' (Did you mean task?); how to use it: deviceagent --help\n",
    ],
    ['an unknown option', ['task', 'list', '--colour'], "unknown option '--colour'"],
    ['a missing argument', ['task', 'show'], "missing required argument 'id'"],
  ];
  for (const [what, line, message] of wrong) {
    it(`${what} is wrong usage: exit code 2`, async () => {
      const ran = await run(line);
      expect(ran.code).toBe(2);
      expect(ran.err).toContain(message);
      expect(served.runtime.handled).toEqual([]);
    });
  }

  it('wrong usage points to the help of the command that was meant', async () => {
    expect((await run(['task', 'show'])).err).toBe(
      "deviceagent: missing required argument 'id'; how to use it: deviceagent task show --help\n",
    );
  });

  it('a submission that waits for a person says so, and how to approve it', async () => {
    served.runtime.accept.set('resetMap', { approval_id: 'ap-1' });
    const { out } = await da(['task', 'submit', 'resetMap']);
    expect(out).toContain('a person has to approve it first: deviceagent approvals approve ap-1');
  });

  it('quiet hours that cannot be read are answered with how to write them', async () => {
    expect(await da(['settings', 'quiet_hours', '22-7'])).toMatchObject({
      code: 2,
      err: 'deviceagent: quiet_hours: write it like 22:00-07:00, or off\n',
    });
  });

  it('list is a table for people and JSON for scripts', async () => {
    const { out } = await da(['task', 'list']);
    expect(cells(out).map((row) => row.slice(0, 4))).toEqual([
      ['id', 'method', 'state', 'source'],
      ['t-s2', 'setMoveTo', 'STARTED', 'CLOUD'],
      ['t-s1', 'setMoveTo', 'COMPLETED', 'CLOUD'],
      ['t-s0', 'undock', 'COMPLETED', 'CLOUD'],
      ['t-old', 'setMoveTo', 'FAILED', 'VOICE'],
    ]);
    expect(await daJson(['task', 'list', '--active'])).toMatchObject({ tasks: [{ task_id: 't-s2' }] });
  });

  it('list fits the terminal: long reasons wrap', async () => {
    const { out } = await da(['task', 'list'], { columns: 90 });
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(90);
    expect(out.replace(/[│\s]+/g, ' ')).toContain('stood in the');
  });

  it('show prints everything there is to know', async () => {
    const { out } = await da(['task', 'show', 't-s1']);
    expect(parse(out)).toMatchObject({ state: 'COMPLETED', evidence: { idle: true } });
    expect(await da(['task', 'show', 'none'])).toMatchObject({
      code: 1,
      err: 'deviceagent: refused, NOT_FOUND: there is no task none\n',
    });
  });

  it('pause, resume and cancel ask the intake', async () => {
    for (const verb of ['pause', 'resume', 'cancel']) {
      expect((await da(['task', verb, 't-s2'])).out).toBe('accepted\n');
    }
    const params = { task_id: 't-s2' };
    expect(served.runtime.handled.map(({ raw }) => raw)).toMatchObject([
      { method: 'pauseTask', params },
      { method: 'resumeTask', params },
      { method: 'cancelTask', params },
    ]);
  });
});

describe('workflow', () => {
  const file = join(tmpdir(), `da-workflow-${process.pid}.json`);
  beforeAll(() => writeFileSync(file, JSON.stringify(DOCUMENT)));
  afterAll(() => rmSync(file));

  it('submit reads a file, or standard input, as JSON or YAML', async () => {
    const accepted = 'workflow wf-1 accepted: deviceagent workflow show wf-1\n';
    expect((await da(['workflow', 'submit', file])).out).toBe(accepted);
    expect((await da(['workflow', 'submit', '-'], { stdin: JSON.stringify(DOCUMENT) })).out).toBe(accepted);
    const yaml = 'workflow_id: wf-2\nsteps:\n  - {step_id: s1, method: undock}\n';
    expect((await da(['workflow', 'submit', '-'], { stdin: yaml })).out).toContain('wf-2');
  });

  it('submit names the field of a bad document', async () => {
    const ran = await da(['workflow', 'submit', '-'], { stdin: '{"workflow_id":"w","steps":[]}' });
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(/^deviceagent: refused, INVALID_PARAMS: workflow\.steps/);
  });

  it('show has a row for each step, list one for each workflow', async () => {
    const { out } = await da(['workflow', 'show', 'wf-1'], { columns: 240 });
    expect(out).toContain('wf-1  RUNNING  거실로 갔다가 안방으로 이동해서 청정');
    expect(
      cells(out)
        .slice(1)
        .map((row) => row.slice(0, 3)),
    ).toEqual([
      ['s0', 'undock', 'COMPLETED'],
      ['s1', 'setMoveTo', 'COMPLETED'],
      ['s2', 'setMoveTo', 'RUNNING'],
      ['s3', 'startCleaning', 'WAITING (s2)'],
      ['s4', 'setLlmTts', 'PENDING'],
      ['s5', 'returnToStation', 'PENDING'],
    ]);
    expect(cells((await da(['workflow', 'list'])).out)[1]).toContain('2/6');
  });

  it('pause, resume and cancel ask the intake', async () => {
    for (const verb of ['pause', 'resume', 'cancel']) {
      expect((await da(['workflow', verb, 'wf-1'])).code).toBe(0);
    }
    expect(served.runtime.handled.map((h) => (h.raw as { method: string }).method)).toEqual([
      'pauseWorkflow',
      'resumeWorkflow',
      'cancelWorkflow',
    ]);
  });

  it('amend sends what the file says, and refuses a file for another workflow', async () => {
    const amendment = { base_revision: 1, remove: ['s5'], add: [{ step_id: 's7', method: 'undock' }] };
    const sent = await da(['workflow', 'amend', 'wf-1', '-'], { stdin: JSON.stringify(amendment) });
    expect(sent.code).toBe(0);
    expect(served.runtime.handled[0]?.raw).toMatchObject({
      kind: 'control',
      method: 'amendWorkflow',
      params: { workflow_id: 'wf-1', ...amendment },
    });
    const other = await da(['workflow', 'amend', 'wf-1', '-'], {
      stdin: JSON.stringify({ workflow_id: 'wf-2', ...amendment }),
    });
    expect(other.err).toBe('deviceagent: - amends another workflow (wf-2)\n');
    const unclear = await da(['workflow', 'amend', 'wf-1', '-'], { stdin: '{"remove":["s5"]}' });
    expect(unclear.err).toMatch(/^deviceagent: refused, INVALID_PARAMS: base_revision: found nothing/);
  });
});

describe('what the robot is and sees', () => {
  it('context, in both versions', async () => {
    expect(parse((await da(['context'])).out)).toMatchObject({ contract_version: 'device_context.v1' });
    expect(await daJson(['context', '--v2'])).toMatchObject({ contract_version: 'device_context.v2' });
  });

  it('methods: the table, or one with its schema', async () => {
    const rows = cells((await da(['methods'], { columns: 240 })).out);
    expect(rows[1]).toEqual([
      'movement',
      'setMoveTo',
      'positionName positionId',
      'movement.arrived',
      'stopMove → velocity 0 for 0.3 s',
      'motion',
      '5 min',
      'low',
      'yes',
    ]);
    expect(rows[2]?.[6]).toBe('depends');
    expect(parse((await da(['methods', 'startCleaning'])).out)).toMatchObject({
      params: { properties: { mode: { enum: ['auto', 'quiet', 'turbo'] } } },
    });
    expect((await da(['methods', 'fly'])).err).toMatch(
      /^deviceagent: there is no method fly; there are: \w+/,
    );
  });

  it('capabilities say why not, in the language of the terminal', async () => {
    const ko = cells((await da(['capabilities'], { lang: 'ko_KR.UTF-8', columns: 240 })).out);
    expect(ko[2]).toEqual([
      'start_room_cleaning',
      '공기 청정',
      '아니요',
      'HARDWARE_FAULT: the fan does not answer; check its cable',
      'startCleaning pauseCleaning resumeCleaning stopCleaning',
    ]);
    expect(ko[3]?.slice(0, 4)).toEqual([
      'follow_me',
      '따라오기',
      '아직 없음',
      'CAPABILITY_UNAVAILABLE: 이 버전에는 startFollowMe 기능이 아직 없어요',
    ]);
    const en = cells((await da(['capabilities'], { columns: 240 })).out);
    expect(en[3]?.slice(2, 4)).toEqual([
      'not built',
      'CAPABILITY_UNAVAILABLE: this version does not build startFollowMe yet',
    ]);
    expect(await daJson(['capabilities'])).toMatchObject({
      capabilities: [
        { built: true, available: true, reason_code: null, reason: null },
        { built: true, available: false, reason_code: 'HARDWARE_FAULT' },
        { built: false, available: false, reason_code: 'CAPABILITY_UNAVAILABLE' },
      ],
    });
  });

  it('doctor ends with 1 only when a part is faulty', async () => {
    const ran = await da(['doctor']);
    expect(ran.code).toBe(0);
    expect(ran.out).toContain('no answer on dev/fan');
    served.runtime.checks = [{ part: 'base', state: 'faulty', message: 'no answer' }];
    expect((await da(['doctor'])).code).toBe(1);
    expect(await daJson(['doctor'])).toMatchObject({ healthy: false });
    expect((await da(['doctor'], { lang: 'ko_KR.UTF-8' })).out).toMatch(/base +│ 문제/);
  });

  it('map show draws the home with the robot in it, and lists its rooms', async () => {
    const { out } = await da(['map', 'show'], { columns: 100 });
    expect(out).toContain('home-1: 11.0 × 8.2 m, cells of 0.05 m');
    expect(out).toContain('◉');
    expect(out).toContain('⌂');
    expect(cells(out)[2]).toEqual(['2', '거실', 'living room', '25.0 m²']);
  });

  it('outbox: status, dead letters, requeue, drop', async () => {
    expect(cells((await da(['outbox', 'status'])).out)).toContainEqual(['messages waiting', '2']);
    const korean = await da(['outbox', 'status'], { lang: 'ko_KR.UTF-8' });
    expect(cells(korean.out)).toContainEqual(['보낼 메시지', '2']);
    expect(JSON.parse((await da(['outbox', 'status', '--json'])).out)).toMatchObject({ depth: 2 });
    expect(cells((await da(['outbox', 'dead-letters'])).out)[1]).toEqual([
      '7',
      '3',
      'events/task',
      'packet too large',
      '5',
    ]);
    const both = await da(['outbox', 'requeue', '7', '8']);
    expect(both.out).toBe('queued again: 7\n');
    expect(both.err).toContain('NOT_FOUND: no dead letter has this id: 8');
    expect(both.code).toBe(1);
    expect((await da(['outbox', 'drop', '9'], { lang: 'ko_KR.UTF-8' })).err).toContain(
      '거부된 메시지 중에 없어요: 9',
    );
    expect(JSON.parse((await da(['outbox', 'drop', '9', '--json'])).out)).toEqual({
      drop: [],
      not_found: [9],
    });
    expect((await da(['outbox', 'drop', '7'])).err).toContain('NOT_FOUND');
    expect((await da(['outbox', 'drop', 'seven'])).code).toBe(2);
    expect((await da(['outbox', 'dead-letters'])).out).toBe('nothing was refused\n');
    expect((await da(['outbox', 'requeue', 'all'])).out).toBe('nothing was refused\n');
  });

  it('sim and run explain their options in the language of the terminal', async () => {
    expect((await run(['sim', '--help'], { lang: 'ko_KR.UTF-8' })).out).toContain(
      '브로커 포트 (1883 또는 빈 포트)',
    );
    expect((await run(['run', '--help'])).out).toContain('a YAML file, or one of sim, create2, kobuki, ros2');
  });

  it('events are one line each, or JSON lines', async () => {
    const { out } = await da(['events', '--since', '4']);
    const lines = out.trimEnd().split('\n');
    expect(lines.map((line) => line.slice(0, 2))).toEqual(['#5', '#6', '#7']);
    expect(lines[0]).toContain('COMPLETED  s1  setMoveTo  navigation.arrived');
    const json = (await da(['events', '--since', '6', '--json'])).out.trimEnd().split('\n');
    expect(json.map((line) => JSON.parse(line) as object)).toMatchObject([{ seq: 7, topic: 'events/task' }]);
  });

  it('estop and its release', async () => {
    expect((await da(['estop'])).out).toContain('deviceagent estop release');
    expect(served.runtime.estops).toEqual(['unix-socket']);
    served.runtime.estopButtonHeld = true;
    const held = await da(['estop', 'release'], { lang: 'ko_KR.UTF-8' });
    expect([held.code, held.err]).toEqual([
      1,
      'deviceagent: 거부됨 ILLEGAL_STATE: the e-stop button is still pressed\n',
    ]);
    served.runtime.estopButtonHeld = false;
    expect((await da(['estop', 'release'])).out).toBe('the emergency stop is released\n');
  });

  it('console prints an address that opens once', async () => {
    const { url } = (await daJson(['console'])) as { url: string };
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(url)).status).toBe(401);
  });
});

describe('without a daemon', () => {
  const empty = mkdtempSync(join(tmpdir(), 'da-none-'));
  afterAll(() => rmSync(empty, { recursive: true }));

  it('every command that needs one ends with 3 and one line that says what to do', async () => {
    for (const line of [
      ['task', 'list'],
      ['estop'],
      ['events'],
      ['task', 'submit', 'x', '--wait'],
      ['map', 'show'],
    ]) {
      const ran = await run([...line, '--state-dir', empty]);
      expect(ran.code).toBe(3);
      expect(ran.err).toBe(
        `deviceagent: no daemon runs in this state directory (${empty}/api.sock); start one with \`deviceagent sim\` or \`deviceagent run --config FILE\`, or name another with --state-dir\n`,
      );
    }
    const ko = await run(['task', 'list', '--state-dir', empty], { lang: 'ko_KR.UTF-8' });
    expect(ko.err).toContain('실행 중인 데몬이 없어요');
  });

  it('takes the state directory from the environment', async () => {
    const ran = await run(['task', 'list'], { env: { DEVICEAGENT_STATE_DIR: served.dir } });
    expect(ran.code).toBe(0);
  });

  it('doctor looks at what it can', async () => {
    const ran = await run(['doctor', '--state-dir', empty]);
    expect(ran.code).toBe(1);
    expect(cells(ran.out).map((row) => row.slice(0, 2))).toContainEqual(['daemon', 'faulty']);
  });
});

describe('schema', () => {
  it('prints a document’s JSON Schema without a daemon, a method’s with one', async () => {
    const command = JSON.parse((await run(['schema', 'command.task'])).out) as object;
    expect(command).toMatchObject({ type: 'object', additionalProperties: false });
    expect((await run(['schema'])).out.split('\n')).toEqual(
      expect.arrayContaining(['workflow', 'device-task-event.v1', 'device_context.v1', 'config']),
    );
    const method = JSON.parse((await da(['schema', 'setMoveTo'])).out) as object;
    expect(method).toMatchObject({ title: 'setMoveTo', additionalProperties: false });
    const unknown = await da(['schema', 'nothing']);
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('there are: ')]);
  });
});

describe('config check', () => {
  const profile = (name: string) =>
    new URL(`../../../config/profiles/${name}.yaml`, import.meta.url).pathname;

  it('accepts the bundled profiles and says what they lack', async () => {
    expect(await run(['config', 'check', profile('sim')])).toMatchObject({
      code: 0,
      out: expect.stringContaining('is valid (profile sim, device da-sim)'),
    });
    const ros2 = await run(['config', 'check', profile('ros2')], { lang: 'ko_KR.UTF-8' });
    expect([ros2.code, ros2.out]).toEqual([0, expect.stringContaining('빠진 것:')]);
    expect(ros2.out).toContain('  fan: 설정하지 않았어요. 공기 청정을 할 수 없어요');
  });

  it('names every problem', async () => {
    const file = join(tmpdir(), `da-config-${process.pid}.yaml`);
    writeFileSync(file, 'version: 1\nprofile: sim\ndevice_id: "a b"\napi: {port: 99999}\n');
    const ran = await run(['config', 'check', file]);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain('device_id is "a b"');
    expect(ran.err).toContain('api.port is 99999');
    expect(JSON.parse((await run(['config', 'check', file, '--json'])).out)).toMatchObject({
      valid: false,
      problems: [expect.stringContaining('device_id'), expect.stringContaining('api.port')],
    });
    const korean = await run(['config', 'check', file], { lang: 'ko_KR.UTF-8' });
    expect(korean.err).toContain('api.port: 99999. 65535 이하여야 해요');
    rmSync(file);
  });
});

describe('failsafe', () => {
  it('prints a row for every condition, in the language of the terminal', async () => {
    const { out } = await run(['failsafe'], { lang: 'ko_KR.UTF-8', columns: 240 });
    const rows = cells(out);
    for (const level of ['CUT', 'SETTLE', 'OK']) expect(out).toMatch(new RegExp(`^${level} +[가-힣]`, 'm'));
    expect((await run(['failsafe'])).out).toContain('CUT     the drive is switched off at once');
    expect(rows).toHaveLength(14);
    expect(rows[1]).toEqual(['estop', 'CUT', 'CUT', '–', '사람이 해제', '비상 정지 상태입니다.']);
    const json = JSON.parse((await run(['failsafe', '--json'])).out) as { failsafe: object[] };
    expect(json.failsafe).toHaveLength(13);
  });
});

describe('replay', () => {
  const dir = mkdtempSync(join(tmpdir(), 'da-replay-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  /** The example in LDROBOT's development manual for the LD06/LD19. */
  const LD19_EXAMPLE =
    '54 2C 68 08 AB 7E E0 00 E4 DC 00 E2 D9 00 E5 D5 00 E3 D3 00 E4 D0 00 E9 CD 00 E4 CA 00 E2 C7 00 E9 C5 00 E5 C2 00 E5 C0 00 E5 BE 82 3A 1A 50';
  const capture = (name: string, content: string | Uint8Array) => {
    const file = join(dir, name);
    writeFileSync(file, content);
    return file;
  };

  it('tells the device from the bytes and prints what its driver decodes', async () => {
    const ran = await run(['replay', capture('ld19.txt', LD19_EXAMPLE)]);
    expect(ran.code).toBe(0);
    expect(ran.out).toContain('lidar_frame  frame (speed 2152');
    expect(ran.err).toBe('ld19: 47 bytes, 1 frames, 0 scans, 0 rejected, 0 bytes discarded\n');
  });

  it('prints JSON lines, also from raw bytes', async () => {
    const bytes = Uint8Array.from(LD19_EXAMPLE.split(' '), (byte) => Number.parseInt(byte, 16));
    const file = capture('ld19.bin', Uint8Array.from([0, 1, 2, ...bytes]));
    const lines = (await run(['replay', file, '--kind', 'ld19', '--json'])).out.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual([
      'lidar_frame',
      'discarded',
    ]);
  });

  it('says when there is nothing to decode', async () => {
    const ran = await run(['replay', capture('noise.txt', '00 01 02 03')]);
    expect([ran.code, ran.err]).toEqual([1, expect.stringContaining('name the device with --kind')]);
    expect((await run(['replay', capture('bad.txt', 'no hex')])).err).toContain('not hex: "no"');
    expect((await run(['replay', 'x', '--kind', 'gps'])).code).toBe(2);
  });
});

describe('map import and export', () => {
  const dir = mkdtempSync(join(tmpdir(), 'da-map-'));
  afterAll(() => rmSync(dir, { recursive: true }));

  /** 2 × 1 m, free, a wall on the left; one room. */
  async function writeMap(name: string): Promise<string> {
    const { saveMapBundle, mapBundle } = await import('../../../drivers/amr/map/bundle.js');
    const cells = new Int8Array(40 * 20);
    for (let row = 0; row < 20; row++) cells[row * 40] = 100;
    const grid = { width: 40, height: 20, resolution: 0.05, origin: { x: 0, y: 0, theta: 0 }, cells };
    const polygon = [
      { x: 0.1, y: 0 },
      { x: 2, y: 0 },
      { x: 2, y: 1 },
      { x: 0.1, y: 1 },
    ];
    const room = { id: '1', name: '거실', aliases: [], polygon, goal: { x: 1, y: 0.5, theta: 0 } };
    const file = join(dir, name);
    saveMapBundle(file, mapBundle(grid, { rooms: [room], station: null, keepout: [], speedAreas: [] }));
    return file;
  }

  it('import checks the map here and hands its absolute path to the daemon', async () => {
    const file = await writeMap('home.yaml');
    if (served.runtime.robot !== null) served.runtime.robot.stoppedSince = 0;
    expect((await da(['map', 'import', file])).out).toBe('map taken over: 거실\n');
    expect(served.runtime.mapFileInUse).toBe(file);
    const missing = await da(['map', 'import', join(dir, 'none.yaml')]);
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('none.yaml')]);
  });

  it('import proposes rooms for a map without areas.yaml, changes none of its files, and takes it bare when told so', async () => {
    const { loadMapBundle } = await import('../../../drivers/amr/map/bundle.js');
    const file = await writeMap('bare.yaml');
    rmSync(join(dir, 'areas.yaml'));
    if (served.runtime.robot !== null) served.runtime.robot.stoppedSince = 0;
    let taken: ReturnType<typeof loadMapBundle> | null = null;
    const take = served.runtime.importMap.bind(served.runtime);
    served.runtime.importMap = async (path) => {
      taken = loadMapBundle(path);
      await take(path);
    };
    const ran = await da(['map', 'import', file]);
    expect(ran).toMatchObject({ code: 0, out: 'map taken over: 방 1\n' });
    expect(ran.err).toContain('rooms proposed: 1. Name, merge and split them with setAreas');
    expect(ran.err).toContain('the map has no station: the robot cannot dock');
    expect(taken).toMatchObject({ areas: { rooms: [{ id: '1', name: '방 1', aliases: ['room 1'] }] } });
    expect(readdirSync(dir)).not.toContain('areas.yaml');
    // What the daemon was shown is gone from its folder.
    expect(readdirSync(served.dir).filter((name) => name.startsWith('import-'))).toEqual([]);
    const bare = await da(['map', 'import', file, '--no-rooms', '--json']);
    expect(JSON.parse(bare.out)).toMatchObject({ rooms: 0, rooms_proposed: 0 });
    expect(served.runtime.mapFileInUse).toBe(file);
  });

  it('import refuses rooms that overlap, cross themselves, or have their goal off the map, in one line', async () => {
    const file = await writeMap('home.yaml');
    const areas = join(dir, 'areas.yaml');
    const good = readFileSync(areas, 'utf8');
    const second = good.replace('id: "1"', 'id: "2"').replace('거실', '안방');
    const line = (text: string) => text.split('\n').find((one) => one.includes('polygon')) ?? '';
    writeFileSync(areas, good.replace(line(good), `${line(good)}\n${line(second)}`));
    expect(await da(['map', 'import', file])).toMatchObject({
      code: 1,
      err: `deviceagent: ${areas}: rooms.1.polygon: room "안방" (id "2") lies on 1.9 m² of room "거실" (id "1"); rooms must not overlap\n`,
    });
    writeFileSync(
      areas,
      good
        .replace('[0.1, 0], [2, 0], [2, 1], [0.1, 1]', '[0.1, 0], [2, 1], [2, 0.2], [0.1, 1]')
        .replace('goal: [1, 0.5', 'goal: [0.3, 0.5'),
    );
    expect((await da(['map', 'import', file])).err).toContain('crosses or touches itself at [');
    writeFileSync(areas, good.replaceAll('[2, ', '[9, ').replace('goal: [1,', 'goal: [8,'));
    expect((await da(['map', 'import', file])).err).toContain(
      'rooms.0.goal: found [8, 0.5]; it must lie on the map',
    );
    expect(served.runtime.mapFileInUse).not.toBe(file);
  });

  it('export writes the bundle in use, and refuses a file that has changed since', async () => {
    const { loadMapBundle } = await import('../../../drivers/amr/map/bundle.js');
    const file = await writeMap('home.yaml');
    served.runtime.mapFileInUse = file;
    const out = join(dir, 'out');
    const changed = await da(['map', 'export', out]);
    expect([changed.code, changed.err]).toEqual([1, expect.stringContaining('differs from the map in use')]);
    if (served.runtime.mapView !== null) served.runtime.mapView.id = loadMapBundle(file).id;
    expect((await da(['map', 'export', out])).code).toBe(0);
    expect(loadMapBundle(join(out, 'map.yaml')).id).toBe(loadMapBundle(file).id);
    expect(statSync(join(out, 'map.pgm')).size).toBeGreaterThan(40 * 20);
  });
});

describe('schedule', () => {
  const body = {
    schedule: { schedule_id: 's-1', cron: '0 8 * * *', timezone: 'Asia/Seoul' },
    method: 'setMoveTo',
    params: { positionName: '거실' },
  };

  it('add passes the document on, from standard input too', async () => {
    const ran = await da(['schedule', 'add', '-', '--key', 'k1'], { stdin: JSON.stringify(body) });
    expect([ran.code, ran.err]).toEqual([0, '']);
    expect(ran.out).toMatch(/^scheduled: /);
    expect(served.runtime.handled[0]?.raw).toMatchObject({
      kind: 'schedule_task',
      command_id: 'api:k1',
      ...body,
    });
    const workflow = { schedule: body.schedule, workflow: DOCUMENT };
    expect((await da(['schedule', 'add', '-'], { stdin: JSON.stringify(workflow) })).code).toBe(0);
    expect(served.runtime.handled[1]?.raw).toMatchObject({ kind: 'schedule_workflow', workflow: DOCUMENT });
  });

  it('list shows the next run, the last one and what blocks', async () => {
    expect((await da(['schedule', 'list'], { lang: 'ko_KR.UTF-8' })).out).toBe('예약이 없어요\n');
    served.runtime.scheduleRecords = [sampleSchedule()];
    const [head, row] = cells((await da(['schedule', 'list'])).out);
    expect(head).toEqual(['id', 'state', 'when', 'does', 'next run', 'last run', 'blocked by']);
    expect(row?.slice(0, 5)).toEqual([
      's-1',
      'ACTIVE',
      '0 8 * * * Asia/Seoul',
      '아침 청정',
      '2026-12-01T08:00:00.000+09:00',
    ]);
    expect(row?.[5]).toMatch(/^COMPLETED /);
    expect(await daJson(['schedule', 'list'])).toMatchObject({
      schedules: [{ schedule_id: 's-1', last_run: { state: 'COMPLETED' } }],
    });
    expect((await da(['schedule', 'show', 's-1'])).out).toContain('schedule_id: s-1');
    expect((await da(['schedule', 'show', 's-9'])).code).toBe(1);
  });

  it('pause, resume and remove name the schedule', async () => {
    for (const verb of ['pause', 'resume', 'remove'])
      expect((await da(['schedule', verb, 's-1'])).code).toBe(0);
    expect(served.runtime.handled.map(({ raw }) => raw)).toMatchObject([
      { kind: 'control', method: 'pauseSchedule', params: { schedule_id: 's-1' } },
      { kind: 'control', method: 'resumeSchedule', params: { schedule_id: 's-1' } },
      { kind: 'control', method: 'removeSchedule', params: { schedule_id: 's-1' } },
    ]);
  });
});

describe('help', () => {
  it('is in the language of the terminal and names only what there is', async () => {
    const ko = await run(['--help'], { lang: 'ko_KR.UTF-8' });
    expect(ko.code).toBe(0);
    expect(ko.out).toContain('집 로봇의 데몬을 실행하고 다루는 명령');
    for (const absent of ['say', 'filing', 'guardian', 'proactive']) {
      expect(ko.out).not.toMatch(new RegExp(`^  ${absent}\\b`, 'm'));
    }
    expect((await run(['task', 'submit', '--help'])).out).toContain('--wait');
    expect((await run(['sim', 'inject', '--help'])).out).toContain('dirty-air');
  });

  it('--version is the package’s', async () => {
    expect((await run(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

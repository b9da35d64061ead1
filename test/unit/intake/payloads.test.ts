import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { repeatedKey } from '../../../daemon/intake/repeated-key.js';
import { scanPayload } from '../../../daemon/intake/scan.js';
import { envelope, IntakeHarness, LOCAL, move } from './harness.js';

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('payloads that are no command', () => {
  let h: IntakeHarness;
  beforeEach(() => {
    h = new IntakeHarness();
  });
  afterEach(() => h.dispose());

  it('ignores an empty payload', () => {
    expect(h.bytes('')).toBeNull();
  });

  it.each([
    ['no JSON', 'hello', 'MALFORMED'],
    ['cut off', '{"command_id":"c', 'MALFORMED'],
    ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), 'MALFORMED'],
    ['a byte order mark', Buffer.from('\ufeff{}'), 'MALFORMED'],
    ['an array', '[]', 'MALFORMED'],
    ['null', 'null', 'MALFORMED'],
    ['NaN', '{"command_id":NaN}', 'MALFORMED'],
    ['nested too deep', `{"command_id":"c-deep","params":${nested(32)}}`, 'MALFORMED'],
    ['nested a million deep', nested(100_000), 'MALFORMED'],
    ['over 256 KiB', JSON.stringify(move({ params: { x: 'x'.repeat(256 * 1024) } })), 'PAYLOAD_TOO_LARGE'],
    ['1 MiB', Buffer.alloc(1024 * 1024, 'x'), 'PAYLOAD_TOO_LARGE'],
  ])('answers %s once, without an id', async (_name, payload, reason) => {
    const response = h.send(payload);
    expect(response).toMatchObject({ command_id: null, status: 'rejected', reason_code: reason });
    expect(response.message?.length).toBeLessThan(200);
    expect(await h.answers()).toHaveLength(1);
    expect(h.tasks.submitted).toEqual([]);
  });

  it('takes what is just within the limits', () => {
    const deep = move({ params: { x: JSON.parse(nested(30)) } });
    expect(h.send(deep)).toMatchObject({ status: 'accepted' });
  });

  it('refuses text that is no Unicode, as it has no canonical form', () => {
    const response = h.send(JSON.stringify(move()).replace('거실', '\\ud800'));
    expect(response).toMatchObject({ status: 'rejected', reason_code: 'MALFORMED' });
    expect(response.message).toContain('params.positionName: found text that is not Unicode');
  });

  it('refuses a key that stands twice, at any depth, under the id it was sent with', () => {
    const text = JSON.stringify(move());
    const twice = {
      method: text.replace('"method":', '"method":"syncState","method":'),
      'params.positionName': text.replace('"params":{', '"params":{"positionName":"안방",'),
      'params.x.1.b': JSON.stringify(move({ params: { x: [{ b: 1 }, { a: '"b":{' }] } })).replace(
        '{"a":',
        '{"\\u0062":1,"b":2,"a":',
      ),
    };
    for (const [path, payload] of Object.entries(twice)) {
      const response = h.send(payload);
      expect(response).toMatchObject({ status: 'rejected', reason_code: 'MALFORMED' });
      expect(response.command_id).toBe(JSON.parse(payload).command_id);
      expect(response.message).toContain(`"${path}": found twice`);
    }
    expect(h.tasks.submitted).toEqual([]);
  });

  it('finds no key twice where none stands twice', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 2), (value, space) => {
        expect(repeatedKey(JSON.stringify(value, null, space))).toBeNull();
      }),
    );
  });

  it('names the field of a number too large to read', () => {
    const response = h.send(JSON.stringify(move({ params: { x: [0, 7] } })).replace('7]', '1e999]'));
    expect(response).toMatchObject({ status: 'rejected', reason_code: 'MALFORMED' });
    expect(response.message).toContain('params.x.1');
  });

  it('judges the depth of values that another channel parsed', () => {
    const raw = move({ params: { x: JSON.parse(nested(40)) } });
    expect(h.intake.handle(raw, LOCAL)).toMatchObject({ reason_code: 'MALFORMED' });
    expect(h.intake.handle([], LOCAL)).toMatchObject({ reason_code: 'MALFORMED' });
  });

  it('survives any bytes: one answer each, nothing moves, nothing thrown', () => {
    const mutated = fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 8 })).map(([at, bytes]) => {
      const text = Buffer.from(JSON.stringify(move({ method: 'stopMov' })));
      text.set(bytes, at % (text.length - bytes.length));
      return text;
    });
    const any = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      fc.json().map((text) => Buffer.from(text)),
      mutated,
    );
    fc.assert(
      fc.property(any, (bytes) => {
        expect(h.send(bytes)).toMatchObject({ status: 'rejected', reason_code: expect.any(String) });
      }),
      { numRuns: 500 },
    );
    expect(h.tasks.submitted).toEqual([]);
    expect(h.intake.counters().intake_rejected_internal_error_total).toBeUndefined();
  });

  it('survives any JSON in the place of any field of a valid command', () => {
    const base = move({ task: { priority: 5 } });
    const field = fc.constantFrom(...Object.keys(base));
    fc.assert(
      fc.property(field, fc.jsonValue(), (name, value) => {
        const command = { ...move({ task: { priority: 5 } }), [name]: value };
        expect(h.send(command).status).toMatch(/accepted|rejected/);
      }),
      { numRuns: 500 },
    );
    expect(h.intake.counters().intake_rejected_internal_error_total).toBeUndefined();
  });

  describe('a retained command', () => {
    it('is refused', () => {
      expect(h.send(move(), { retained: true })).toMatchObject({
        status: 'rejected',
        reason_code: 'POLICY_DENIED',
        message: expect.stringContaining('retained'),
      });
      expect(h.tasks.submitted).toEqual([]);
    });

    it('that was carried out when it came live is answered as what it is: a repetition', () => {
      const command = move();
      const first = h.send(command);
      expect(h.send(command, { retained: true })).toEqual({ ...first, duplicate: true });
    });

    it('does not take the id away from the same command sent properly', () => {
      const command = move();
      h.send(command, { retained: true });
      expect(h.send(command)).toMatchObject({ status: 'accepted', duplicate: false });
    });
  });
});

describe('the scan of a payload', () => {
  it('sees what a parser would see of kind, method and depth', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.string(),
        fc.string(),
        fc.integer({ min: 0, max: 3 }),
        (value, kind, method, indent) => {
          const body = { a: value, kind, b: [value], method, c: { method: 'inner', kind: 'inner' } };
          const scan = scanPayload(Buffer.from(JSON.stringify(body, null, indent)));
          expect(scan.depth).toBe(depthOf(body));
          if (kind.length < 30) expect(scan.kind).toBe(kind);
          if (method.length < 30) expect(scan.method).toBe(method);
        },
      ),
    );
  });

  it('reads escaped words, and finds nothing in values that only look like them', () => {
    expect(scanPayload(Buffer.from('{"\\u006bind":"\\u0063ontrol"}')).kind).toBe('control');
    expect(scanPayload(Buffer.from('{"x":"\\"method\\":\\"emergencyStop\\""}')).method).toBeNull();
    expect(scanPayload(Buffer.from('["method","emergencyStop"]')).method).toBeNull();
  });

  it('never loops or throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        scanPayload(bytes);
      }),
    );
  });
});

describe('the emergency stop', () => {
  let h: IntakeHarness;
  beforeEach(() => {
    h = new IntakeHarness();
  });
  afterEach(() => h.dispose());

  const stop = (fields: Record<string, unknown> = {}) =>
    envelope({ kind: 'control', method: 'emergencyStop', ...fields });

  it('acts and is accepted', () => {
    expect(h.send(stop())).toMatchObject({ status: 'accepted', reason_code: null });
    expect(h.stops).toEqual(['mqtt']);
  });

  it('acts every time, and a repetition is reported as one', () => {
    const command = stop();
    h.send(command);
    expect(h.send(command)).toMatchObject({ status: 'accepted', duplicate: true });
    expect(h.stops).toHaveLength(2);
  });

  it.each([
    ['a reused id', () => ({ ...stop(), command_id: 'c-used' }), 'COMMAND_ID_REUSED'],
    ['unknown fields', () => stop({ colour: 'red' }), 'INVALID_PARAMS'],
    ['a source', () => stop({ source: 'LOCAL' }), 'POLICY_DENIED'],
    ['no command_id', () => ({ kind: 'control', method: 'emergencyStop' }), 'INVALID_PARAMS'],
    ['the wrong kind', () => stop({ kind: 'task' }), 'UNKNOWN_METHOD'],
    ['a kind that is not built', () => stop({ kind: 'experience' }), 'UNKNOWN_METHOD'],
    [
      'too deep a payload',
      () => `{"kind":"control","method":"emergencyStop","x":${nested(40)}}`,
      'MALFORMED',
    ],
    ['a payload cut off', () => '{"kind":"control","method":"emergencyStop","x":', 'MALFORMED'],
    ['a payload over the limit', () => JSON.stringify(stop({ x: 'x'.repeat(300_000) })), 'PAYLOAD_TOO_LARGE'],
  ])('acts first and reports %s afterwards', (_name, payload, reason) => {
    h.send({ ...move(), command_id: 'c-used' });
    expect(h.send(payload())).toMatchObject({
      status: 'rejected',
      reason_code: reason,
      message: expect.stringContaining('The emergency stop was carried out'),
    });
    expect(h.stops).toHaveLength(1);
  });

  it('acts with a bad time stamp, on an untrusted clock, retained, and from everybody', () => {
    h.clockTrusted = false;
    expect(h.send(stop({ issued_at: 'x' }))).toMatchObject({ status: 'accepted' });
    expect(h.send(stop(), { retained: true })).toMatchObject({
      status: 'rejected',
      reason_code: 'POLICY_DENIED',
    });
    expect(h.intake.handle(stop(), LOCAL)).toMatchObject({ status: 'accepted' });
    expect(h.stops).toEqual(['mqtt', 'mqtt', 'unix-socket']);
  });

  it('acts even when nothing can be stored', () => {
    h.store.close();
    expect(() => h.send(stop())).toThrow();
    expect(h.stops).toEqual(['mqtt']);
    h.restart();
  });
});

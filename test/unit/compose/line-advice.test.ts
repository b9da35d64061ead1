import { describe, expect, it } from 'vitest';
import type { LineFinding } from '../../../config/contracts/amr.js';
import { type LineInQuestion, lineAdvice } from '../../../daemon/compose/line-advice.js';
import { heardIn } from '../../../drivers/serial/line-finding.js';
import { encodeLd19Frame } from '../../../simulator/devices/ld19.js';

const PORT = { kind: 'serial', path: '/dev/ttyUSB7', baud_rate: 115_200 } as const;
const advice = (finding: Partial<LineFinding>, more: Partial<LineInQuestion> = {}) =>
  lineAdvice({
    key: 'lidar',
    chip: 'ld19',
    port: PORT,
    finding: { heard: 'nothing', reason: '', ...finding },
    byId: [],
    ...more,
  });

const frame = encodeLd19Frame({
  speed: 3600,
  startAngle: 100,
  endAngle: 980,
  timestamp: 5,
  points: Array.from({ length: 12 }, () => ({ distance: 1000, intensity: 200 })),
});

describe('what is heard on a line', () => {
  it('is nothing, bytes without a frame, or the device whose frames they are', () => {
    expect(heardIn(new Uint8Array(0))).toBe('nothing');
    expect(heardIn(Uint8Array.from({ length: 200 }, (_, i) => (i * 37) & 0xff))).toBe('garbled');
    expect(heardIn(Uint8Array.from([...frame, ...frame, ...frame]))).toBe('ld19');
  });
});

describe('the advice for a line', () => {
  it.each<[string, ReturnType<typeof advice>, RegExp]>([
    [
      'a wrong baud rate, when it was found',
      advice({ heard: 'garbled' }, { otherBaud: 230_400 }),
      /heard at 230400; set lidar.port.baud_rate/,
    ],
    [
      'a baud rate that is not the chip’s',
      advice({ heard: 'garbled' }),
      /set to 115200 baud, and LD19 speaks 230400/,
    ],
    [
      'bytes without a frame at the right rate',
      advice({ heard: 'garbled' }, { port: { ...PORT, baud_rate: 230_400 } }),
      /ground wire/,
    ],
    [
      'another device on the port',
      advice({ heard: 'create2' }),
      /the base \(Create 2\) is on .*swap the two ports/,
    ],
    ['silence of a device that talks by itself', advice({}), /its TX go to the adapter's RX/],
    [
      'silence of a device that is asked',
      advice({}, { key: 'base', chip: 'create2' }),
      /TX and RX are crossed/,
    ],
    [
      'a missing device, with what is plugged in',
      advice(
        { reason: '/dev/ttyUSB7: no such device' },
        { byId: [{ name: 'usb-FTDI_x', device: '/dev/ttyUSB0' }] },
      ),
      /plugged in are: \/dev\/serial\/by-id\/usb-FTDI_x \(\/dev\/ttyUSB0\)/,
    ],
    [
      'nothing plugged in at all',
      advice({ reason: '/dev/ttyUSB7: no such device' }),
      /no serial device at all/,
    ],
    ['no permission', advice({ reason: '/dev/ttyUSB7: permission denied' }), /usermod -aG dialout/],
    ['a port that is taken', advice({ reason: '/dev/ttyUSB7: in use by another process' }), /fuser/],
  ])('for %s', (_, words, says) => {
    expect(words.en).toMatch(says);
    expect(words.ko).toMatch(/[가-힣]/);
  });
});

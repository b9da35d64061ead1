import { describe, expect, it } from 'vitest';
import { DriveRecord } from '../../../simulator/session/drive-record.js';

describe('what the base was told about its wheels', () => {
  let wall = 1000;
  const record = new DriveRecord(() => wall);
  const told = (what: string, values: number[] = []) => record.note({ tick: 1, timeMs: 15, what, values });

  it('says when it was taken in, and before when it cannot have been sent', () => {
    wall = 1010;
    record.stepBegins();
    wall = 1025;
    record.stepBegins();
    wall = 1027;
    told('drive_direct', [200, 200]);
    expect(record.since(0)).toEqual([
      { tick: 1, world_ms: 15, wall: 1027, earliest_wall: 1010, what: 'drive_direct', moving: true },
    ]);
  });

  it('tells speeds from standing still, and modes that end every motion', () => {
    wall = 2000;
    told('drive_direct', [0, 0]);
    told('drive', [0, 500]);
    told('drive', [100, 500]);
    told('drive_pwm', [0, -10]);
    told('start');
    expect(record.since(2000).map(({ moving }) => moving)).toEqual([true, false, false, true, true, false]);
  });

  it('leaves out what does not concern the wheels', () => {
    wall = 3000;
    told('query_list', [1]);
    told('leds', [0, 0, 0]);
    expect(record.since(3000)).toHaveLength(1);
  });

  it('answers with the command before as well, which still held at that time', () => {
    wall = 4000;
    told('drive_direct', [10, 10]);
    expect(record.since(3500).map(({ what }) => what)).toEqual(['start', 'drive_direct']);
    expect(record.since(9000).map(({ what }) => what)).toEqual(['drive_direct']);
  });
});

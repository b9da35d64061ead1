import { describe, expect, it } from 'vitest';
import { modbusCrc, modbusFrame } from '../../../simulator/devices/modbus-fan.js';
import { encodeZphs01bAnswer, zphs01bChecksum } from '../../../simulator/devices/zphs01b.js';
import { createWorld } from '../../../simulator/world/index.js';
import { type Host, hostOn, type Rig, rigOf, run, squareWorld } from './homes.js';

const QUERY = [0xff, 0x01, 0x86, 0, 0, 0, 0, 0, 0x79];

function hex(text: string): number[] {
  return text.split(' ').map((h) => Number.parseInt(h, 16));
}

describe('the ZPHS01B', () => {
  it('is asked with a query whose checksum is that of its own answers', () => {
    expect(zphs01bChecksum(Uint8Array.from(QUERY))).toBe(0x79);
  });

  it('lays out its answer as the manual does', () => {
    const bytes = encodeZphs01bAnswer({
      pm1_0: 0x85,
      pm2_5: 0x96,
      pm10: 0x65,
      co2: 0x1f4,
      voc: 1,
      temperature: 26.1,
      humidity: 68,
      hcho: 0.012,
      co: 0.5,
      o3: 0.02,
      no2: 0.01,
    });
    expect([...bytes.subarray(0, 25)]).toEqual(
      hex('FF 86 00 85 00 96 00 65 01 F4 01 02 B8 00 44 00 0C 00 05 00 02 00 01 00 00'),
    );
    expect([...bytes].slice(1).reduce((a, b) => a + b, 0) & 0xff).toBe(0);
  });

  async function ask(rig: Rig, host: Host): Promise<number[]> {
    host.received.length = 0;
    host.write(...QUERY);
    run(rig.world, 90);
    return [...host.received];
  }
  const at = (answer: number[], offset: number) => (answer[offset] ?? 0) * 256 + (answer[offset + 1] ?? 0);

  it('answers a query within 90 ms with the air of the room the robot stands in', async () => {
    const rig = rigOf(createWorld());
    const host = await hostOn(rig, 'air');
    run(rig.world, 30_000);
    const living = await ask(rig, host);
    expect(living).toHaveLength(26);
    expect(Math.abs(at(living, 4) - 11)).toBeLessThan(4);
    expect(Math.abs(at(living, 8) - 612)).toBeLessThan(40);
    expect((at(living, 11) - 435) / 10).toBeCloseTo(23, 0);
    rig.world.place({ x: 2.6, y: 4.3, theta: 0 });
    run(rig.world, 20_000);
    const bedroom = await ask(rig, host);
    expect(at(bedroom, 4)).toBeGreaterThan(15);
    expect(rig.devices.air.received.filter((r) => r.what === 'query')).toHaveLength(2);
  });

  it('says nothing unasked, and nothing to a damaged query', async () => {
    const rig = rigOf(createWorld());
    const host = await hostOn(rig, 'air');
    run(rig.world, 5000);
    expect(host.received).toEqual([]);
    host.write(0xff, 0x01, 0x86, 0, 0, 0, 0, 1, 0x79);
    run(rig.world, 200);
    expect(host.received).toEqual([]);
    host.write(0x00, 0xff);
    expect(await ask(rig, host)).toHaveLength(26);
  });

  it('takes at least the 27 ms that 26 bytes need at 9600 baud', async () => {
    const rig = rigOf(createWorld());
    const host = await hostOn(rig, 'air');
    run(rig.world, 3000);
    host.write(...QUERY);
    let first = 0;
    let steps = 0;
    while (host.received.length < 26 && steps < 100) {
      rig.world.step(5);
      steps += 1;
      if (host.received.length > 0 && first === 0) first = steps;
    }
    expect((steps - first + 1) * 5).toBeGreaterThanOrEqual(27);
  });

  it('starts cold and silent after its plug was pulled', async () => {
    const rig = rigOf(createWorld());
    await hostOn(rig, 'air');
    run(rig.world, 20_000);
    rig.devices.air.unplug();
    rig.devices.air.plug();
    const host = await hostOn(rig, 'air');
    expect(await ask(rig, host)).toEqual([]);
    run(rig.world, 2000);
    const cold = await ask(rig, host);
    expect(at(cold, 4)).toBeLessThan(9);
    run(rig.world, 20_000);
    expect(Math.abs(at(await ask(rig, host), 4) - 11)).toBeLessThan(4);
  });
});

describe('the Modbus fan', () => {
  async function fan() {
    const rig = rigOf(squareWorld([2, 2, 0]));
    const host = await hostOn(rig, 'fan');
    const exchange = (...body: number[]) => {
      host.received.length = 0;
      host.write(...modbusFrame(body));
      run(rig.world, 60);
      return [...host.received];
    };
    return { rig, host, exchange };
  }

  it('uses CRC-16/MODBUS, low byte first', () => {
    // The check value of CRC-16/MODBUS in the CRC catalogues, over "123456789".
    expect(modbusCrc([...'123456789'].map((c) => c.charCodeAt(0)))).toBe(0x4b37);
    // A request printed in many manuals: unit 1, function 3, register 0, one register.
    expect([...modbusFrame([1, 3, 0, 0, 0, 1])]).toEqual(hex('01 03 00 00 00 01 84 0A'));
  });

  it('takes its set-point by function 6, echoes it, and turns', async () => {
    const { rig, exchange } = await fan();
    expect(exchange(1, 6, 0, 1, 0x02, 0x58)).toEqual([...modbusFrame([1, 6, 0, 1, 0x02, 0x58])]);
    expect(rig.world.fan.setPointPercent).toBe(60);
    run(rig.world, 10_000);
    const [unit, code, count, high = 0, low = 0] = exchange(1, 4, 0, 1, 0, 1);
    expect([unit, code, count]).toEqual([1, 4, 2]);
    expect(high * 256 + low).toBeCloseTo(1440, -1);
    expect(rig.devices.fan.last('write_register')).toMatchObject({ values: [1, 600] });
  });

  it('takes its set-point by function 16 and gives it back by function 3', async () => {
    const { exchange } = await fan();
    expect(exchange(1, 16, 0, 1, 0, 1, 2, 0x01, 0xf4)).toEqual([...modbusFrame([1, 16, 0, 1, 0, 1])]);
    expect(exchange(1, 3, 0, 1, 0, 1)).toEqual([...modbusFrame([1, 3, 2, 0x01, 0xf4])]);
  });

  it('answers what it cannot do with the exceptions of the specification', async () => {
    const { rig, exchange } = await fan();
    expect(exchange(1, 1, 0, 0, 0, 1)).toEqual([...modbusFrame([1, 0x81, 1])]);
    expect(exchange(1, 3, 0, 9, 0, 1)).toEqual([...modbusFrame([1, 0x83, 2])]);
    expect(exchange(1, 4, 0, 1, 0, 0)).toEqual([...modbusFrame([1, 0x84, 3])]);
    expect(exchange(1, 6, 0, 1, 0x03, 0xe9)).toEqual([...modbusFrame([1, 0x86, 3])]);
    expect(exchange(1, 16, 0, 1, 0, 2, 4, 0, 0, 0, 0)).toEqual([...modbusFrame([1, 0x90, 2])]);
    expect(rig.world.fan.setPointPercent).toBe(0);
  });

  it('reports a fault while its rotor is held', async () => {
    const { rig, exchange } = await fan();
    expect(exchange(1, 4, 0, 2, 0, 1)).toEqual([...modbusFrame([1, 4, 2, 0, 0])]);
    rig.world.fan.blocked = true;
    expect(exchange(1, 4, 0, 2, 0, 1)).toEqual([...modbusFrame([1, 4, 2, 0, 1])]);
  });

  it('says nothing to other units, to a wrong CRC, to a broadcast, or to half a request', async () => {
    const { rig, host, exchange } = await fan();
    expect(exchange(2, 3, 0, 1, 0, 1)).toEqual([]);
    host.write(1, 3, 0, 1, 0, 1, 0, 0);
    run(rig.world, 60);
    expect(host.received).toEqual([]);
    expect(exchange(0, 6, 0, 1, 0, 100)).toEqual([]);
    expect(rig.world.fan.setPointPercent).toBe(10);
    host.write(1, 3, 0);
    run(rig.world, 60);
    expect(exchange(1, 3, 0, 1, 0, 1)).toHaveLength(7);
  });

  it('goes on turning when its line is pulled', async () => {
    const { rig, exchange } = await fan();
    exchange(1, 6, 0, 1, 0x01, 0xf4);
    run(rig.world, 8000);
    rig.devices.fan.unplug();
    run(rig.world, 8000);
    expect(rig.world.fan.rpm).toBeCloseTo(1200, -1);
  });
});

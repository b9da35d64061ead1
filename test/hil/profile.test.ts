/** What a profile says of a part is what the robot does with it. */
import { describe, expect, it } from 'vitest';
import type { BASE_BUTTONS, Config } from '../../config/schema.js';
import { Create2Device } from '../../simulator/devices/create2.js';
import { contextOf, inHome } from './support/in-home.js';

const profileWith = (edit: (config: Config) => Partial<Config>) => ({
  editConfig: (config: Config) => ({ ...config, ...edit(config) }),
});

describe('base.estop_buttons', () => {
  const buttons = (...names: (typeof BASE_BUTTONS)[number][]) =>
    profileWith(({ base }) => ({
      base: base?.driver === 'create2' ? { ...base, estop_buttons: names } : base,
    }));

  it('leaves the other buttons of the base alone', () =>
    inHome(buttons('spot'), async ({ home }) => {
      await home.inject('estop');
      await home.run(2000);
      expect((await contextOf(home)).main_state).not.toBe('emergency_stop');
      const { base } = home.session.devices;
      if (!(base instanceof Create2Device)) throw new Error('the home has another base');
      base.press('spot', 500);
      await home.run(2000);
      expect((await contextOf(home)).main_state).toBe('emergency_stop');
    }));
});

describe('air_sensor.temperature_offset', () => {
  it('is taken off what the module says', () =>
    inHome(
      profileWith(({ air_sensor }) => ({
        air_sensor: air_sensor && { ...air_sensor, temperature_offset: 500 },
      })),
      async ({ home }) => {
        await home.run(15_000);
        const { air_quality: air } = await contextOf(home);
        const degrees = air?.temperature ?? Number.NaN;
        // The home has 22 to 23 °C; the module was taken for one of the 500 edition.
        expect(degrees).toBeGreaterThan(22 - 6.5);
        expect(degrees).toBeLessThan(23.5 - 6.5);
      },
    ));
});

describe('air_grades', () => {
  it('decide what is called good', () =>
    inHome(
      profileWith(() => ({
        air_grades: { pm2_5: [0.1, 0.2, 0.3], pm10: [30, 80, 150], co2: [1000, 1500, 2000] },
      })),
      async ({ home }) => {
        await home.run(15_000);
        expect((await contextOf(home)).air_quality?.grade).toBe('very_bad');
      },
    ));
});

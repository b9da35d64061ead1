/** What a back end cannot do is refused before anything moves. */
import { expect, it } from 'vitest';
import { onboardAbilities } from '../../../drivers/rt/abilities.js';
import { testRobot } from '../../support/services.js';

it.each([
  ['manualMove', { v: 0.1, w: 0 }, 'manualDrive'],
  ['startFollowMe', {}, 'follow'],
] as const)(
  '%s is refused CAPABILITY_UNAVAILABLE where the back end cannot do it',
  (method, params, ability) => {
    const robot = testRobot({ pose: { x: 2, y: 0, theta: 0 } });
    const all = onboardAbilities(true);
    robot.amr.abilities = () => ({ ...all, [ability]: false });
    expect(() => robot.start(method, params)).toThrow(
      expect.objectContaining({ reason: 'CAPABILITY_UNAVAILABLE' }),
    );
  },
);

import { describe, expect, it } from 'vitest';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { onboardAbilities } from '../../../drivers/rt/abilities.js';
import { requireAbility } from '../../../executors/abilities.js';
import { FakeAmr } from '../../support/fake-amr.js';

describe('what a back end cannot do', () => {
  const amr = new FakeAmr(new SimClock(0));

  it('is refused CAPABILITY_UNAVAILABLE, with what can be done instead', () => {
    amr.can = { ...onboardAbilities(true), mapping: false };
    expect(() => requireAbility(amr, 'mapping')).toThrowError(
      expect.objectContaining({
        reason: 'CAPABILITY_UNAVAILABLE',
        message: expect.stringContaining('import the map'),
      }),
    );
    expect(() => requireAbility(amr, 'follow')).not.toThrow();
  });

  it('is not known before the motion process has said it', () => {
    amr.can = null;
    expect(() => requireAbility(amr, 'follow')).toThrowError(
      expect.objectContaining({ reason: 'HARDWARE_FAULT' }),
    );
  });

  it('is everything that needs eyes, on board without a lidar', () => {
    expect(onboardAbilities(false)).toMatchObject({
      mapping: false,
      follow: false,
      relocalizeAnywhere: false,
      manualDrive: true,
    });
  });
});

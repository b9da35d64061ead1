import { expect, it } from 'vitest';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { tolerantSnapshots } from '../../../state-machines/tolerant-snapshots.js';

it('a snapshot that cannot be stored is told, and stops nobody who only listened', () => {
  const told: object[] = [];
  const full = {
    loadSnapshot: () => null,
    saveSnapshot: () => {
      throw new Error('the disk is full');
    },
  };
  const kept = tolerantSnapshots(full, { ...SILENT_LOG, error: (fields) => void told.push(fields) });
  expect(() => kept.saveSnapshot('home-keeper', { value: 0, context: {}, savedAt: 1 })).not.toThrow();
  expect(told).toEqual([{ key: 'home-keeper', error: 'the disk is full' }]);
});

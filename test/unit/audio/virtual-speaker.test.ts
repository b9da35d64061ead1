import { expect, it } from 'vitest';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { VirtualSpeaker } from '../../../drivers/audio/virtual-speaker.js';

it('a late call under an old token neither speaks nor cuts off who speaks, and is counted', async () => {
  const clock = new SimClock(0);
  const speaker = new VirtualSpeaker(clock);
  const now = speaker.speak({ text: '거실로 갈게요', language: 'ko' }, 5);
  await expect(speaker.speak({ text: '늦은 말', language: 'ko' }, 4)).rejects.toMatchObject({
    reason: 'RESOURCE_BUSY',
    message: expect.stringContaining('older than 5'),
  });
  expect(speaker.speaking).toBe(true);
  expect(speaker.said.map(({ utterance }) => utterance.text)).toEqual(['거실로 갈게요']);
  expect(speaker.counters()).toEqual({ stale_fences: 1 });
  await clock.advanceAsync(60_000);
  expect(await now).toMatchObject({ outcome: 'completed' });
});

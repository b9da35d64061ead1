import { describe, expect, it } from 'vitest';
import { type ArrivedCommand, CommandInbox } from '../../../daemon/cloud/command-inbox.js';

const arrived = (packetId: number): ArrivedCommand => ({
  payload: Buffer.from(`{"n":${packetId}}`),
  meta: { retained: false, stopActed: false },
  packetId,
});

describe('commands that arrive together', () => {
  it('are all read before the first is taken, so that a stop among them is seen at once; then taken in order', async () => {
    const story: string[] = [];
    const over = new Promise<void>((resolve) => {
      const inbox = new CommandInbox({
        clock: { mono: () => 0 },
        take: async (payload) => {
          story.push(`take ${payload.toString()}`);
        },
        done: (commands) => {
          story.push(`done ${commands.length}`);
          if (inbox.size === 0) resolve();
        },
        failed: (error) => {
          throw error;
        },
      });
      for (let n = 1; n <= 200; n++) inbox.add(arrived(n), () => story.push(`read on ${n}`));
    });
    await over;
    expect(story.slice(0, 200)).toEqual(Array.from({ length: 200 }, (_, i) => `read on ${i + 1}`));
    expect(story.slice(200).filter((line) => line.startsWith('take'))).toEqual(
      Array.from({ length: 200 }, (_, i) => `take {"n":${i + 1}}`),
    );
    expect(story.filter((line) => line.startsWith('done'))).toEqual(['done 128', 'done 72']);
  });
});

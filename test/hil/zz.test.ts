import { it } from 'vitest';
import { closeHome, openHome } from './support/in-home.js';

it('x', async () => {
  const { home, witness } = await openHome({ seed: 3 });
  console.log(JSON.stringify(home.world.airByRoom));
  const { document } = await home.goal('거실로 갔다가 안방으로 이동해서 청정해줘');
  const seen: string[] = [];
  let n = 0;
  home.session.world.attach({
    flush: () => {
      if (n++ % 400 === 0) {
        const a = home.world.airByRoom['4'];
        const c = (home.daemon.runtime.context({ version: 1 }) as any).air_quality;
        seen.push(
          `${home.world.timeMs} room ${home.world.room} 4:${a?.pm2_5.toFixed(1)} 2:${home.world.airByRoom['2']?.pm2_5.toFixed(1)} sensor ${c.pm2_5} ${c.freshness_ms} ${c.grade}`,
        );
      }
    },
  });
  await witness.end(document.workflow_id);
  console.log(seen.join('\n'));
  const arr = witness.events.find((e) => e.event === 'COMPLETED' && e.method === 'setMoveTo')!;
  const t = witness.worldTime(Number(arr.evidence?.observed_at_ms));
  console.log(
    arr.evidence,
    witness.diary
      .between(t - 600, t + 50)
      .map(
        (p) =>
          `${p.timeMs - t} ${p.wheels.left.toFixed(4)} ${p.wheels.right.toFixed(4)} ${p.command.left} ${p.command.right}`,
      )
      .join('\n'),
  );
  const cl = witness.events.find((e) => e.event === 'COMPLETED' && e.method === 'startCleaning')!;
  console.log(JSON.stringify(cl.output), witness.worldTime(Number((cl.output as any).before.observed_at_ms)));
  await closeHome({ home, witness });
});

/**
 * Entry of the forked child that loads rclnodejs: `child.js MODULE NODE_NAME`. It is only started where the environment
 * was found to be in order; native crashes end this process and nothing else. It ends with its parent.
 */
import { createRequire } from 'node:module';
import { SystemClock } from '../../../config/contracts/clock.js';
import { errorText } from '../../../config/contracts/errors.js';
import { type FromChild, toChildSchema } from './ipc.js';
import { type RclModule, RclWorker } from './node.js';

const [, , modulePath = '', nodeName = 'deviceagent'] = process.argv;

const send = (message: FromChild) => {
  if (process.connected) process.send?.(message);
};

async function run(): Promise<void> {
  const loaded: unknown = createRequire(import.meta.url)(modulePath);
  if (!isRcl(loaded)) throw new Error(`${modulePath} is not rclnodejs 2.x`);
  const worker = await RclWorker.start(loaded, nodeName, send, new SystemClock());
  const end = () => {
    worker.stop();
    process.exit(0);
  };
  process.on('disconnect', end);
  process.on('SIGTERM', end);
  process.on('message', (raw) => {
    const parsed = toChildSchema.safeParse(raw);
    if (parsed.success) worker.take(parsed.data);
    else send({ op: 'log', level: 'warn', message: 'a message from the motion process was not understood' });
  });
  send({ op: 'ready', distro: process.env.ROS_DISTRO ?? '' });
}

function isRcl(value: unknown): value is RclModule {
  return (
    typeof value === 'object' &&
    value !== null &&
    'init' in value &&
    typeof value.init === 'function' &&
    'createNode' in value &&
    'ActionClient' in value &&
    'QoS' in value
  );
}

run().catch((error: unknown) => {
  send({ op: 'log', level: 'warn', message: `rclnodejs does not start: ${errorText(error)}` });
  process.exitCode = 1;
  process.disconnect?.();
});

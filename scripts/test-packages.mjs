// Installs the Debian packages that some tests need, where this process may; says what will be skipped otherwise.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const NEEDED = [
  {
    program: 'mosquitto',
    package: 'mosquitto',
    tests: 'the MQTT contract against a broker nobody here wrote',
  },
  { program: 'chromium', package: 'chromium', tests: 'the console in a real browser' },
];

const onPath = (program) =>
  (process.env.PATH ?? '')
    .split(':')
    .concat('/usr/sbin')
    .some((dir) => existsSync(`${dir}/${program}`));
const missing = NEEDED.filter((n) => !onPath(n.program));

if (missing.length > 0 && process.platform === 'linux' && onPath('apt-get')) {
  const prefix = process.getuid?.() === 0 ? [] : onPath('sudo') ? ['sudo', '-n'] : null;
  if (prefix !== null) {
    const apt = (...args) => {
      const [command, ...rest] = [...prefix, 'apt-get', ...args];
      const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
      return (
        spawnSync(command, rest, { stdio: ['ignore', 'ignore', 'inherit'], env, timeout: 600_000 }).status ===
        0
      );
    };
    console.log(`installing for the tests: ${missing.map((m) => m.package).join(' ')}`);
    apt('update', '-qq');
    apt('install', '-y', '-qq', '--no-install-recommends', ...missing.map((m) => m.package));
  }
}
for (const { program, package: name, tests } of NEEDED) {
  if (!onPath(program)) console.log(`skipped, ${name} is not installed: ${tests}`);
}

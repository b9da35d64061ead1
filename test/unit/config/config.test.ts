import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig, missingParts } from '../../../config/load.js';
import { PROFILES, profilePath } from '../../../config/profiles.js';

function profile(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'da-config-')), 'robot.yaml');
  writeFileSync(file, text);
  return file;
}

function problemsOf(file: string, env: NodeJS.ProcessEnv = {}): string {
  try {
    loadConfig(file, env, '/state');
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
}

const MINIMAL = 'version: 1\nprofile: create2\ndevice_id: r1\n';

describe('bundled profiles', () => {
  it.each(PROFILES)('%s loads', (name) => {
    expect(loadConfig(profilePath(name), {}, '/state').config.profile).toBe(name);
  });

  it('sim lacks nothing and looks for its devices in the state directory', () => {
    const { config } = loadConfig(profilePath('sim'), {}, '/state');
    expect(missingParts(config)).toEqual([]);
    expect(config.base?.port).toEqual({ kind: 'serial', path: '/state/dev/base', baud_rate: 115200 });
  });

  it('ros2 needs neither base nor lidar of its own, and names the rosbridge of its robot', () => {
    const { config } = loadConfig(profilePath('ros2'), {}, '/state');
    expect(missingParts(config).join('\n')).not.toMatch(/^(base|lidar|ros2):/m);
    expect(config.ros2).toMatchObject({ distro: 'jazzy', via: 'rosbridge', url: 'ws://127.0.0.1:9090' });
    expect(config.ros2?.stale).toEqual({ odom_ms: 250, scan_ms: 300, tf_ms: 1500 });
  });
});

describe('docs/hardware.md', () => {
  it('shows a robot whose profile loads, with the defaults that it names', () => {
    const text = readFileSync(new URL('../../../docs/hardware.md', import.meta.url), 'utf8');
    const shown = text.match(/```yaml\n(base:[\s\S]*?)```/)?.[1] ?? '';
    const { config } = loadConfig(profile(MINIMAL + shown), {}, '/state');
    const port = (path: string) => `{kind: serial, path: ${path}, baud_rate: 9600}`;
    const bare = `${MINIMAL}fan: {driver: modbus, port: ${port('/dev/f')}}\n`;
    const defaults = loadConfig(profile(bare), {}, '/state').config;
    expect(config.air_grades).toEqual(defaults.air_grades);
    expect({ ...config.fan, port: null }).toEqual({ ...defaults.fan, port: null });
  });
});

it('says how long a failed step waits for an amendment of its workflow: five minutes unless the profile says otherwise', () => {
  const wait = (text: string) => loadConfig(profile(text), {}, '/state').config.workflows.amendment_wait_ms;
  expect(wait(MINIMAL)).toBe(300_000);
  expect(wait(`${MINIMAL}workflows: {amendment_wait_ms: 20000}\n`)).toBe(20_000);
});

describe('a bad file', () => {
  it('is refused naming file, path, value and what is allowed', () => {
    const file = profile(`${MINIMAL}api: {port: "80a"}\n`);
    expect(problemsOf(file)).toMatch(new RegExp(`^${file}: api\\.port is "80a": .*number`));
  });

  it('is refused for every problem at once', () => {
    const problems = problemsOf(profile('version: 2\nprofile: sim\ndevice_id: "a b"\n')).split('\n');
    expect(problems).toHaveLength(2);
  });

  it('is refused for a key that does not exist', () => {
    expect(problemsOf(profile(`${MINIMAL}colour: red\n`))).toContain(
      'colour is "red": this field is not known here',
    );
  });

  it('is refused when it is not YAML, naming the line', () => {
    expect(problemsOf(profile('version: 1\nbase: {a: [1\n'))).toMatch(/line \d+: not valid YAML/);
  });

  it('is refused when its aliases unfold without end, or name nothing', () => {
    const nines = (of: string) => `[${Array(9).fill(of).join(',')}]`;
    const bomb = `a: &a ${nines('x')}\nb: &b ${nines('*a')}\nc: &c ${nines('*b')}\nd: ${nines('*c')}\n`;
    expect(problemsOf(profile(bomb))).toMatch(/not valid YAML: Excessive alias count/);
    expect(problemsOf(profile('version: *nowhere\n'))).toMatch(/not valid YAML/);
  });

  it('is refused when it does not exist', () => {
    expect(problemsOf('/nowhere/robot.yaml')).toBe('/nowhere/robot.yaml: cannot be read (ENOENT)');
  });

  it.each([
    ['timezone: Mars/Olympus', 'timezone is "Mars/Olympus"'],
    ['cloud: {url: "http://x"}', 'cloud.url is "http://x"'],
    ['cloud: {url: null, cert_file: a.pem}', 'cloud.cert_file and cloud.key_file belong together'],
    ['motion: {max_speed: .nan}', 'motion.max_speed is NaN'],
    [
      'lidar: {driver: ld19, port: /dev/ttyUSB1}',
      'lidar.port is "/dev/ttyUSB1": allowed: {kind: serial, path: DEVICE, baud_rate: N} or {kind: tcp',
    ],
    ['air_grades: {pm2_5: [35, 15, 75]}', 'air_grades.pm2_5 is [35,15,75]: the three limits have to rise'],
    ['api: {allowed_hosts: ["http://robot:80"]}', 'a host name or address without its port'],
    [
      'api: {host: 0.0.0.0}',
      'api.host is "0.0.0.0": beyond 127.0.0.1 the API needs tokens: set api.tokens_file',
    ],
    [
      'base: {driver: create2, port: {kind: tcp, host: a, port: 1}, estop_buttons: [red]}',
      'base.estop_buttons.0 is "red": it has to be one of "clean", "spot", "dock"',
    ],
  ])('refuses %s', (line, expected) => {
    expect(problemsOf(profile(`${MINIMAL}${line}\n`))).toContain(expected);
  });
});

describe('the file of API tokens', () => {
  const SECRET = 's'.repeat(32);
  const GOOD = `- {name: grafana, value: ${SECRET}, scopes: [read]}\n`;
  const withTokens = (text: string, mode = 0o600) => {
    const tokens = profile(text);
    chmodSync(tokens, mode);
    return profile(`${MINIMAL}api: {host: 0.0.0.0, tokens_file: ${tokens}}\n`);
  };

  it('lets the API listen beyond loopback', () => {
    expect(loadConfig(withTokens(GOOD), {}, '/state').secrets.apiTokens).toEqual([
      { name: 'grafana', value: SECRET, scopes: ['read'] },
    ]);
  });

  it.each([
    ['that others can read', GOOD, 0o644, 'can be read by others (mode 644): chmod 600 '],
    [
      'with a short token',
      `- {name: a, value: ${SECRET.slice(1)}, scopes: [read]}\n`,
      0o600,
      '32 characters',
    ],
    ['with a scope of a person', `- {name: a, value: ${SECRET}, scopes: [person]}\n`, 0o600, '0.scopes.0'],
    ['with the name of the own token', GOOD.replace('grafana', 'state-dir'), 0o600, '0.name'],
    ['with one name twice', GOOD + GOOD, 0o600, 'a name stands there twice'],
    ['that is empty', '', 0o600, 'it has to be a list of {name, value'],
    ['that is not YAML', `- {name: "${SECRET}\n`, 0o600, 'is not valid YAML'],
  ])('is refused %s, without a word of what it holds', (_, text, mode, expected) => {
    const problems = problemsOf(withTokens(text, mode));
    expect(problems).toContain('api.tokens_file');
    expect(problems).toContain(expected);
    expect(problems).not.toContain(SECRET.slice(1));
  });

  it('is refused when it is missing', () => {
    const file = profile(`${MINIMAL}api: {tokens_file: nowhere.yaml}\n`);
    expect(problemsOf(file)).toMatch(/api\.tokens_file .*nowhere\.yaml cannot be read \(ENOENT\)/);
  });
});

describe('the environment', () => {
  it('overrides what may differ between robots', () => {
    const env = {
      DEVICEAGENT_DEVICE_ID: 'kitchen-1',
      DEVICEAGENT_MQTT_URL: 'mqtts://broker:8883',
      DEVICEAGENT_MQTT_PROTOCOL: '5',
      DEVICEAGENT_API_PORT: '0',
    };
    const { config } = loadConfig(profile(MINIMAL), env, '/state');
    expect(config.device_id).toBe('kitchen-1');
    expect(config.cloud.url).toBe('mqtts://broker:8883');
    expect(config.cloud.protocol).toBe('5');
    expect(config.api.port).toBe(0);
  });

  it('holds the password, which no file may hold', () => {
    const file = profile(`${MINIMAL}cloud: {url: "mqtts://b:8883", username: robot}\n`);
    expect(loadConfig(file, { DEVICEAGENT_MQTT_PASSWORD: 'x' }, '/s').secrets.mqttPassword).toBe('x');
    expect(problemsOf(profile(`${MINIMAL}cloud: {url: null, password: x}\n`))).toContain('cloud.password');
  });
});

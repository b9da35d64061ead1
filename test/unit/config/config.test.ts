import { mkdtempSync, writeFileSync } from 'node:fs';
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

  it('ros2 explains what is missing', () => {
    const { config } = loadConfig(profilePath('ros2'), {}, '/state');
    expect(missingParts(config).join('\n')).toContain('ROS 2 back end is not part of this version');
  });
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

  it('is refused when it does not exist', () => {
    expect(problemsOf('/nowhere/robot.yaml')).toBe('/nowhere/robot.yaml: cannot be read (ENOENT)');
  });

  it.each([
    ['timezone: Mars/Olympus', 'timezone is "Mars/Olympus"'],
    ['cloud: {url: "http://x"}', 'cloud.url is "http://x"'],
    ['cloud: {url: null, cert_file: a.pem}', 'cloud.cert_file and cloud.key_file belong together'],
    ['motion: {max_speed: .nan}', 'motion.max_speed is NaN'],
  ])('refuses %s', (line, expected) => {
    expect(problemsOf(profile(`${MINIMAL}${line}\n`))).toContain(expected);
  });
});

describe('the environment', () => {
  it('overrides what may differ between robots', () => {
    const env = {
      DEVICEAGENT_DEVICE_ID: 'kitchen-1',
      DEVICEAGENT_MQTT_URL: 'mqtts://broker:8883',
      DEVICEAGENT_API_PORT: '0',
    };
    const { config } = loadConfig(profile(MINIMAL), env, '/state');
    expect(config.device_id).toBe('kitchen-1');
    expect(config.cloud.url).toBe('mqtts://broker:8883');
    expect(config.api.port).toBe(0);
  });

  it('holds the password, which no file may hold', () => {
    const file = profile(`${MINIMAL}cloud: {url: "mqtts://b:8883", username: robot}\n`);
    expect(loadConfig(file, { DEVICEAGENT_MQTT_PASSWORD: 'x' }, '/s').secrets.mqttPassword).toBe('x');
    expect(problemsOf(profile(`${MINIMAL}cloud: {url: null, password: x}\n`))).toContain('cloud.password');
  });
});

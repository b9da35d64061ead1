import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { parse, YAMLParseError } from 'yaml';
import { readApiTokens } from './api-tokens.js';
import { errorCode, errorText, issueParts, shown } from './contracts/errors.js';
import { isLoopbackHost } from './contracts/loopback.js';
import { type Config, configSchema, type Secrets } from './schema.js';

/** A configuration that cannot be used. The message names file, path, value and what is allowed. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(
    readonly file: string,
    readonly problems: readonly string[],
  ) {
    super(problems.map((p) => `${file}: ${p}`).join('\n'));
  }
}

export interface LoadedConfig {
  file: string;
  config: Config;
  secrets: Secrets;
}

/** Environment variables that replace a value of the file, so that one image serves many robots. */
const OVERRIDES: Readonly<Record<string, { path: readonly [string, ...string[]]; number?: true }>> = {
  DEVICEAGENT_DEVICE_ID: { path: ['device_id'] },
  DEVICEAGENT_MQTT_URL: { path: ['cloud', 'url'] },
  DEVICEAGENT_MQTT_PROTOCOL: { path: ['cloud', 'protocol'] },
  DEVICEAGENT_MQTT_USERNAME: { path: ['cloud', 'username'] },
  DEVICEAGENT_API_PORT: { path: ['api', 'port'], number: true },
  DEVICEAGENT_LOG: { path: ['log'] },
  DEVICEAGENT_RECORDING: { path: ['recording', 'folder'] },
};

/**
 * Reads and validates a profile. `${STATE_DIR}` in any text becomes `stateDir`; relative file names are taken
 * from the folder of the profile. Throws `ConfigError` with every problem found.
 */
export function loadConfig(file: string, env: NodeJS.ProcessEnv, stateDir: string): LoadedConfig {
  const document = withOverrides(file, readYaml(file), env);
  const parsed = configSchema.safeParse(substitute(document, stateDir));
  if (!parsed.success) {
    throw new ConfigError(
      file,
      parsed.error.issues.map((issue) => {
        const { field, found, allowed } = issueParts(issue, document);
        const what = found === 'nothing' ? 'is missing' : `is ${found}`;
        return `${field || '(document)'} ${what}: ${allowed}`;
      }),
    );
  }
  const config = resolveFiles(parsed.data, dirname(resolve(file)));
  const { tokens_file: tokensFile } = config.api;
  const apiTokens = tokensFile === null ? [] : readApiTokens(tokensFile, readYaml);
  const problems = crossChecks(config, env);
  if (typeof apiTokens === 'string') problems.push(`api.tokens_file ${tokensFile} ${apiTokens}`);
  if (problems.length > 0 || typeof apiTokens === 'string') throw new ConfigError(file, problems);
  return { file, config, secrets: { mqttPassword: env.DEVICEAGENT_MQTT_PASSWORD ?? null, apiTokens } };
}

/** Reads a YAML document; a file that is missing or not YAML is a `ConfigError`. */
export function readYaml(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(file, [`cannot be read (${errorCode(error) ?? 'unknown error'})`]);
  }
  try {
    return parse(text, { maxAliasCount: 100 });
  } catch (error) {
    // Aliases that unfold without end, or that name nothing, are found only after parsing, as another error.
    const line = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined;
    throw new ConfigError(file, [
      `${line === undefined ? '' : `line ${line}: `}not valid YAML: ${errorText(error).split('\n')[0]}`,
    ]);
  }
}

function withOverrides(file: string, document: unknown, env: NodeJS.ProcessEnv): unknown {
  if (document === null || typeof document !== 'object' || Array.isArray(document)) return document;
  const copy = structuredClone(document) as Record<string, unknown>;
  for (const [variable, { path, number }] of Object.entries(OVERRIDES)) {
    const text = env[variable];
    if (text === undefined || text === '') continue;
    const value = number === true ? Number(text) : text;
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new ConfigError(file, [`${variable} is ${shown(text)}: allowed is a number`]);
    }
    let target = copy;
    for (const key of path.slice(0, -1)) {
      const next = target[key];
      target[key] = next !== null && typeof next === 'object' ? next : {};
      target = target[key] as Record<string, unknown>;
    }
    target[path[path.length - 1] ?? path[0]] = value;
  }
  return copy;
}

/** The place-holder, spelled so that it does not look like a template. */
const STATE_DIR = `\${STATE_DIR}`;

function substitute(value: unknown, stateDir: string): unknown {
  if (typeof value === 'string') return value.replaceAll(STATE_DIR, stateDir);
  if (Array.isArray(value)) return value.map((v) => substitute(v, stateDir));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, substitute(v, stateDir)]));
  }
  return value;
}

function resolveFiles(config: Config, folder: string): Config {
  const full = (file: string) => (isAbsolute(file) ? file : resolve(folder, file));
  const maybe = (file: string | null) => (file === null ? null : full(file));
  return {
    ...config,
    map: config.map === null ? null : { file: full(config.map.file) },
    api: { ...config.api, tokens_file: maybe(config.api.tokens_file) },
    recording: config.recording && { ...config.recording, folder: full(config.recording.folder) },
    cloud: {
      ...config.cloud,
      ca_file: maybe(config.cloud.ca_file),
      cert_file: maybe(config.cloud.cert_file),
      key_file: maybe(config.cloud.key_file),
      command_key_file: maybe(config.cloud.command_key_file),
    },
  };
}

function crossChecks(config: Config, env: NodeJS.ProcessEnv): string[] {
  const problems: string[] = [];
  try {
    new Intl.DateTimeFormat('en', { timeZone: config.timezone });
  } catch {
    problems.push(`timezone is ${shown(config.timezone)}: allowed is an IANA time zone such as Asia/Seoul`);
  }
  if ((config.cloud.cert_file === null) !== (config.cloud.key_file === null)) {
    problems.push('cloud.cert_file and cloud.key_file belong together: set both or neither');
  }
  if (env.DEVICEAGENT_MQTT_PASSWORD !== undefined && config.cloud.username === null) {
    problems.push('cloud.username is null: a password in DEVICEAGENT_MQTT_PASSWORD needs a user name');
  }
  if (config.api.tokens_file === null && !isLoopbackHost(config.api.host)) {
    problems.push(
      `api.host is ${shown(config.api.host)}: beyond 127.0.0.1 the API needs tokens: set api.tokens_file`,
    );
  }
  if (config.base !== null && config.ros2 !== null) {
    problems.push('base and ros2 are both set: a robot is driven over serial or over ROS 2, not both');
  }
  return problems;
}

/** What a loaded profile still lacks, in sentences for `config check` and `doctor`. */
export function missingParts(config: Config): string[] {
  const missing: string[] = [];
  if (config.ros2 === null && config.base === null) {
    missing.push('base: none configured; plug in an iRobot Create 2 or a Kobuki and set base.port to drive');
  }
  if (config.ros2 === null && config.lidar === null) {
    missing.push(
      'lidar: none configured; connect an LD19/LD06 or an RPLIDAR A1 and set lidar.port to localise and navigate',
    );
  }
  if (config.map === null)
    missing.push('map: none configured; set map.file to a map.yaml with an areas.yaml beside it');
  if (config.air_sensor === null) missing.push('air_sensor: none configured; air quality stays unknown');
  if (config.fan === null) missing.push('fan: none configured; cleaning is unavailable');
  if (config.speaker === 'none')
    missing.push('speaker: none; what the robot would say ends CAPABILITY_UNAVAILABLE');
  if (config.cloud.url === null) missing.push('cloud: no broker configured; events wait in the outbox');
  return missing;
}

/** From a profile to the options of the cloud session. */
import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { errorCode, errorText } from '../../config/contracts/errors.js';
import type { LoadedConfig } from '../../config/load.js';
import type { CloudOptions } from '../cloud/types.js';
import { readCommandKey } from '../intake/signature.js';

const KEEPALIVE_S = 30;
const SESSION_EXPIRY_S = 7 * 24 * 3600;

/** Reads certificates and keys; throws an Error that names the file. */
export function cloudOptionsOf({ config, secrets }: LoadedConfig, url: string): CloudOptions {
  const { cloud } = config;
  return {
    url,
    protocol: cloud.protocol,
    deviceId: config.device_id,
    username: cloud.username,
    password: secrets.mqttPassword,
    ca: readPem(cloud.ca_file),
    cert: readPem(cloud.cert_file),
    key: readPem(cloud.key_file),
    keepaliveS: KEEPALIVE_S,
    sessionExpiryS: SESSION_EXPIRY_S,
    connectTimeoutMs: 10_000,
    ackTimeoutMs: 10_000,
    backoff: { minMs: 500, maxMs: 30_000 },
    window: 200,
    maxPacketBytes: cloud.max_packet_bytes,
    maxTries: 5,
    replay: { perS: cloud.replay_rate_per_s, burst: cloud.replay_burst },
  };
}

/** The key of whoever may command; null when the broker's authentication is enough. */
export function commandKeyOf({ config }: LoadedConfig): KeyObject | null {
  const { command_key_file: file } = config.cloud;
  const pem = readPem(file);
  if (pem === null) return null;
  try {
    return readCommandKey(pem);
  } catch (error) {
    throw new Error(`${file}: cloud.command_key_file: ${errorText(error)}`);
  }
}

function readPem(file: string | null): Buffer | null {
  if (file === null) return null;
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`${file}: cannot be read (${errorCode(error) ?? 'unknown error'})`);
  }
}

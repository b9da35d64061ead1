/** The serial lines of a profile, tried without a daemon: opened, listened to, and let go. Nothing is set in motion. */
import { existsSync } from 'node:fs';
import type { LineFinding } from '../../../config/contracts/amr.js';
import { delay, SystemClock } from '../../../config/contracts/clock.js';
import { loadConfig } from '../../../config/load.js';
import type { BaseConfig, LidarConfig, PortConfig } from '../../../config/schema.js';
import { createBase, createLidar } from '../../../drivers/rt/create-drivers.js';
import { heardIn, lineFinding } from '../../../drivers/serial/line-finding.js';
import { openerOf } from '../../../drivers/serial/ports/open-port.js';
import type { SerialDriver } from '../../../drivers/serial/types.js';
import { lineAdvice } from '../../compose/line-advice.js';
import { serialNames } from '../../compose/serial-names.js';
import type { DoctorCheck } from '../../runtime.js';
import type { Cli } from '../cli.js';

type Device = BaseConfig | LidarConfig;

/** A device is given so long to answer, and another baud rate so long to be heard, ms. */
const LISTEN_MS = 2500;
const LISTEN_BAUD_MS = 700;
const LOOK_EVERY_MS = 100;
const BAUD_RATES = [115_200, 230_400, 57_600, 38_400, 19_200, 9600] as const;

export async function checkPorts(cli: Cli, file: string): Promise<DoctorCheck[]> {
  const { config } = loadConfig(file, cli.io.env, cli.stateDir);
  const checks: DoctorCheck[] = [];
  for (const key of ['base', 'lidar'] as const) {
    const device = config[key];
    if (device !== null) checks.push(await checkLine(cli, key, device));
  }
  return checks;
}

async function checkLine(cli: Cli, key: 'base' | 'lidar', device: Device): Promise<DoctorCheck> {
  const part = cli.t(key === 'base' ? 'partBase' : 'partLidar');
  const { port, driver: chip } = device;
  const finding = await listen(device);
  if (finding.heard === 'frames') {
    return { part, state: 'ok', message: cli.t('lineAnswers', { chip }) };
  }
  const otherBaud = finding.heard === 'garbled' ? await otherBaudOf(port, chip) : null;
  const words = lineAdvice({ key, chip, port, finding, byId: serialNames(), otherBaud });
  return { part, state: 'faulty', message: words[cli.language] };
}

/** The driver itself is the judge: what it does not take for its device, nothing else will. */
async function listen(device: Device): Promise<LineFinding> {
  const { port } = device;
  if (port.kind === 'serial' && !existsSync(port.path)) {
    return { heard: 'nothing', reason: `${port.path}: no such device` };
  }
  const clock = new SystemClock();
  const parts = {
    clock,
    random: () => 0.5,
    log: () => {},
    openPort: (_: string, given: PortConfig) => openerOf(given, clock, null),
  };
  const driver: SerialDriver = isLidar(device) ? createLidar(device, parts) : createBase(device, parts);
  driver.start();
  const until = clock.mono() + LISTEN_MS;
  while (!driver.connected && clock.mono() < until) await delay(clock, LOOK_EVERY_MS);
  const finding = lineFinding(driver);
  await driver.stop();
  return finding;
}

function isLidar(device: Device): device is LidarConfig {
  return device.driver === 'ld19' || device.driver === 'rplidar_a1';
}

/** The rate at which frames of the chip come in, among the usual ones; null when at none. */
async function otherBaudOf(port: PortConfig, chip: string): Promise<number | null> {
  if (port.kind !== 'serial') return null;
  const clock = new SystemClock();
  for (const baud of BAUD_RATES) {
    if (baud === port.baud_rate) continue;
    const bytes = await heardAt({ ...port, baud_rate: baud }, clock);
    if (heardIn(bytes) === chip) return baud;
  }
  return null;
}

async function heardAt(port: PortConfig, clock: SystemClock): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  try {
    const connection = await openerOf(port, clock, null)();
    connection.onData((bytes) => chunks.push(bytes));
    await delay(clock, LISTEN_BAUD_MS);
    await connection.close();
  } catch {
    return new Uint8Array(0);
  }
  return Buffer.concat(chunks);
}

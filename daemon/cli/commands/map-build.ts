/** `deviceagent map build`: a map with rooms out of a recorded drive, without a daemon. */
import { existsSync, mkdirSync, rmdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { errorText } from '../../../config/contracts/errors.js';
import { NO_AREAS } from '../../../drivers/amr/map/areas.js';
import { bundleFiles, mapBundle } from '../../../drivers/amr/map/bundle.js';
import { DEFAULT_PICTURE_SIZE, mapPicture } from '../../../drivers/amr/map/map-picture.js';
import { encodePng } from '../../../drivers/amr/map/png-encode.js';
import { DEFAULT_SEGMENTS, segmentRooms } from '../../../drivers/amr/map/segment-rooms.js';
import {
  BREEZY_ROBOT,
  BreezyLog,
  checkBreezyLog,
  type LogRobot,
  type LogSummary,
} from '../../../drivers/amr/mapping/breezy-log.js';
import { type BuildOptions, type BuiltMap, buildMap } from '../../../drivers/amr/mapping/build-map.js';
import type { MapBundle } from '../../../drivers/amr/types.js';
import { writeAllWhole } from '../../../drivers/write-whole.js';
import type { Cli } from '../cli.js';
import { CliError, EXIT } from '../io.js';
import { fileBytes } from '../options.js';
import { createTerminal } from '../simulation/terminal.js';

export interface BuildFlags {
  log?: string;
  out?: string;
  resolution?: string;
  /** False with `--no-odometry`. */
  odometry?: boolean;
  /** False with `--no-rooms`. */
  rooms?: boolean;
  radius?: string;
  wheelRadius?: string;
  wheelBase?: string;
  ticksPerTurn?: string;
  lidarX?: string;
}

const MAX_LOG_BYTES = 256 * 1024 * 1024;
/** Scans between two looks at whether the person has had enough, ms. */
const BREATHE_MS = 50;
/** Where no line can be drawn over, one is printed for each such share of the log. */
const PRINTED_SHARE = 0.1;

export async function buildMapFile(cli: Cli, flags: BuildFlags): Promise<number> {
  const log = flags.log ?? '';
  const robot = robotOf(cli, flags);
  const options = optionsOf(cli, flags);
  const radius = numberOf(cli, '--radius', flags.radius, DEFAULT_SEGMENTS.radius, 0.05, 1);
  const text = (await fileBytes(cli, log, MAX_LOG_BYTES)).toString('latin1');
  const summary = checked(() => checkBreezyLog(text, log));
  const dir = flags.out ?? `${basename(log).replace(/\.[^.]*$/, '')}-map`;
  // Before the work, not after it.
  const made = makeFolder(dir);
  const built = await run(cli, new BreezyLog(text, log, robot), robot, options, summary, log).catch(
    (error) => {
      made.forEach((folder) => {
        rmdirSync(folder);
      });
      throw error;
    },
  );
  const rooms = flags.rooms === false ? [] : segmentRooms(built.grid, null, { ...DEFAULT_SEGMENTS, radius });
  const bundle = mapBundle(built.grid, { ...NO_AREAS, rooms });
  const files = write(dir, bundle, built, summary);
  const quality = qualityOf(built, summary);
  cli.result({ map: bundle.id, files, rooms: rooms.length, quality }, () =>
    cli.t('buildDone', {
      file: files.yaml,
      picture: files.picture,
      rooms: rooms.length,
      scans: summary.scans,
      unmatched: built.quality.unmatched,
      way: built.quality.way.toFixed(1),
      loops: built.quality.loopsClosed,
      drift: built.quality.driftCorrected.toFixed(2),
      score: percent(built.quality.meanScore ?? 0),
      wall: ((built.wallThickness ?? 0) * 100).toFixed(0),
    }),
  );
  if (summary.cutOff > 0) cli.note(cli.t('buildCutOff', { file: log }));
  return EXIT.ok;
}

/** Lets the process breathe now and then, so that Ctrl-C is heard and the progress is seen. */
async function run(
  cli: Cli,
  log: BreezyLog,
  robot: LogRobot,
  options: BuildOptions,
  { scans }: LogSummary,
  file: string,
): Promise<BuiltMap> {
  const terminal = createTerminal(cli.io.stderr, cli.json);
  const live = cli.io.stderr.isTTY === true;
  let breathed = performance.now();
  let printed = 0;
  const work = buildMap(log.entries(), robot, options);
  try {
    for (;;) {
      const step = work.next();
      if (step.done === true) {
        if (step.value === null) throw new CliError(cli.t('buildNothing', { file }));
        return step.value;
      }
      if (performance.now() - breathed < BREATHE_MS) continue;
      const said = { done: step.value.scans, scans, percent: percent(step.value.share) };
      terminal.live(cli.t('buildProgress', said));
      if (!live && !cli.json && step.value.share >= printed + PRINTED_SHARE) {
        printed = step.value.share;
        cli.note(cli.t('buildProgress', said));
      }
      await setImmediate();
      if (cli.io.interrupted.aborted) throw new CliError(cli.t('interrupted'), EXIT.interrupted);
      breathed = performance.now();
    }
  } finally {
    terminal.live('');
  }
}

/** A folder and those above it; answers which are new, the lowest first. Node's own recursive one never ends where a file system takes no folders, such as /proc. */
function makeFolder(dir: string): string[] {
  try {
    if (existsSync(dir) && statSync(dir).isDirectory()) return [];
    const above = dirname(dir);
    const made = above === dir || existsSync(above) ? [] : makeFolder(above);
    mkdirSync(dir);
    return [dir, ...made];
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${dir}: ${errorText(error)}`);
  }
}

/** All files of the map appear, or none. */
function write(dir: string, bundle: MapBundle, built: BuiltMap, summary: LogSummary) {
  const files = {
    yaml: join(dir, 'map.yaml'),
    image: join(dir, 'map.pgm'),
    areas: join(dir, 'areas.yaml'),
    picture: join(dir, 'map.png'),
    quality: join(dir, 'quality.json'),
  };
  const picture = mapPicture(bundle.grid, bundle.areas, {
    size: DEFAULT_PICTURE_SIZE,
    paths: [built.path],
    robotRadius: 0.1,
  });
  const quality = `${JSON.stringify(qualityOf(built, summary), null, 2)}\n`;
  try {
    writeAllWhole([
      { path: files.picture, content: encodePng(picture) },
      { path: files.quality, content: quality },
      ...bundleFiles(files.yaml, bundle),
    ]);
  } catch (error) {
    throw new CliError(`${dir}: ${errorText(error)}`);
  }
  return files;
}

/** As measured: metres, seconds, bits; scores are mean likelihoods of scans, 0…1. */
function qualityOf({ quality, wallThickness, entropy }: BuiltMap, { duration, cutOff }: LogSummary) {
  return {
    scans: quality.scans,
    keyframes: quality.keyframes,
    unmatched: quality.unmatched,
    cut_off_lines: cutOff,
    duration_s: rounded(duration, 3),
    way_m: rounded(quality.way, 3),
    mean_score: quality.meanScore === null ? null : rounded(quality.meanScore, 4),
    loops_closed: quality.loopsClosed,
    loops_rejected: quality.loopsRejected,
    drift_corrected_m: rounded(quality.driftCorrected, 3),
    wall_thickness_m: wallThickness === null ? null : rounded(wallThickness, 4),
    entropy_bits: entropy === null ? null : rounded(entropy, 4),
    points_left_out: quality.leftOut,
  };
}

function robotOf(cli: Cli, flags: BuildFlags): LogRobot {
  const { wheelRadius, wheelBase, ticksPerTurn, lidarX } = BREEZY_ROBOT;
  return {
    wheelRadius: numberOf(cli, '--wheel-radius', flags.wheelRadius, wheelRadius, 0.005, 1),
    wheelBase: numberOf(cli, '--wheel-base', flags.wheelBase, wheelBase, 0.02, 5),
    ticksPerTurn: numberOf(cli, '--ticks-per-turn', flags.ticksPerTurn, ticksPerTurn, 1, 1e7),
    lidarX: numberOf(cli, '--lidar-x', flags.lidarX, lidarX, -5, 5),
  };
}

function optionsOf(cli: Cli, flags: BuildFlags): BuildOptions {
  return {
    odometry: flags.odometry !== false,
    resolution: numberOf(cli, '--resolution', flags.resolution, 0.05, 0.01, 0.5),
  };
}

function numberOf(
  cli: Cli,
  option: string,
  text: string | undefined,
  otherwise: number,
  min: number,
  max: number,
): number {
  if (text === undefined) return otherwise;
  const value = /^-?\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new CliError(cli.t('badNumber', { option, value: text, allowed: `${min}–${max}` }), EXIT.usage);
}

function checked<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new CliError(errorText(error));
  }
}

function percent(share: number): number {
  return Math.round(share * 100);
}

function rounded(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

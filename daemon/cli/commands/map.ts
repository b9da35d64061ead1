/** `deviceagent map …` */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { errorCode, errorText } from '../../../config/contracts/errors.js';
import { AREAS_FILE, loadMapBundle, mapBundle, saveMapBundle } from '../../../drivers/amr/map/bundle.js';
import { segmentRooms } from '../../../drivers/amr/map/segment-rooms.js';
import type { MapBundle } from '../../../drivers/amr/types.js';
import type { Cli } from '../cli.js';
import { CliError, EXIT } from '../io.js';
import { drawMap } from './map-drawing.js';

interface MapAnswer {
  id: string;
  file: string | null;
  resolution: number;
  width: number;
  height: number;
  origin: { x: number; y: number; theta: number };
  cells: string;
  rooms: { id: string; name: string; aliases: string[]; polygon: [number, number][] }[];
  station: [number, number, number] | null;
  keepout: { id: string }[];
}

interface RobotAnswer {
  state: { pose: { x: number; y: number } | null } | null;
}

export async function showMap(cli: Cli): Promise<number> {
  const [map, robot] = await Promise.all([
    cli.client.get<MapAnswer>('/api/map'),
    cli.client.get<RobotAnswer>('/api/robot'),
  ]);
  cli.result({ ...map, cells: undefined }, () => described(cli, map, robot.state?.pose ?? null));
  return EXIT.ok;
}

function described(cli: Cli, map: MapAnswer, robot: { x: number; y: number } | null): string {
  const { t } = cli;
  const metres = (cells: number) => (cells * map.resolution).toFixed(1);
  const size = t('mapSize', {
    id: map.id,
    width: metres(map.width),
    height: metres(map.height),
    cell: map.resolution,
  });
  const cells = new Int8Array(Buffer.from(map.cells, 'base64'));
  const columns = Math.min(cli.io.stdout.columns ?? 80, 110);
  const rooms = cli.table(
    [t('hId'), t('hRoom'), t('hAliases'), t('hArea')],
    map.rooms.map((room) => [
      room.id,
      room.name,
      room.aliases.join(', '),
      `${area(room.polygon).toFixed(1)} m²`,
    ]),
  );
  const notes = map.keepout.length === 0 ? [] : [t('mapKeepout', { count: map.keepout.length })];
  return [size, drawMap({ ...map, cells }, robot, columns), rooms, ...notes].join('\n');
}

/** The shoelace formula. */
function area(polygon: readonly [number, number][]): number {
  let twice = 0;
  polygon.forEach(([x0, y0], i) => {
    const [x1, y1] = polygon[(i + 1) % polygon.length] ?? [x0, y0];
    twice += x0 * y1 - x1 * y0;
  });
  return Math.abs(twice) / 2;
}

export interface ImportFlags {
  /** False with `--no-rooms`. */
  rooms?: boolean;
}

/**
 * Checks the map here first, so that its faults are named before the daemon is asked. A map without an `areas.yaml`
 * gets rooms proposed; its own files stay as they are.
 */
export async function importMap(cli: Cli, file: string, flags: ImportFlags = {}): Promise<number> {
  const path = resolve(file);
  const given = read(path);
  const bare = !existsSync(join(dirname(path), AREAS_FILE)) && flags.rooms !== false;
  const rooms = bare ? segmentRooms(given.grid) : [];
  const bundle = rooms.length === 0 ? given : mapBundle(given.grid, { ...given.areas, rooms });
  const answer =
    rooms.length === 0
      ? await cli.client.post<object>('/api/map/import', { path })
      : await withDraft(cli, bundle, (draft) => cli.client.post<object>('/api/map/import', { path: draft }));
  const names = bundle.areas.rooms.map((room) => room.name).join(' · ') || bundle.id;
  cli.result({ ...answer, rooms: bundle.areas.rooms.length, rooms_proposed: rooms.length }, () =>
    cli.t('mapImported', { rooms: names }),
  );
  if (cli.json) return EXIT.ok;
  if (rooms.length > 0) cli.note(cli.t('mapProposed', { count: rooms.length }));
  else if (bundle.areas.rooms.length === 0) cli.note(cli.t('mapNoRooms'));
  if (bundle.areas.station === null) cli.note(cli.t('mapNoStation'));
  return EXIT.ok;
}

/** The map in a folder that the daemon can read, for as long as it takes it over. */
async function withDraft<T>(cli: Cli, bundle: MapBundle, use: (file: string) => Promise<T>): Promise<T> {
  let folder: string;
  try {
    folder = mkdtempSync(join(cli.stateDir, 'import-'));
  } catch (error) {
    // Without its folder there is no daemon either.
    if (errorCode(error) === 'ENOENT') {
      throw new CliError(cli.t('noDaemon', { path: cli.client.socket }), EXIT.noDaemon);
    }
    throw new CliError(errorText(error));
  }
  try {
    const file = join(folder, 'map.yaml');
    saveMapBundle(file, bundle);
    return await use(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function exportMap(cli: Cli, dir: string): Promise<number> {
  const map = await cli.client.get<MapAnswer>('/api/map');
  if (map.file === null) throw new CliError(cli.t('mapNoFile'));
  const bundle = read(map.file);
  if (bundle.id !== map.id) throw new CliError(cli.t('mapChanged', { file: map.file }));
  mkdirSync(dir, { recursive: true });
  const file = join(dir, 'map.yaml');
  saveMapBundle(file, bundle);
  cli.result({ file, id: bundle.id }, () => cli.t('mapExported', { file }));
  return EXIT.ok;
}

function read(path: string): MapBundle {
  try {
    return loadMapBundle(path);
  } catch (error) {
    throw new CliError(errorText(error));
  }
}

/** `deviceagent map draw` and `map plan`: what the robot would make of a map, without a robot. */
import { errorText } from '../../../config/contracts/errors.js';
import { distance, type Pose } from '../../../config/contracts/geometry.js';
import { DEFAULT_INFLATION } from '../../../drivers/amr/costmap/costs.js';
import { StaticCostmap } from '../../../drivers/amr/costmap/static-costmap.js';
import { loadMapBundle } from '../../../drivers/amr/map/bundle.js';
import { DEFAULT_PICTURE_SIZE, mapPicture } from '../../../drivers/amr/map/map-picture.js';
import { encodePng } from '../../../drivers/amr/map/png-encode.js';
import { RoomCatalogue } from '../../../drivers/amr/map/rooms.js';
import { PlanEngine } from '../../../drivers/amr/planner/engine.js';
import type { MapBundle } from '../../../drivers/amr/types.js';
import { writeWhole } from '../../../drivers/write-whole.js';
import type { Cli } from '../cli.js';
import { CliError, EXIT } from '../io.js';

interface DrawOptions {
  png?: string;
}

interface PlanOptions extends DrawOptions {
  from?: string;
  to?: string;
  radius?: string;
}

export async function drawMapFile(cli: Cli, file: string, options: DrawOptions): Promise<number> {
  const bundle = read(file);
  const drawn = draw(options.png ?? 'map.png', bundle, [], 0);
  cli.result(drawn, () => cli.t('mapDrawn', drawn));
  return EXIT.ok;
}

/** Exits 1 where the robot would be refused too: no way, a goal without room, a place off the map. */
export async function planOnMap(cli: Cli, file: string, options: PlanOptions): Promise<number> {
  const bundle = read(file);
  const radius = radiusOf(cli, options.radius);
  const from = placeOf(cli, bundle, '--from', options.from ?? '');
  const to = placeOf(cli, bundle, '--to', options.to ?? '');
  const costmap = new StaticCostmap(bundle, { ...DEFAULT_INFLATION, robotRadius: radius });
  const engine = new PlanEngine(costmap);
  const began = process.hrtime.bigint();
  const plan = engine.plan(from, to);
  const ms = round(Number(process.hrtime.bigint() - began) / 1e6, 1);
  if (!plan.ok) throw new CliError(plan.message, EXIT.failed, { ok: false, reason: plan.reason });
  const clearance = Math.min(...plan.path.map((pose) => wallDistanceAt(costmap, pose)));
  const way = {
    length: round(plan.length, 2),
    straight: round(distance(from, to), 2),
    clearance: round(clearance, 2),
    ms,
  };
  const drawn = options.png === undefined ? null : draw(options.png, bundle, [plan.path], radius);
  cli.result({ ok: true, map: bundle.id, ...way, path: plan.path, picture: drawn?.file ?? null }, () =>
    [cli.t('mapWay', way), ...(drawn === null ? [] : [cli.t('mapDrawn', drawn)])].join('\n'),
  );
  return EXIT.ok;
}

function wallDistanceAt(costmap: StaticCostmap, pose: Pose): number {
  return costmap.wallDistance[costmap.frame.indexAt(pose)] ?? 0;
}

function draw(file: string, bundle: MapBundle, paths: readonly Pose[][], robotRadius: number) {
  const picture = mapPicture(bundle.grid, bundle.areas, { size: DEFAULT_PICTURE_SIZE, paths, robotRadius });
  writeWhole(file, encodePng(picture));
  return { file, width: picture.width, height: picture.height };
}

/** Two numbers, or a room, which stands for the goal in it. */
function placeOf(cli: Cli, bundle: MapBundle, option: string, text: string): Pose {
  const numbers = /^\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*(?:,\s*(-?[\d.]+)\s*)?$/.exec(text);
  if (numbers !== null) {
    const [x, y, theta] = [numbers[1], numbers[2], numbers[3] ?? '0'].map(Number);
    if (x !== undefined && y !== undefined && theta !== undefined && [x, y, theta].every(Number.isFinite)) {
      return { x, y, theta };
    }
  }
  if (text.includes(',') || bundle.areas.rooms.length === 0) {
    throw new CliError(cli.t('badPlace', { option, value: text }), EXIT.usage);
  }
  try {
    return new RoomCatalogue(bundle.areas).resolve(text, option).goal;
  } catch (error) {
    throw new CliError(errorText(error));
  }
}

function radiusOf(cli: Cli, text: string | undefined): number {
  if (text === undefined) return DEFAULT_INFLATION.robotRadius;
  const value = /^[\d.]+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0.05 && value <= 1) return value;
  throw new CliError(cli.t('badRadius', { option: '--radius', value: text }), EXIT.usage);
}

function read(file: string): MapBundle {
  try {
    return loadMapBundle(file);
  } catch (error) {
    throw new CliError(errorText(error));
  }
}

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

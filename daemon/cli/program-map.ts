/** The commands of `deviceagent map`. */
import type { Command } from 'commander';
import type { Translate } from './language.js';
import type { Define } from './program-schedules.js';

export function mapCommands(program: Command, t: Translate, define: Define): void {
  const map = program.command('map').description(t('cmdMap'));
  const inUse = () => import('./commands/map.js');
  define(map, 'show', 'cmdMapShow', async (cli) => (await inUse()).showMap(cli));
  define(map, 'import <file>', 'cmdMapImport', async (cli, [file = ''], options) =>
    (await inUse()).importMap(cli, file, options),
  ).option('--no-rooms', t('optNoRooms'));
  define(map, 'export <dir>', 'cmdMapExport', async (cli, [dir = '']) => (await inUse()).exportMap(cli, dir));
  const drawing = () => import('./commands/map-plan.js');
  define(map, 'draw <file>', 'cmdMapDraw', async (cli, [file = ''], options) =>
    (await drawing()).drawMapFile(cli, file, options),
  ).requiredOption('--png <picture>', t('optPng'));
  define(map, 'plan <file>', 'cmdMapPlan', async (cli, [file = ''], options) =>
    (await drawing()).planOnMap(cli, file, options),
  )
    .requiredOption('--from <place>', t('optFrom'))
    .requiredOption('--to <place>', t('optTo'))
    .option('--radius <m>', t('optRadius'))
    .option('--png <picture>', t('optPng'));
  define(map, 'build', 'cmdMapBuild', async (cli, _, options) =>
    (await import('./commands/map-build.js')).buildMapFile(cli, options),
  )
    .requiredOption('--log <file>', t('optLog'))
    .option('--out <dir>', t('optOut'))
    .option('--resolution <m>', t('optResolution'))
    .option('--no-odometry', t('optNoOdometry'))
    .option('--no-rooms', t('optNoRooms'))
    .option('--radius <m>', t('optRadius'))
    .option('--wheel-radius <m>', t('optWheelRadius'))
    .option('--wheel-base <m>', t('optWheelBase'))
    .option('--ticks-per-turn <n>', t('optTicks'))
    .option('--lidar-x <m>', t('optLidarX'));
}

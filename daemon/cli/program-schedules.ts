/** The commands of `deviceagent schedule`. */
import type { Command } from 'commander';
import type { Cli } from './cli.js';
import type { Translate } from './language.js';

type Run = (cli: Cli, args: string[], options: Record<string, never>) => Promise<number>;
export type Define = (
  parent: Command,
  use: string,
  description: Parameters<Translate>[0],
  run: Run,
) => Command;

export function scheduleCommands(program: Command, t: Translate, define: Define): void {
  const schedule = program.command('schedule').description(t('cmdSchedule'));
  const commands = () => import('./commands/schedule.js');
  define(schedule, 'add <file>', 'cmdScheduleAdd', async (cli, [file = ''], options) =>
    (await commands()).addSchedule(cli, file, options),
  ).option('--key <name>', t('optKey'));
  define(schedule, 'list', 'cmdScheduleList', async (cli, _, options) =>
    (await commands()).listSchedules(cli, options),
  ).option('--limit <n>', t('optLimit'));
  define(schedule, 'show <id>', 'cmdScheduleShow', async (cli, [id = '']) =>
    (await commands()).showSchedule(cli, id),
  );
  const controls = [
    ['pause', 'cmdSchedulePause'],
    ['resume', 'cmdScheduleResume'],
    ['remove', 'cmdScheduleRemove'],
  ] as const;
  for (const [verb, description] of controls) {
    define(schedule, `${verb} <id>`, description, async (cli, [id = '']) =>
      (await commands()).controlSchedule(cli, verb, id),
    );
  }
}

/** The commands and their options. What they do is loaded only when they run, so that help and short ones are quick. */
import { Command, CommanderError, Option } from 'commander';
import { errorText } from '../../config/contracts/errors.js';
import { Cli, type CommonOptions } from './cli.js';
import { CliError, EXIT, type Io } from './io.js';
import { type Language, languageOf, type Translate, translator } from './language.js';
import { mapCommands } from './program-map.js';
import { policyCommands } from './program-policy.js';
import { scheduleCommands } from './program-schedules.js';
import { version } from './version.js';
import { said } from './words-ko.js';

type Run = (cli: Cli, args: string[], options: Record<string, never>) => Promise<number>;

/** Runs the command line and resolves to the exit code. Never throws for what a person can mend. */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  const outcome = { code: EXIT.ok as number };
  const t = translator(languageOf(io.env));
  const program = new Command('deviceagent');
  program
    .description(t('about'))
    .version(version())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, write) =>
        write(`${wrongUsage(text)}; ${t('seeHelp', { command: meant(program, argv) })}\n`),
      getOutHelpWidth: () => io.stdout.columns || 100,
      getErrHelpWidth: () => io.stderr.columns || 100,
    })
    .showSuggestionAfterError(true);
  try {
    const builder = new Builder(t, io, outcome);
    await builder.daemonCommands(program, argv);
    builder.work(program);
    builder.schedules(program);
    builder.state(program);
    builder.offline(program);
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    return report(error, argv, io);
  }
  return outcome.code;
}

/** On one line, as every other error: `deviceagent: unknown command 'tsk' (Did you mean task?)`. */
function wrongUsage(text: string): string {
  return `deviceagent: ${text
    .replace(/^error: /, '')
    .trim()
    .replace(/\.$/, '')
    .replaceAll('\n', ' ')}`;
}

/** The command that the words name, as far as they name one: that is the help to look at. */
function meant(program: Command, argv: readonly string[]): string {
  let command = program;
  const path = [program.name()];
  for (const word of argv) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) break;
    command = next;
    path.push(word);
  }
  return path.join(' ');
}

function report(error: unknown, argv: readonly string[], io: Io): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const known = error instanceof CliError ? error : null;
  const message = messageOf(error, languageOf(io.env));
  const body = known?.body ?? null;
  const json = argv.includes('--json');
  io.stderr.write(json ? `${JSON.stringify(body ?? { error: { message } })}\n` : `deviceagent: ${message}\n`);
  return known?.exitCode ?? EXIT.failed;
}

/** A profile that cannot be used says so in the terminal's language; without loading what reads profiles. */
function messageOf(error: unknown, language: Language): string {
  if (!(error instanceof Error) || error.name !== 'ConfigError') return errorText(error);
  const { file, problems } = error as Error & { file: string; problems: readonly string[] };
  return problems.map((problem) => `${file}: ${said(language, 'profile', problem)}`).join('\n');
}

class Builder {
  readonly #t: Translate;
  readonly #io: Io;
  readonly #outcome: { code: number };

  constructor(t: Translate, io: Io, outcome: { code: number }) {
    this.#t = t;
    this.#io = io;
    this.#outcome = outcome;
  }

  /**
   * `run` and `sim` bring the whole daemon with them: only their names stand here until one of them is meant.
   * `sim inject` talks to a simulation that runs elsewhere and needs nothing of it.
   */
  async daemonCommands(program: Command, argv: readonly string[]): Promise<void> {
    const [first, second] = argv[0] === 'help' ? argv.slice(1) : argv;
    if (first === 'run') (await import('./run.js')).registerRun(program, this.#t);
    else program.command('run').description(this.#t('cmdRun'));
    const sim =
      first === 'sim' && second !== 'inject'
        ? (await import('./sim.js')).registerSim(program, this.#t)
        : program.command('sim').description(this.#t('cmdSim'));
    this.#command(sim, 'inject <what...>', 'cmdInject', async (cli, words) =>
      (await import('./commands/inject.js')).inject(cli, words),
    );
  }

  work(program: Command): void {
    const task = program.command('task').description(this.#t('cmdTask'));
    this.#command(
      task,
      'submit <method> [json]',
      'cmdTaskSubmit',
      async (cli, [method = '', json], options) =>
        (await import('./commands/task.js')).submitTask(cli, method, json, options),
    )
      .option('--wait', this.#t('optWait'))
      .option('--capability', this.#t('optCapability'))
      .option('--priority <n>', this.#t('optPriority'))
      .option('--dry-run', this.#t('optDryRun'))
      .option('--key <name>', this.#t('optKey'));
    this.#listed(task, 'cmdTaskList', async (cli, _, options) =>
      (await import('./commands/task.js')).listTasks(cli, options),
    );
    this.#command(task, 'show <id>', 'cmdTaskShow', async (cli, [id = '']) =>
      (await import('./commands/task.js')).showTask(cli, id),
    );
    const taskControls = [
      ['pause', 'cmdTaskPause'],
      ['resume', 'cmdTaskResume'],
      ['cancel', 'cmdTaskCancel'],
    ] as const;
    for (const [verb, description] of taskControls) {
      this.#command(task, `${verb} <id>`, description, async (cli, [id = '']) =>
        (await import('./commands/task.js')).controlTask(cli, verb, id),
      );
    }

    const workflow = program.command('workflow').description(this.#t('cmdWorkflow'));
    this.#command(workflow, 'submit <file>', 'cmdWorkflowSubmit', async (cli, [file = ''], options) =>
      (await import('./commands/workflow.js')).submitWorkflow(cli, file, options),
    )
      .option('--wait', this.#t('optWait'))
      .option('--key <name>', this.#t('optKey'));
    this.#listed(workflow, 'cmdWorkflowList', async (cli, _, options) =>
      (await import('./commands/workflow.js')).listWorkflows(cli, options),
    );
    this.#command(workflow, 'show <id>', 'cmdWorkflowShow', async (cli, [id = '']) =>
      (await import('./commands/workflow.js')).showWorkflow(cli, id),
    );
    this.#command(
      workflow,
      'amend <id> <file>',
      'cmdWorkflowAmend',
      async (cli, [id = '', file = ''], options) =>
        (await import('./commands/workflow.js')).amendWorkflow(cli, id, file, options),
    ).option('--key <name>', this.#t('optKey'));
    const controls = [
      ['pause', 'cmdWorkflowPause'],
      ['resume', 'cmdWorkflowResume'],
      ['cancel', 'cmdWorkflowCancel'],
    ] as const;
    for (const [verb, description] of controls) {
      this.#command(workflow, `${verb} <id>`, description, async (cli, [id = '']) =>
        (await import('./commands/workflow.js')).controlWorkflow(cli, verb, id),
      );
    }
  }

  schedules(program: Command): void {
    scheduleCommands(program, this.#t, (...given) => this.#command(...given));
    policyCommands(program, this.#t, (...given) => this.#command(...given));
  }

  state(program: Command): void {
    this.#command(program, 'context', 'cmdContext', async (cli, _, options) =>
      (await import('./commands/state.js')).showContext(cli, options),
    )
      .option('--v2', this.#t('optV2'))
      .option('--max-bytes <n>', this.#t('optMaxBytes'));
    this.#command(program, 'events', 'cmdEvents', async (cli, _, options) =>
      (await import('./commands/events.js')).showEvents(cli, options),
    )
      .option('--follow', this.#t('optFollow'))
      .option('--since <seq>', this.#t('optSince'));
    this.#outbox(program.command('outbox').description(this.#t('cmdOutbox')));
    this.#command(program, 'methods [name]', 'cmdMethods', async (cli, [name]) =>
      (await import('./commands/state.js')).showMethods(cli, name),
    );
    this.#command(program, 'capabilities', 'cmdCapabilities', async (cli) =>
      (await import('./commands/state.js')).showCapabilities(cli),
    );
    this.#command(program, 'doctor', 'cmdDoctor', async (cli, _words, options) =>
      (await import('./commands/doctor.js')).doctor(cli, options),
    ).option('--config <file>', this.#t('optDoctorConfig'));
    const estop = this.#command(program, 'estop', 'cmdEstop', async (cli) =>
      (await import('./commands/state.js')).pressEstop(cli),
    );
    this.#command(estop, 'release', 'cmdEstopRelease', async (cli) =>
      (await import('./commands/state.js')).releaseEstop(cli),
    );
    this.#command(program, 'console', 'cmdConsole', async (cli) =>
      (await import('./commands/state.js')).consoleAddress(cli),
    );
    mapCommands(program, this.#t, (...given) => this.#command(...given));
  }

  #outbox(outbox: Command): void {
    this.#command(outbox, 'status', 'cmdOutboxStatus', async (cli) =>
      (await import('./commands/outbox.js')).outboxStatus(cli),
    );
    this.#command(outbox, 'dead-letters', 'cmdOutboxLetters', async (cli) =>
      (await import('./commands/outbox.js')).deadLetters(cli),
    );
    const changes = [
      ['requeue', 'cmdOutboxRequeue'],
      ['drop', 'cmdOutboxDrop'],
    ] as const;
    for (const [verb, description] of changes) {
      this.#command(outbox, `${verb} <id|all...>`, description, async (cli, ids) =>
        (await import('./commands/outbox.js')).changeLetters(cli, verb, ids),
      );
    }
  }

  offline(program: Command): void {
    this.#command(program, 'schema [name]', 'cmdSchema', async (cli, [name]) =>
      (await import('./commands/schema.js')).showSchema(cli, name),
    );
    const config = program.command('config').description(this.#t('cmdConfig'));
    this.#command(config, 'check <file>', 'cmdConfigCheck', async (cli, [file = '']) =>
      (await import('./commands/offline.js')).checkConfig(cli, file),
    );
    this.#command(program, 'failsafe', 'cmdFailsafe', async (cli) =>
      (await import('./commands/offline.js')).showFailsafe(cli),
    );
    this.#command(program, 'replay <file>', 'cmdReplay', async (cli, [file = ''], options) =>
      (await import('./commands/offline.js')).replay(cli, file, options),
    ).option('--kind <device>', this.#t('optKind'));
  }

  #listed(parent: Command, description: 'cmdTaskList' | 'cmdWorkflowList', run: Run): void {
    this.#command(parent, 'list', description, run)
      .option('--active', this.#t('optActive'))
      .option('--limit <n>', this.#t('optLimit'));
  }

  /** `use`: the name and its arguments, e.g. `show <id>`. */
  #command(parent: Command, use: string, description: Parameters<Translate>[0], run: Run): Command {
    return parent
      .command(use)
      .description(this.#t(description))
      .addOption(new Option('--state-dir <dir>', this.#t('optStateDir')))
      .addOption(new Option('--json', this.#t('optJson')))
      .action(async (...given: unknown[]) => {
        // Commander hands over the arguments, then the options, then the command itself.
        const command = given.at(-1) as Command;
        const options = command.optsWithGlobals<CommonOptions & Record<string, never>>();
        const args = given
          .slice(0, -2)
          .flatMap((arg) => (arg === undefined ? [] : (arg as string | string[])));
        this.#outcome.code = await run(new Cli(this.#io, options), args, options);
      });
  }
}

import { InvalidArgumentError, Option } from 'commander';
import type { CliCommand } from './cli-command.ts';
import type { CliDependencies } from './command-line.ts';
import { aborted } from '../support/time.ts';
import { operatorOption, numberOption, spanOption } from './options.ts';

interface ConsoleOptions {
  readonly host: string;
  readonly port: number;
  readonly operator?: string;
  readonly readOnly?: boolean;
  readonly idle: number;
  readonly open: boolean;
}

const NEW_ADDRESS = 'n';
const HIGHEST_PORT = 65_535;
const IDLE = '30m';
/** Whatever is longer is as long: dates end somewhere. */
const LONGEST_IDLE_MS = 36_525 * 86_400_000;

const idleOption = (text: string): number => {
  const span = spanOption(text);
  if (span > 0) return Math.min(span, LONGEST_IDLE_MS);
  throw new InvalidArgumentError('No session would last so long as to be used.');
};

export const addConsoleCommand = (program: CliCommand): void => {
  program
    .command('console')
    .description("pages in a browser for the fund's desk: decide, look up, reconcile, audit")
    .option('--host <address>', 'where it listens', '127.0.0.1')
    .option('--port <n>', 'where it listens; 0 takes one that is free', numberOption(HIGHEST_PORT), 0)
    .option(
      '--operator <name>',
      'who decides here, as it is recorded (default: your login name)',
      operatorOption,
    )
    .option('--read-only', 'nothing can be changed: for auditors')
    .addOption(
      new Option('--idle <span>', 'a session that was not used for so long ends')
        .argParser(idleOption)
        .default(spanOption(IDLE), IDLE),
    )
    .option('--no-open', 'do not open a browser')
    .told(
      'Prints an address that opens the console once, and opens it where there is a display; n prints a new one. The operator is\n' +
        'recorded with each decision as you name it: nothing proves it. Works beside the running service. Ends when it is interrupted.\n' +
        'With CONSOLE_OIDC_ISSUER people sign in: it prints CONSOLE_PUBLIC_URL, they decide in their own names, and --operator is refused.',
      'console',
      'console --operator maria.souza --port 4200',
      'console --read-only --no-open',
    )
    .action((options: ConsoleOptions) => run(options, program.dependencies));
};

const run = async (options: ConsoleOptions, dependencies: CliDependencies): Promise<void> => {
  const { host, port, idle, readOnly = false, operator } = options;
  const signal = dependencies.untilInterrupted();
  const named = operator === undefined ? {} : { operator };
  const running = await dependencies.openConsole({ host, port, ...named, readOnly, idleMs: idle });
  let shown = new AbortController();
  try {
    const show = async (): Promise<void> => {
      shown.abort();
      const current = (shown = new AbortController());
      const address = running.newAddress(() => current.abort());
      await dependencies.write(`${address}\n`);
      if (options.open) await dependencies.openBrowser(address, current.signal);
    };
    dependencies.onKey((key) => key === NEW_ADDRESS && void show(), signal);
    await show();
    await aborted(signal);
  } finally {
    shown.abort();
    await running.close();
  }
};

import { rmSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { aborted } from '../support/time.ts';
import type { CliCommand } from './cli-command.ts';
import type { CliDependencies } from './command-line.ts';
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

const PREFIX = 'receivables-console-';
/** Nothing that a file of this age says still opens anything. */
const STALE_MS = 3_600_000;

/** Leads to the address, and tells no page where from. The address as a URL writes it needs no escapes. */
const pageFor = ({ href, origin }: URL): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${href}">
<title>receivables console</title>
<p><a href="${href}">${origin}</a></p>
</html>
`;

/** What was left by a console that was killed. */
const removeStale = async (parent: string): Promise<void> => {
  const names = (await readdir(parent)).filter((name) => name.startsWith(PREFIX));
  for (const path of names.map((name) => join(parent, name))) {
    const { mtimeMs, uid } = await lstat(path);
    const own = uid === (process.getuid?.() ?? uid);
    if (own && Date.now() - mtimeMs > STALE_MS) await rm(path, { recursive: true });
  }
};

/** A directory that nobody else can look into, under a name that nobody can guess. */
const privateDirectory = async (): Promise<string> => {
  // A browser in a sandbox of its own (snap) reads what is not hidden of its user's files, and has another /tmp.
  for (const parent of [homedir(), tmpdir()]) {
    await removeStale(parent).catch(() => undefined);
    const made = await mkdtemp(join(parent, PREFIX)).catch(() => undefined);
    if (made !== undefined) return made;
  }
  throw new Error('there is no place for a private file');
};

/**
 * Puts the address into a file that its owner alone can read, and that leads there: what a process is started with, every user of the
 * machine can read.
 * @param until the file is gone once this is aborted
 * @returns where the file is
 */
export const handOver = async (address: string, until: AbortSignal): Promise<string> => {
  const directory = await privateDirectory();
  const remove = (): void => {
    try {
      rmSync(directory, { recursive: true });
    } catch {
      // The next console tries again; by then it opens nothing any more.
    }
  };
  until.addEventListener('abort', remove, { once: true });
  const file = join(directory, 'open.html');
  await writeFile(file, pageFor(new URL(address)), { flag: 'wx', mode: 0o600 });
  if (until.aborted) remove();
  return file;
};

/**
 * Opens an address in the browser of this machine, where there is one: on Linux, only with a display. No process is told the address.
 * @param until what it takes to do so is gone once this is aborted
 */
export const openBrowser = async (address: string, until: AbortSignal): Promise<void> => {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  if (process.platform === 'linux' && (DISPLAY ?? WAYLAND_DISPLAY ?? '') === '') return;
  const { default: open } = await import('open');
  // The address was printed, and a browser that does not start is no reason to end.
  const browser = await handOver(address, until).then(open, () => undefined);
  browser?.on('error', () => undefined);
};

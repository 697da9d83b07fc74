import packageJson from '../../package.json' with { type: 'json' };
import { openBrowser } from '../cli/console-command.ts';
import { runProgram } from '../cli/program.ts';
import { CommandOutput, ask, onKey, progressOn, showsColours, untilInterrupted } from '../cli/terminal.ts';
import { createLogger } from '../observability/logging.ts';
import { opening } from '../support/opening.ts';
import { PRIVATE_UMASK } from '../support/private-files.ts';
import { readConsoleConfiguration, refuseOpenConsole } from './console-configuration.ts';
import { readConfiguration } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import type { Parts } from './parts.ts';

const logToStandardError = (level: Configuration['logLevel']) =>
  createLogger(level, { write: (line: string) => void process.stderr.write(line) });

/**
 * Opens the same stores as the service, which may be running, and others move the clock of a sandbox meanwhile. The log goes to standard
 * error: the answer is alone on the other.
 */
const openParts = async (): Promise<{ readonly app: Parts; close(): Promise<void> }> => {
  const configuration = readConfiguration(process.env);
  // The engines and what is built on them come when a command uses them: help and wrong use are answered without.
  const { requireServiceData } = await import('./data-directory.ts');
  requireServiceData(configuration);
  const { openFoundations } = await import('./foundations.ts');
  const { partsOf } = await import('./container.ts');
  const app = partsOf(await openFoundations(configuration, logToStandardError(configuration.logLevel)));
  const stop = new AbortController();
  const following = app.sandboxClock?.follow(stop.signal);
  return {
    app,
    close: async () => {
      stop.abort();
      await following;
      await app.close();
    },
  };
};

const backups = async () => (await import('./data-directory.ts')).backupsOf(process.env);

process.umask(PRIVATE_UMASK);
const output = new CommandOutput(process.stdout, [process.stderr]);
const code = await runProgram(process.argv.slice(2), {
  open: openParts,
  openMove: async (targets) => {
    const configuration = readConfiguration(process.env);
    // It brings the clients of the other engines with it.
    const { openMoveFor } = await import('./maintenance/migrate.ts');
    return openMoveFor(configuration, targets, logToStandardError(configuration.logLevel));
  },
  openConsole: async (settings) => {
    const desk = readConsoleConfiguration(process.env);
    refuseOpenConsole(desk, settings);
    // It brings the pages and what draws them with it.
    const { openConsole } = await import('./console.ts');
    return opening(async (kept, close) => {
      const { app } = kept(await openParts());
      return { ...kept(await openConsole(app, settings, desk)), close };
    });
  },
  openBrowser,
  version: packageJson.version,
  terminal: process.stdout.isTTY,
  colour: showsColours(process.stdout, process.env),
  write: (text) => output.write(text),
  writeError: (text) => void process.stderr.write(text),
  startProgress: progressOn(process.stderr),
  ask,
  examine: async () => {
    const { examine } = await import('./maintenance/doctor.ts');
    return examine(process.env, ({ logLevel }) => logToStandardError(logLevel));
  },
  onKey,
  backups: {
    write: async (request) => (await backups()).write(request),
    restore: async (request) => (await backups()).restore(request),
  },
  untilInterrupted: () => untilInterrupted(output),
});
const failure = await output.failure();
if (failure)
  process.stderr.write(
    `error: what the command answers cannot be written: ${failure.message}. Make room where standard output goes; what the command changes may have been changed\n`,
  );
process.exitCode = code || Number(failure !== undefined);

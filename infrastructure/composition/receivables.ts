import type { Container } from 'inversify';
import packageJson from '../../package.json' with { type: 'json' };
import type { CliServices } from '../cli/cli-services.ts';
import { runProgram } from '../cli/program.ts';
import {
  CommandOutput,
  ask,
  onKey,
  openBrowser,
  progressOn,
  showsColours,
  untilInterrupted,
} from '../cli/terminal.ts';
import { createLogger } from '../observability/logging.ts';
import { PRIVATE_UMASK } from '../support/private-files.ts';
import { backupServices, requireServiceData } from './data-directory.ts';
import { examine } from './areas/doctor.ts';
import { commandLineServices } from './command-line.ts';
import { readConfiguration } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { TOKENS, createContainer } from './container.ts';
import { openFoundations } from './foundations.ts';

const logToStandardError = (level: Configuration['logLevel']) =>
  createLogger(level, { write: (line: string) => void process.stderr.write(line) });

/** Opens the same stores as the service, which may be running. Its log goes to standard error: the answer is alone on the other. */
const openContainer = async (): Promise<Container> => {
  const configuration = readConfiguration(process.env);
  requireServiceData(configuration);
  const logger = logToStandardError(configuration.logLevel);
  const foundations = await openFoundations(configuration, logger);
  return createContainer(foundations);
};

const open = async (): Promise<CliServices> => commandLineServices(await openContainer());

process.umask(PRIVATE_UMASK);
const output = new CommandOutput(process.stdout, [process.stderr]);
process.exitCode = await runProgram(process.argv.slice(2), {
  open,
  openMove: async (targets) => {
    const configuration = readConfiguration(process.env);
    // It brings the clients of the other engines with it.
    const { openMoveFor } = await import('./areas/migrate.ts');
    return openMoveFor(configuration, targets, logToStandardError(configuration.logLevel));
  },
  openConsole: async (settings) => {
    const container = await openContainer();
    // It brings the pages and what draws them with it.
    const { openConsole } = await import('./areas/console.ts');
    const running = await openConsole(container, settings);
    return {
      ...running,
      close: async () => {
        await running.close();
        await container.get(TOKENS.foundations).engines.close();
      },
    };
  },
  openBrowser,
  version: packageJson.version,
  terminal: process.stdout.isTTY,
  colour: showsColours(process.stdout, process.env),
  write: (text) => output.write(text),
  writeError: (text) => void process.stderr.write(text),
  startProgress: progressOn(process.stderr),
  ask,
  examine: () => examine(process.env, ({ logLevel }) => logToStandardError(logLevel)),
  onKey,
  backups: () => backupServices(process.env),
  untilInterrupted: () => untilInterrupted(output),
});

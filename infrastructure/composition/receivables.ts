import packageJson from '../../package.json' with { type: 'json' };
import type { CliServices } from '../cli/cli-services.ts';
import { runProgram } from '../cli/program.ts';
import { CommandOutput, ask, onKey, progressOn, showsColours, untilInterrupted } from '../cli/terminal.ts';
import { createLogger } from '../observability/logging.ts';
import { PRIVATE_UMASK } from '../support/private-files.ts';
import { backupServices } from './areas/backup.ts';
import { examine } from './areas/doctor.ts';
import { commandLineServices } from './command-line.ts';
import { readConfiguration } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { createContainer } from './container.ts';
import { requireServiceData } from './data-directory.ts';
import { openFoundations } from './foundations.ts';

const logToStandardError = (level: Configuration['logLevel']) =>
  createLogger(level, { write: (line: string) => void process.stderr.write(line) });

/** Opens the same stores as the service, which may be running. Its log goes to standard error: the answer is alone on the other. */
const open = async (): Promise<CliServices> => {
  const configuration = readConfiguration(process.env);
  requireServiceData(configuration);
  const logger = logToStandardError(configuration.logLevel);
  const foundations = await openFoundations(configuration, logger);
  return commandLineServices(createContainer(foundations));
};

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

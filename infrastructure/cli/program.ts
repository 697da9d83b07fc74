import { BrokenSealBookError } from '../../application/audit/seals/seal-log.ts';
import { UnknownSigningKeyError } from '../../application/clients/tokens.ts';
import { EarlierReleaseError } from '../../application/event-codec/stored-formats.ts';
import { RotationRefusedError } from '../../application/maintenance/master-key-rotation.ts';
import { NotAcceptedError } from '../../application/ports/event-bus.ts';
import { messageOf } from '../../application/support/failures.ts';
import { CommanderError, Help } from 'commander';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { addAdministratorCommands } from './administrator-commands.ts';
import { addAuditCommands } from './audit-commands.ts';
import {
  addBackupCommands,
  addMigrateCommand,
  addSandboxCommands,
  addStatusCommands,
  addUpgradeCommands,
} from './service-commands.ts';
import { addBorrowerCommands } from './borrower-commands.ts';
import { CliCommand, FUND } from './cli-command.ts';
import { addClientCommands, addKeyCommands } from './client-commands.ts';
import { DifferencesFoundError, NotAllowedError, OutputClosedError, WrongUseError } from './command-line.ts';
import type { CliDependencies, CommandDependencies } from './command-line.ts';
import { addCompletionCommand } from './completion-command.ts';
import { addConsoleCommand } from './console-command.ts';
import { addDeadLetterCommands, addTopicCommands } from './kafka-commands.ts';
import { addDeskCommands } from './desk-commands.ts';
import { addEventsCommand, addListenCommand } from './events-commands.ts';
import { addFollowersCommands, addProjectionsCommands } from './followers-commands.ts';
import { addFundCommands } from './fund-commands.ts';
import { addLoanCommands } from './loan-commands.ts';
import { addPortfolioCommand, addReconcileCommand } from './portfolio-commands.ts';
import { addQuarantineCommands } from './quarantine-commands.ts';
import { shownOnly } from '../presenting/terminal-text.ts';
import { addWebhookCommands } from './webhook-commands.ts';

const DONE = 0;
const FAILED = 1;
const WRONG_USE = 2;
/** The rules of the service say no, or it knows no such id. */
const NOT_ALLOWED = 3;
const DIFFERENT = 4;

/** What a rule of the domain says of how the command was written. Any other rule says no to what it means. */
const WRITTEN_WRONGLY: ReadonlySet<string> = new Set(['validation_error', 'invalid_query_parameter']);
/** Another try may succeed. */
const PASSING: ReadonlySet<string> = new Set(['concurrent_modification']);

/** What modules and commands throw, and what the process ends with; anything else has failed. */
const EXIT_CODES: readonly (readonly [error: abstract new (...given: never) => Error, code: number])[] = [
  [DifferencesFoundError, DIFFERENT],
  [BrokenSealBookError, DIFFERENT],
  [NotAllowedError, NOT_ALLOWED],
  [NotAcceptedError, NOT_ALLOWED],
  [UnknownSigningKeyError, NOT_ALLOWED],
  [EarlierReleaseError, NOT_ALLOWED],
  [WrongUseError, WRONG_USE],
  [RotationRefusedError, WRONG_USE],
];

const exitCodeOf = (error: unknown): number => {
  const [, known] = EXIT_CODES.find(([type]) => error instanceof type) ?? [];
  if (known !== undefined) return known;
  if (!(error instanceof DomainError) || PASSING.has(error.code)) return FAILED;
  return WRITTEN_WRONGLY.has(error.code) ? WRONG_USE : NOT_ALLOWED;
};

/** The command line. Parsing throws instead of ending the process; `runProgram` turns that into an exit code. */
export const createProgram = (dependencies: CommandDependencies): CliCommand => {
  const program = new CliCommand(dependencies, 'receivables')
    .description('Administration of the receivables fund service. Works while the service runs.')
    .version(dependencies.version, '-V, --version', 'print the version of the program')
    .exitOverride()
    .configureOutput({
      // The library does not wait for its help to be written; that its reader may have left is no failure.
      writeOut: (text) => void Promise.resolve(dependencies.write(text)).catch(() => undefined),
      writeErr: (text) => dependencies.writeError(text),
    })
    .configureHelp({
      optionDescription: (option) =>
        `${Help.prototype.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`,
    })
    .told(
      'What is listed or shown is a table on a terminal and JSON elsewhere, one element a line; -o table, -o json and -o csv choose,\n' +
        '--output writes it to a file. NO_COLOR turns colours off. Any other result is one JSON object.\n' +
        '\n' +
        'Exit codes: 0 done, 1 failed, 2 wrong use, 3 not allowed or not known, 4 differences found.',
      `client create --name "Acme Originator" --fund ${FUND}`,
    );
  addStatusCommands(program);
  addClientCommands(program);
  addFundCommands(program);
  addLoanCommands(program);
  addAdministratorCommands(program);
  addWebhookCommands(program);
  addEventsCommand(program);
  addListenCommand(program);
  addConsoleCommand(program);
  addPortfolioCommand(program);
  addReconcileCommand(program);
  addAuditCommands(program);
  addDeskCommands(program);
  addBorrowerCommands(program);
  addKeyCommands(program);
  addProjectionsCommands(program);
  addFollowersCommands(program);
  addBackupCommands(program);
  addMigrateCommand(program);
  addCompletionCommand(program);
  addTopicCommands(program);
  addDeadLetterCommands(program);
  addUpgradeCommands(program);
  addSandboxCommands(program);
  addQuarantineCommands(program);
  return program;
};

/** Others chose much of what is printed: none of it may do anything to a terminal. */
const forTerminals = (dependencies: CliDependencies): CommandDependencies => ({
  ...dependencies,
  write: (text) => dependencies.write(shownOnly(text)),
  show: (text) => dependencies.write(text),
  writeError: (text) => dependencies.writeError(shownOnly(text)),
  ask: (question) => dependencies.ask(shownOnly(question)),
});

/** The library's own `help` looks at the first name alone. */
const withHelp = (args: readonly string[]): readonly string[] =>
  args[0] === 'help' && args.length > 2 ? [...args.slice(1), '--help'] : args;

/**
 * Runs one command.
 * @param args what follows the program's name
 * @returns the exit code: 0 done, 1 failed, 2 wrong use, 3 the service says no, 4 differences found
 */
export const runProgram = async (args: readonly string[], given: CliDependencies): Promise<number> => {
  const dependencies = forTerminals(given);
  try {
    await createProgram(dependencies).parseAsync([...withHelp(args)], { from: 'user' });
    return DONE;
  } catch (error) {
    if (error instanceof OutputClosedError) return DONE;
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USE;
    const code = exitCodeOf(error);
    dependencies.writeError(`${code === DIFFERENT ? '' : 'error: '}${messageOf(error)}\n`);
    return code;
  }
};

import { Command, CommanderError } from 'commander';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { addAdministratorCommands } from './administrator-commands.ts';
import { addAuditCommands } from './audit-commands.ts';
import { addBackupCommands } from './backup-commands.ts';
import { addBorrowerCommands } from './borrower-commands.ts';
import {
  DecisionRefusedError,
  DifferencesFoundError,
  NotAllowedError,
  OutputClosedError,
  WrongUseError,
} from './cli-services.ts';
import type { CliDependencies } from './cli-services.ts';
import { addClientCommands } from './client-commands.ts';
import { addEventsCommand } from './events-commands.ts';
import { addKeyCommands } from './key-commands.ts';
import { addMigrateCommand } from './migrate-commands.ts';
import { addProjectionsCommands } from './projections-commands.ts';
import { addPortfolioCommand } from './portfolio-commands.ts';
import { addReconcileCommand } from './reconcile-commands.ts';
import { shownOnly } from './terminal-text.ts';
import { addWebhookCommands } from './webhook-commands.ts';

const DONE = 0;
const FAILED = 1;
const WRONG_USE = 2;
/** The rules of the service say no, or it knows no such id. */
const NOT_ALLOWED = 3;
const DIFFERENT = 4;
/** Said by a rule of the domain, and yet the command was well written. */
const NOT_POSSIBLE: ReadonlySet<string> = new Set(['webhook_not_found', 'webhook_invalid_state']);

const isRefusedFund = (error: unknown): boolean =>
  error instanceof DomainError && error.code === 'fund_not_allowed';

/** The command line. Parsing throws instead of ending the process; `runProgram` turns that into an exit code. */
export const createProgram = (dependencies: CliDependencies): Command => {
  const program = new Command('receivables')
    .description('Administration of the receivables fund service. Works while the service runs.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void dependencies.write(text),
      writeErr: (text) => dependencies.writeError(text),
    })
    .addHelpText(
      'after',
      '\nResults are JSON on standard output: one object, or one a line. Exit codes: 0 done, 1 failed, 2 wrong use, 3 not\nallowed or not known, 4 differences found.\n\nExample:\n' +
        '  receivables client create --name "Acme Originator" --fund 3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10',
    );
  addClientCommands(program, dependencies);
  addKeyCommands(program, dependencies);
  addWebhookCommands(program, dependencies);
  addAdministratorCommands(program, dependencies);
  addEventsCommand(program, dependencies);
  addReconcileCommand(program, dependencies);
  addPortfolioCommand(program, dependencies);
  addAuditCommands(program, dependencies);
  addBorrowerCommands(program, dependencies);
  addProjectionsCommands(program, dependencies);
  addBackupCommands(program, dependencies);
  addMigrateCommand(program, dependencies);
  return program;
};

/** Others chose much of what is printed: none of it may do anything to a terminal. */
const forTerminals = (dependencies: CliDependencies): CliDependencies => ({
  ...dependencies,
  write: (text) => dependencies.write(shownOnly(text)),
  writeError: (text) => dependencies.writeError(shownOnly(text)),
  ...(dependencies.ask && { ask: (question: string) => dependencies.ask!(shownOnly(question)) }),
});

/**
 * Runs one command.
 * @param args what follows the program's name
 * @returns the exit code: 0 done, 1 failed, 2 wrong use, 3 the service says no, 4 differences found
 */
export const runProgram = async (args: readonly string[], given: CliDependencies): Promise<number> => {
  const dependencies = forTerminals(given);
  try {
    await createProgram(dependencies).parseAsync([...args], { from: 'user' });
    return DONE;
  } catch (error) {
    if (error instanceof OutputClosedError) return DONE;
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USE;
    dependencies.writeError(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    if (error instanceof NotAllowedError || isRefusedFund(error)) return NOT_ALLOWED;
    if (error instanceof DifferencesFoundError) return DIFFERENT;
    if (error instanceof DecisionRefusedError || error instanceof WrongUseError) return WRONG_USE;
    return error instanceof DomainError && !NOT_POSSIBLE.has(error.code) ? WRONG_USE : FAILED;
  }
};

import { randomUUID } from 'node:crypto';
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import type { DecisionName } from '../../application/administrator/decision-schema.ts';
import { addApply } from './apply-decisions-command.ts';
import { DecisionRefusedError, answer } from './cli-services.ts';
import type { CliDependencies, CliServices } from './cli-services.ts';
import { patiently } from './patience.ts';
import { presentAnswer } from './present-decision.ts';

interface CommonOptions {
  readonly application?: string;
  readonly id?: string;
  readonly decidedAt?: string;
  readonly note?: string;
}

interface SingleDecision<Options> {
  readonly command: string;
  readonly decision: DecisionName;
  readonly description: string;
  readonly example: string;
  /** Fields of the decision that only this one has. */
  readonly details?: (options: Options) => object;
  readonly options?: (command: Command) => Command;
}

/** `administrator approve`, `reject`, `sign`, `disburse`, `process-repurchase`, `apply`. */
export const addAdministratorCommands = (program: Command, dependencies: CliDependencies): void => {
  const administrator = program
    .command('administrator')
    .description("the administrator's decisions: in production nothing moves without one")
    .addHelpText('after', '\nExample:\n  receivables administrator approve OP-2026-000123');
  const add = <Options>(decision: SingleDecision<Options>): void =>
    addDecision(administrator, dependencies, decision);
  add({
    command: 'approve',
    decision: 'approve',
    description: 'the operation meets the criteria of the fund',
    example: 'approve OP-2026-000123 --application acme',
  });
  add<{ readonly reason: readonly object[] }>({
    command: 'reject',
    decision: 'reject',
    description: 'turn a received operation down, for good',
    example: 'reject OP-2026-000123 --reason "concentration_limit: too much of one borrower"',
    options: (command) =>
      command.requiredOption('--reason <code: message>', 'why; repeat for more', collectReason),
    details: ({ reason }) => ({ reasons: reason }),
  });
  add({
    command: 'sign',
    decision: 'sign_term',
    description: 'the term of an approved operation is signed',
    example: 'sign OP-2026-000123',
  });
  add<{ readonly date: string; readonly value: number }>({
    command: 'disburse',
    decision: 'disburse',
    description: 'the fund paid: the operation is active from here on',
    example: 'disburse OP-2026-000123 --date 2026-01-15 --value 1800.00',
    options: (command) =>
      command
        .requiredOption('--date <date>', 'the day on which the fund paid, such as 2026-01-15')
        .requiredOption('--value <amount>', 'what the fund paid, such as 1800.00', amount),
    details: ({ date, value }) => ({ disbursement_date: date, disbursed_value: value }),
  });
  add({
    command: 'process-repurchase',
    decision: 'process_repurchase',
    description: 'a requested repurchase is through: the operation has left the fund',
    example: 'process-repurchase OP-2026-000123',
  });
  addApply(administrator, dependencies);
};

const addDecision = <Options>(
  administrator: Command,
  dependencies: CliDependencies,
  { command, decision, description, example, details, options }: SingleDecision<Options>,
): void => {
  const added = administrator
    .command(command)
    .description(description)
    .argument('<code>', 'originator_proposal_code of the operation')
    .option('--application <id>', 'whose operation (default: the only application that has the code)')
    .option('--id <decision_id>', 'name of this decision, for sending it again (default: a new UUID)')
    .option('--decided-at <time>', 'when it was decided, such as 2026-01-15T12:00:00Z (default: now)')
    .option('--note <text>', 'for the audit; never published, no personal data');
  (options?.(added) ?? added)
    .addHelpText(
      'after',
      '\nPrints {decision_id, application_id, originator_proposal_code, decision, outcome, status}; the outcome is applied or\n' +
        `already_applied. A refused decision changes nothing: exit code 2.\n\nExample:\n  receivables administrator ${example}`,
    )
    .action((code: string, given: Options & CommonOptions) =>
      answer(dependencies, (services) => decide(services, code, given, { decision, ...details?.(given) })),
    );
};

const decide = async (
  { administrator }: CliServices,
  code: string,
  { application, id, decidedAt, note }: CommonOptions,
  contents: object,
): Promise<object> => {
  const text = JSON.stringify({
    decision_id: id ?? randomUUID(),
    application_id: application ?? (await administrator.applicationOf(code)),
    originator_proposal_code: code,
    ...contents,
    decided_at: decidedAt,
    note,
  });
  const [given] = await patiently(() => administrator.submitAll([text]));
  if (given === undefined || given.outcome === 'refused') {
    throw new DecisionRefusedError(`${given?.reason.code}: ${given?.reason.message}`);
  }
  return presentAnswer(given);
};

const collectReason = (text: string, previous: readonly object[] = []): readonly object[] => {
  const [, code, message] = /^([^:\s]+):\s*(\S.*)$/.exec(text) ?? [];
  if (code !== undefined && message !== undefined) return [...previous, { code, message }];
  throw new InvalidArgumentError('It must be a code and a message, such as "fraud: the invoice is forged".');
};

const amount = (text: string): number => {
  if (/^\d{1,9}(\.\d{1,2})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be an amount such as 1800.00.');
};

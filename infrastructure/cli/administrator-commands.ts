import { randomUUID } from 'node:crypto';
import { InvalidArgumentError } from 'commander';
import { FUND } from './cli-command.ts';
import type { CliCommand } from './cli-command.ts';
import { isReasonCode } from '../../application/publication/description/decision-schema.ts';
import type { DecisionName } from '../../application/publication/description/decision-schema.ts';
import type { PendingOperation } from '../../application/administrator/worklists.ts';
import type { WaitingStatus } from '../../domain/loan/statuses.ts';
import { addAwaitingCommands } from './awaiting-commands.ts';
import { addApply } from './apply-decisions.ts';
import type { App } from '../../application/app.ts';
import { money } from '../presenting/columns.ts';
import { NotAllowedError, WrongUseError } from './command-line.ts';
import {
  userOfSystem,
  dateOption,
  instantOption,
  FUND_OPTION,
  applicationWith,
  amountInCents,
} from './options.ts';
import { addPending, decideAllPending } from './pending-operations.ts';
import { presentAnswer, submitting } from './desk-lines.ts';

interface CommonOptions {
  readonly allPending?: boolean;
  readonly fund?: string;
  readonly yes?: boolean;
  readonly application?: string;
  readonly id?: string;
  readonly decidedAt?: string;
  readonly note?: string;
  readonly expectedStatus?: string;
  readonly operator?: string;
  /** Of a disbursement. */
  readonly value?: number;
  readonly confirmValue?: number;
}

interface SingleDecision<Options> {
  readonly command: string;
  readonly decision: DecisionName;
  readonly description: string;
  readonly example: string;
  /** What operations wait in for it. */
  readonly from: readonly WaitingStatus[];
  /** Fields of the decision that only this one has. The operation is there for one of many. */
  readonly details?: (options: Options, operation?: PendingOperation) => object;
  readonly options?: (command: CliCommand) => CliCommand;
}

export const addAdministratorCommands = (program: CliCommand): void => {
  const administrator = program
    .command('administrator')
    .description("the administrator's decisions: in production nothing moves without one")
    .told('', 'administrator approve OP-2026-000123');
  addPending(administrator);
  const add = <Options>(decision: SingleDecision<Options>): void => addDecision(administrator, decision);
  add({
    command: 'approve',
    decision: 'approve',
    from: ['received'],
    description: 'the operation meets the criteria of the fund',
    example: 'approve OP-2026-000123 --application "Acme Originator"',
  });
  add<{ readonly reason: readonly object[] }>({
    command: 'reject',
    decision: 'reject',
    from: ['received'],
    description: 'turn a received operation down, for good',
    example: 'reject OP-2026-000123 --reason "concentration_limit: too much of one borrower"',
    options: (command) =>
      command.requiredOption('--reason <code: message>', 'why; repeat for more', collectReason),
    details: ({ reason }) => ({ reasons: reason }),
  });
  add({
    command: 'sign',
    decision: 'sign_term',
    from: ['approved'],
    description: 'the term of an approved operation is signed',
    example: 'sign OP-2026-000123',
  });
  add<{ readonly date: string; readonly value?: number; readonly confirmValue?: number }>({
    command: 'disburse',
    decision: 'disburse',
    from: ['term_signed'],
    description: 'the fund paid: the operation is active from here on',
    example: 'disburse OP-2026-000123 --date 2026-01-15 --value 1800.00',
    options: (command) =>
      command
        .requiredOption('--date <date>', 'the day on which the fund paid, such as 2026-01-15', dateOption)
        .option(
          '--value <amount>',
          'what the fund paid, such as 1800.00; of --all-pending each its own acquisition value',
          amount,
        )
        .option(
          '--confirm-value <amount>',
          'the value a second time: needed where it is far from the acquisition value (DISBURSEMENT_TOLERANCE)',
          amount,
        ),
    details: ({ date, value, confirmValue }, operation) => ({
      disbursement_date: date,
      disbursed_value: value ?? (operation && Number(money(operation.acquisitionValue))),
      confirmed_value: confirmValue,
    }),
  });
  add({
    command: 'process-repurchase',
    decision: 'process_repurchase',
    from: ['repurchase_pending'],
    description: 'a requested repurchase is through: the operation has left the fund',
    example: 'process-repurchase OP-2026-000123',
  });
  addApply(administrator);
  addAwaitingCommands(administrator);
};

const addDecision = <Options>(
  administrator: CliCommand,
  { command, decision, description, example, details, options, from }: SingleDecision<Options>,
): void => {
  const added = administrator
    .command(command)
    .description(description)
    .argument('[code]', 'originator_proposal_code of the operation; left out with --all-pending')
    .option(
      '--application <id|name>',
      'whose operation: an id, or the name of a client (default: the only application that has the code)',
    )
    .option(
      '--all-pending',
      `every operation of --fund that is ${from.join(' or ')}; shows them and asks first`,
    )
    .option(FUND_OPTION, 'with --all-pending: of this fund')
    .option('--yes', 'with --all-pending: do not ask; needed where nobody can answer')
    .option('--id <decision_id>', 'name of this decision, for sending it again (default: a new UUID)')
    .option(
      '--decided-at <time>',
      'when it was decided, such as 2026-01-15T12:00:00Z (default: now)',
      instantOption,
    )
    .option('--note <text>', 'for the audit; never published, no personal data')
    .option('--expected-status <status>', 'refuse it where the operation is not in this status any more');
  (options?.(added) ?? added)
    .deciding()
    .told(
      'Prints {decision_id, application_id, originator_proposal_code, decision, outcome, status}, for --all-pending one a line; the\n' +
        'outcome is applied or already_applied. A refused decision changes nothing: exit code 3.',
      `administrator ${example}`,
      `administrator ${example.replace(/OP-2026-000123/, `--all-pending --fund ${FUND}`).replace(/ --(?:application|value) (?:"[^"]*"|\S+)/, '')}`,
    )
    .refusing((code: string | undefined, given: CommonOptions) => wrongUseOf(code, given, decision))
    .action((code: string | undefined, given: Options & CommonOptions) =>
      code === undefined
        ? decideAllPending(administrator.dependencies, {
            scope: given,
            from,
            yes: given.yes ?? false,
            operator: given.operator ?? userOfSystem(),
            contents: (operation) => ({
              decision,
              ...details?.(given, operation),
              decided_at: given.decidedAt,
              note: given.note,
              expected_status: operation.status,
            }),
          })
        : administrator.answer((services) =>
            decide(services, code, given, { decision, ...details?.(given) }),
          ),
    );
};

/** One operation or all that wait, not both; what belongs to the other way is a mistake. */
const wrongUseOf = (
  code: string | undefined,
  { allPending, fund, id, yes, ...rest }: CommonOptions,
  decision: DecisionName,
): string | undefined => {
  if (allPending !== true) {
    if (code === undefined || code === '') return 'name an operation, or --all-pending with --fund';
    if (fund !== undefined || yes !== undefined) return '--fund and --yes go with --all-pending';
    if (decision === 'disburse' && rest.value === undefined)
      return "required option '--value <amount>' not specified";
    return undefined;
  }
  if (code !== undefined) return 'name an operation or --all-pending, not both';
  if (fund === undefined) return '--all-pending needs --fund';
  if (rest.confirmValue !== undefined) return '--confirm-value confirms the value of one operation';
  if (rest.expectedStatus !== undefined) return '--all-pending names the status of each operation itself';
  return id === undefined ? undefined : '--id names one decision, so it does not go with --all-pending';
};

const decide = async (
  services: App,
  code: string,
  { application, id, decidedAt, note, expectedStatus, operator = userOfSystem() }: CommonOptions,
  contents: object,
): Promise<object> => {
  const applicationId = await applicationWith(services, code, application);
  const asked = {
    decision_id: id ?? randomUUID(),
    application_id: applicationId,
    originator_proposal_code: code,
    ...contents,
    decided_at: decidedAt,
    note,
    expected_status: expectedStatus,
  };
  const [given] = await Array.fromAsync(submitting(services, operator, [asked]));
  if (given === undefined || given.outcome === 'refused') {
    const message = `${given?.reason.code}: ${inOptions(given?.reason.message ?? '')}`;
    // What could be read was refused by the rules.
    throw given?.decision ? new NotAllowedError(message) : new WrongUseError(message);
  }
  return presentAnswer(given);
};

const OPTION_OF: Readonly<Record<string, string>> = {
  disbursement_date: '--date',
  disbursed_value: '--value',
  confirmed_value: '--confirm-value',
};

const inOptions = (message: string): string => message.replace(/\w+/g, (name) => OPTION_OF[name] ?? name);

const collectReason = (text: string, previous: readonly object[] = []): readonly object[] => {
  const [, code, message] = /^([^:\s]+):\s*(\S.*)$/.exec(text) ?? [];
  if (code !== undefined && isReasonCode(code) && message !== undefined)
    return [...previous, { code, message }];
  throw new InvalidArgumentError(
    'It must be a code (1 to 100 letters, digits, "_", "." or "-") and a message, such as "fraud: the invoice is forged".',
  );
};

const amount = (text: string): number => amountInCents(text) / 100;

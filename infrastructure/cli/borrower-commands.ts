import { loanStream } from '../../application/command-handling/operation.ts';
import type { OperationPlace } from '../../application/command-handling/operation.ts';
import { randomUUID } from 'node:crypto';
import type { CliCommand } from './cli-command.ts';
import { bareDocument, isDocument } from '../../application/privacy/forget-borrower.ts';
import type {
  BorrowerOperation,
  BorrowerOperations,
  ForgetRequest,
} from '../../application/privacy/forget-borrower.ts';
import type { App } from '../../application/app.ts';
import { NotAllowedError, WrongUseError, confirmed, tell, withService } from './command-line.ts';
import type { CliDependencies } from './command-line.ts';
import { configuring, recordLines } from './desk-lines.ts';
import { scopeOf } from './options.ts';
import { inOneLine } from '../presenting/terminal-text.ts';

interface ForgetOptions {
  readonly document?: string;
  /** The code of an operation. */
  readonly lostKey?: string;
  readonly application?: string;
  readonly reason?: string;
  readonly includingOpen: boolean;
  readonly includingUnreadable: boolean;
  readonly yes: boolean;
}

const LONGEST_REASON = 500;
const FROM_INPUT = '-';

export const addBorrowerCommands = (program: CliCommand): void => {
  const borrower = program
    .command('borrower')
    .description('personal data of borrowers')
    .told('', 'borrower forget --document 529.982.247-25');
  borrower
    .command('forget')
    .description("make a borrower's data and documents unreadable, for good")
    .option('--document <cpf or cnpj>', 'whose data; "-" reads it from standard input')
    .option(
      '--lost-key <code>',
      'instead of --document: the operation whose key is lost for good, by its originator_proposal_code',
    )
    .option(
      '--application <id|name>',
      'only in this application: an id, or the name of one of its clients (default: in all); whose operation has the code of --lost-key',
    )
    .option('--reason <text>', 'kept on record with each operation; no personal data')
    .option('--including-open', 'also operations that have not reached their end', false)
    .option('--including-unreadable', 'also operations of which an event cannot be read', false)
    .option('--yes', 'do not ask; needed where nobody can answer', false)
    .addHelpText(
      'after',
      '\nThe key of each operation is deleted, and its documents with it. Amounts, dates and events stay. A record of it stays as well.\n' +
        'Nothing brings the data back, except a copy of the database made before. Repeat the command if it was interrupted.\n' +
        '\nA key that is gone without that record was lost (docs/operations.md, KeysMissing): --lost-key gives up what it sealed, once no\n' +
        'copy can bring it back. It is refused while the key is there.\n' +
        '\nAn operation of which an event cannot be read keeps its data, unless --including-unreadable is given: nobody knows whether it has\n' +
        'reached its end. Whatever that event says, the record then goes behind it, and the key is deleted.\n' +
        '\nPrints {operations, forgotten, left_open, unreadable}. Exit code 3 when open operations were left\n' +
        'out, 1 when one cannot be read and so stays as it is; standard error names them.\n\nExamples:\n' +
        '  receivables borrower forget --document 529.982.247-25 --reason "request 2027-118"\n' +
        '  echo 52998224725 | receivables borrower forget --document - --yes\n' +
        '  receivables borrower forget --lost-key OP-2026-000123 --including-open --reason "key lost"',
    )
    .action((options: ForgetOptions) => forget(options, program.dependencies));
};

interface Forgetting {
  find(): Promise<BorrowerOperations>;
  forget(operation: OperationPlace, request: ForgetRequest): Promise<void>;
  /** What else is left of the borrower. */
  clear(): Promise<void>;
}

const forget = async (options: ForgetOptions, dependencies: CliDependencies): Promise<void> => {
  const { lostKey, reason } = options;
  if ((options.document === undefined) === (lostKey === undefined))
    throw new WrongUseError('give --document or, for an operation whose key is lost, --lost-key');
  const document = lostKey === undefined ? await documentOf(options, dependencies) : undefined;
  if ((reason?.length ?? 0) > LONGEST_REASON) {
    throw new WrongUseError(`--reason must have at most ${LONGEST_REASON} characters`);
  }
  return withService(dependencies, async (services) => {
    const { applicationId } = await scopeOf(services, { application: options.application });
    const forgetting =
      document === undefined
        ? ofLostKey(services, lostKey!, applicationId)
        : ofBorrower(services, document, applicationId, dependencies);
    await forgetAll(forgetting, options, dependencies, services);
  });
};

const ofBorrower = (
  { privacy }: App,
  document: string,
  applicationId: string | undefined,
  dependencies: CliDependencies,
): Forgetting => ({
  find: async () => {
    for (const stream of await privacy.index())
      dependencies.writeError(
        `whose ${inOneLine(stream)} is cannot be read now: repeat this command when it can, unless it is among these\n`,
      );
    return privacy.forgetting.find(document, applicationId);
  },
  forget: (operation, request) => privacy.forgetting.forget(document, operation, request),
  clear: () => privacy.forgetting.clearRefused(document),
});

const ofLostKey = ({ privacy, loans }: App, code: string, applicationId: string | undefined): Forgetting => ({
  find: async () => ({
    operations: [
      await privacy.forgetting.findLost({
        applicationId: applicationId ?? (await loans.applicationOf(code)),
        code,
      }),
    ],
    unreadable: [],
  }),
  forget: (operation, request) => privacy.forgetting.forgetLost(operation, request),
  clear: async () => undefined,
});

const forgetAll = async (
  forgetting: Forgetting,
  { reason, includingOpen, includingUnreadable, yes }: ForgetOptions,
  dependencies: CliDependencies,
  services: App,
): Promise<void> => {
  const { privacy, loans } = services;
  const all = await forgetting.find();
  const isLeft = ({ status }: BorrowerOperation): boolean => status === 'unreadable' && !includingUnreadable;
  const found = all.operations.filter((one) => !isLeft(one));
  const streams = all.operations.filter(isLeft).map((one) => loanStream(one.applicationId, one.code));
  const unreadable = [...all.unreadable, ...streams];
  await recordLines(services, [{ action: 'searched', count: found.length }]);
  const chosen = found.filter(({ open, status }) => includingOpen || !open || status === 'unreadable');
  const left = found.filter((one) => !chosen.includes(one));
  if (chosen.length > 0 && !yes) await confirm(chosen, dependencies);
  const requestId = `forget-${randomUUID()}`;
  {
    using progress = dependencies.startProgress(chosen.length);
    for (const operation of chosen) {
      const { applicationId, code } = operation;
      await configuring(services, { decision: 'forget_borrower', applicationId, code }, () =>
        forgetting.forget(operation, { requestId, ...(reason !== undefined && { reason }) }),
      );
      progress.advance();
    }
  }
  await forgetting.clear();
  // A process that keeps a key for its 30 seconds would still open what rows have. Where they cannot follow now, that is all there is.
  if (chosen.length > 0) await loans.catchUp().catch(() => undefined);
  const scrubbed = await privacy.scrub();
  const operations = found.map((one) => present(one, chosen.includes(one)));
  const counts = { forgotten: chosen.length, left_open: left.length, unreadable: unreadable.length };
  const run = { request_id: requestId, log_emptied: scrubbed ?? null };
  await tell(dependencies, { operations, ...counts, ...run });
  for (const one of left) dependencies.writeError(`left open: ${lineOf(one)}`);
  for (const stream of unreadable) dependencies.writeError(`not forgotten: ${inOneLine(stream)}\n`);
  if (unreadable.length > 0)
    throw new Error(
      `${unreadable.length} operation(s) of this borrower cannot be read, so nothing of them was forgotten; find out why with ` +
        'receivables audit verify, and repeat this command when they can be read' +
        (streams.length > 0 ? ', or with --including-unreadable' : ''),
    );
  if (left.length === 0) return;
  throw new NotAllowedError(
    `${left.length} operation(s) have not reached their end and were left; add --including-open to forget those as well`,
  );
};

const lineOf = ({ applicationId, code, status, documents }: BorrowerOperation): string =>
  `${inOneLine(`${applicationId}  ${code}  ${status}  ${documents} document(s)`)}\n`;

const confirm = (chosen: readonly BorrowerOperation[], dependencies: CliDependencies): Promise<void> => {
  for (const one of chosen) dependencies.writeError(lineOf(one));
  const question = `Forget the borrower of these ${chosen.length} operation(s), for good?`;
  return confirmed(dependencies, question, { word: 'forget', otherwise: 'nothing was forgotten' });
};

const documentOf = async (
  { document = '' }: ForgetOptions,
  dependencies: CliDependencies,
): Promise<string> => {
  const text = document === FROM_INPUT ? await inputOf(dependencies) : document;
  const bare = bareDocument(text);
  if (!isDocument(bare))
    throw new WrongUseError('--document must be a CPF of 11 digits or a CNPJ of 14 characters');
  return bare;
};

const inputOf = async ({ input = () => process.stdin }: CliDependencies): Promise<string> =>
  Buffer.concat(await Array.fromAsync<Uint8Array>(input(FROM_INPUT))).toString('utf8');

const present = (operation: BorrowerOperation, chosen: boolean): object => ({
  application_id: operation.applicationId,
  originator_proposal_code: operation.code,
  status: operation.status,
  documents: operation.documents,
  outcome: chosen ? 'forgotten' : 'left_open',
});

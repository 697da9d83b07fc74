import { randomUUID } from 'node:crypto';
import type { CliCommand } from './cli-command.ts';
import type { PendingOperation } from '../../application/administrator/worklists.ts';
import type { App } from '../../application/app.ts';
import type { WaitingStatus } from '../../domain/loan/statuses.ts';
import { asColumns, money, tableOf } from '../presenting/columns.ts';
import { withFundNames } from '../presenting/fund-names.ts';
import { NotAllowedError, confirmed, tell, withService } from './command-line.ts';
import type { CliDependencies } from './command-line.ts';
import { spanOption, FUND_OPTION, ONLY_APPLICATION, scopeOf } from './options.ts';
import type { Scope } from './options.ts';
import { presentAnswer, submitting } from './desk-lines.ts';

interface PendingOptions extends Scope {
  readonly olderThan?: number;
}

interface WaitingOperation extends PendingOperation {
  readonly waitingSeconds: number;
}

const NEXT: Readonly<Record<WaitingStatus, string>> = {
  received: 'approve',
  approved: 'sign',
  term_signed: 'disburse',
  repurchase_pending: 'process-repurchase',
};

const PENDING_COLUMNS = asColumns<WaitingOperation>([
  'application_id',
  { name: 'originator_proposal_code', of: (one) => one.code },
  'fund_id',
  'status',
  { name: 'acquisition_value', amount: true },
  'since',
  { name: 'waiting_seconds', table: false },
  { name: 'next', of: (one) => NEXT[one.status] },
]);

const columnsOf = async ({ funds }: App) =>
  withFundNames(PENDING_COLUMNS, await funds.names(), (one) => one.fundId);

export const addPending = (administrator: CliCommand): void => {
  administrator
    .command('pending')
    .description(
      'operations that wait for a decision, the longest wait first, with the decision that is next',
    )
    .option(FUND_OPTION, 'only of this fund')
    .option(...ONLY_APPLICATION)
    .option('--older-than <span>', 'only those that have waited longer, such as 12h or 2d', spanOption)
    .told('', 'administrator pending', 'administrator pending --older-than 2d -o csv')
    .listing(columnsOf, waitingOperations);
};

async function* waitingOperations(
  services: App,
  { olderThan, ...scope }: PendingOptions,
): AsyncGenerator<WaitingOperation> {
  const query = await scopeOf(services, scope);
  await services.loans.catchUp();
  const pending = await services.administrator.worklists.pending(query);
  const now = Date.parse(services.loans.now());
  for (const operation of pending) {
    const since = Date.parse(operation.since);
    if (olderThan !== undefined && since >= now - olderThan) continue;
    yield { ...operation, waitingSeconds: Math.max(0, Math.floor((now - since) / 1_000)) };
  }
}

interface BulkDecision {
  readonly scope: Scope;
  readonly from: readonly WaitingStatus[];
  readonly yes: boolean;
  readonly operator: string;
  /** Fields of the decision on this operation, beside its names. */
  readonly contents: (operation: PendingOperation) => object;
}

const MOST_PREVIEWED = 20;
const PREVIEW_COLUMNS = asColumns<PendingOperation>([
  { name: 'application', of: ({ applicationId }) => applicationId },
  { name: 'operation', of: ({ code }) => code },
  'status',
  { name: 'acquisition_value', amount: true },
  { name: 'since', verbatim: true },
]);

/** Decides on every operation that waits for it: shows which, asks, and prints one answer a line. */
export const decideAllPending = (dependencies: CliDependencies, bulk: BulkDecision): Promise<void> =>
  withService(dependencies, async (services) => {
    const query = await scopeOf(services, bulk.scope);
    await services.loans.catchUp();
    const waiting = (await services.administrator.worklists.pending(query)).filter(({ status }) =>
      bulk.from.includes(status),
    );
    preview(dependencies, waiting);
    if (waiting.length === 0) return;
    if (!bulk.yes)
      await confirmed(dependencies, `Decide on these ${waiting.length} operation(s)?`, {
        word: 'yes',
        otherwise: 'nothing was decided',
      });
    await decideAll(dependencies, services, waiting, bulk);
  });

const preview = (dependencies: CliDependencies, waiting: readonly PendingOperation[]): void => {
  const writeError = (text: string): void => dependencies.writeError(text);
  if (waiting.length === 0) return writeError('nothing waits for this decision\n');
  const shown = waiting.slice(0, MOST_PREVIEWED);
  writeError(tableOf(PREVIEW_COLUMNS, shown));
  if (waiting.length > shown.length) writeError(`... and ${waiting.length - shown.length} more\n`);
  const total = waiting.reduce((sum, { acquisitionValue }) => sum + acquisitionValue, 0);
  writeError(`${waiting.length} operation(s), acquisition value ${money(total)}\n`);
};

const decideAll = async (
  dependencies: CliDependencies,
  services: App,
  waiting: readonly PendingOperation[],
  { contents, operator }: BulkDecision,
): Promise<void> => {
  const refused: string[] = [];
  const texts = waiting.map((operation) => ({
    decision_id: randomUUID(),
    application_id: operation.applicationId,
    originator_proposal_code: operation.code,
    ...contents(operation),
  }));
  {
    using progress = dependencies.startProgress(waiting.length);
    for await (const given of submitting(services, operator, texts)) {
      if (given.outcome === 'refused') refused.push(`  ${given.decision?.code}: ${given.reason.message}\n`);
      progress.advance();
      await tell(dependencies, presentAnswer(given));
    }
  }
  if (refused.length === 0) return;
  for (const one of refused.slice(0, MOST_PREVIEWED)) dependencies.writeError(one);
  if (refused.length > MOST_PREVIEWED)
    dependencies.writeError(`  ... and ${refused.length - MOST_PREVIEWED} more\n`);
  throw new NotAllowedError(`${refused.length} of ${waiting.length} decisions were refused`);
};

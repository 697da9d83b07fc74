import { randomUUID } from 'node:crypto';
import type { AwaitingStatus, PendingOperation } from '../../application/ports/loan-queries.ts';
import type { CliServices } from './cli-services.ts';
import { money } from './columns.ts';
import { CommandFailedError, DecisionRefusedError, WrongUseError } from './command-line.ts';
import type { CliDependencies } from './command-line.ts';
import { patiently } from './patience.ts';
import { presentAnswer } from './present-decision.ts';
import { textTable } from './report-output.ts';
import { scopeOf } from './scope.ts';
import type { Scope } from './scope.ts';

export interface BulkDecision {
  readonly scope: Scope;
  readonly from: readonly AwaitingStatus[];
  readonly yes: boolean;
  /** Fields of the decision on this operation, beside its names. */
  readonly contents: (operation: PendingOperation) => object;
}

const MOST_PREVIEWED = 20;
const AT_ONCE = 64;

/** Decides on every operation that waits for it: shows which, asks, and prints one answer a line. */
export const decideAllPending = async (dependencies: CliDependencies, bulk: BulkDecision): Promise<void> => {
  const services = await dependencies.open();
  try {
    const query = await scopeOf(services, bulk.scope);
    await services.loans.catchUp();
    const waiting = (await services.loans.pending(query)).filter(({ status }) => bulk.from.includes(status));
    preview(dependencies, waiting);
    if (waiting.length === 0) return;
    if (!bulk.yes) await confirm(dependencies, waiting.length);
    await decideAll(dependencies, services, waiting, bulk);
  } finally {
    await services.close();
  }
};

const preview = (dependencies: CliDependencies, waiting: readonly PendingOperation[]): void => {
  const writeError = (text: string): void => dependencies.writeError(text);
  if (waiting.length === 0) return writeError('nothing waits for this decision\n');
  const rows = waiting
    .slice(0, MOST_PREVIEWED)
    .map(({ applicationId, code, status, acquisitionValue, since }) => [
      ...[applicationId, code, status, money(acquisitionValue), since],
    ]);
  writeError(textTable(['application', 'operation', 'status', 'acquisition value', 'since'], rows, [3]));
  if (waiting.length > rows.length) writeError(`... and ${waiting.length - rows.length} more\n`);
  const total = waiting.reduce((sum, { acquisitionValue }) => sum + acquisitionValue, 0);
  writeError(`${waiting.length} operation(s), acquisition value ${money(total)}\n`);
};

const confirm = async ({ ask }: CliDependencies, count: number): Promise<void> => {
  const answered = await ask?.(`Decide on these ${count} operation(s)? Type yes to go on: `);
  if (answered === undefined) throw new WrongUseError('--yes is needed, because nobody can be asked here');
  if (answered.trim() !== 'yes') throw new CommandFailedError('nothing was decided');
};

const decideAll = async (
  dependencies: CliDependencies,
  { administrator }: CliServices,
  waiting: readonly PendingOperation[],
  { contents }: BulkDecision,
): Promise<void> => {
  const progress = dependencies.startProgress(waiting.length);
  let refused = 0;
  try {
    for (let start = 0; start < waiting.length; start += AT_ONCE) {
      const texts = waiting.slice(start, start + AT_ONCE).map((operation) =>
        JSON.stringify({
          decision_id: randomUUID(),
          application_id: operation.applicationId,
          originator_proposal_code: operation.code,
          ...contents(operation),
        }),
      );
      for (const given of await patiently(() => administrator.submitAll(texts))) {
        if (given.outcome === 'refused') refused += 1;
        progress.advance();
        await dependencies.write(`${JSON.stringify(presentAnswer(given))}\n`);
      }
    }
  } finally {
    progress.end();
  }
  if (refused > 0) throw new DecisionRefusedError(`${refused} of ${waiting.length} decisions were refused`);
};

import { loanStream } from '../command-handling/operation.ts';
import type { OperationPlace } from '../command-handling/operation.ts';
import type { RejectionReason } from '../../domain/loan/events.ts';
import type { Privacy } from '../privacy/privacy.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

interface Dependencies {
  readonly database: SqlDatabase;
  readonly privacy: () => Privacy;
}

const MOST_FUNDS = 8;
/** Of each fund, the rejected operations that came in last. */
const REJECTED_LOOKED_AT = 200;
const MOST_REASONS = 8;

/** Beside its price and its state, amounts in cents: of those that have rows, in no order. @param operations at most 1,000 */
export const operationFacts = async (
  { database, privacy }: Dependencies,
  operations: readonly OperationPlace[],
) => {
  if (operations.length === 0) return [];
  const streams = operations.map(({ applicationId, code }) => loanStream(applicationId, code));
  const rows = await database.read(
    database.builder
      .selectFrom('loan')
      .innerJoin('installment', 'installment.operation', 'loan.id')
      .select((eb) => [
        ...(['loan.application_id as applicationId', 'loan.code', 'loan.fund_id as fundId'] as const),
        ...(['loan.daily_factor as dailyFactor', 'loan.stream', 'loan.borrower'] as const),
        eb.fn.sum<number>('installment.face_value').as('faceValue'),
        eb.fn.countAll<number>().as('installments'),
        eb.fn.max<string>('installment.due_date').as('lastDue'),
      ])
      .where('loan.stream', 'in', streams)
      .groupBy('loan.id'),
  );
  return Promise.all(
    rows.map(async ({ stream, borrower, ...row }) => ({
      ...row,
      borrower: await privacy().maskedBorrower({ stream, borrower }),
    })),
  );
};
export type OperationFacts = Awaited<ReturnType<typeof operationFacts>>[number];

export const usedReasons = async (
  { database }: Pick<Dependencies, 'database'>,
  fundIds: readonly string[],
) => {
  const pages = await database.snapshot(
    fundIds
      .slice(0, MOST_FUNDS)
      .map((fundId) =>
        database.builder
          .selectFrom('loan')
          .select(['rejection_reasons', 'received_at'])
          .where('fund_id', '=', fundId)
          .where('status', '=', 'rejected')
          .orderBy('received_at', 'desc')
          .orderBy('stream', 'desc')
          .limit(REJECTED_LOOKED_AT),
      ),
  );
  const newest = pages.flat().sort((a, b) => (a.received_at < b.received_at ? 1 : -1));
  const given = newest.flatMap((row) => JSON.parse(row.rejection_reasons ?? '[]') as RejectionReason[]);
  const same = Map.groupBy(given, ({ code, message }) => JSON.stringify([code, message]));
  return [...same.values()]
    .map((uses) => ({ code: uses[0]!.code, message: uses[0]!.message, times: uses.length }))
    .sort((a, b) => b.times - a.times)
    .slice(0, MOST_REASONS);
};
export type UsedReason = Awaited<ReturnType<typeof usedReasons>>[number];

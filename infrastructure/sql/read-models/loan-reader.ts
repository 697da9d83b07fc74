import type { Kysely } from 'kysely';
import { loanStream } from '../../../application/command-handling/operation.ts';
import type {
  LoanListQuery,
  LoanPage,
  LoanReader,
  LoanVersions,
} from '../../../application/ports/loan-queries.ts';
import { loanProjection } from '../../../projections/loan/loan-projection.ts';
import type { InstallmentRow, LoanRow, LoanView } from '../../../projections/loan/loan-view.ts';
import { loanPage } from './loan-page.ts';
import type { LoanColumns } from './loan-page.ts';
import type { Schema } from '../schema.ts';
import type { SqlDatabase } from '../sql-database.ts';

type CreditColumns = Pick<Schema['installment_credit'], 'installment_code' | 'value' | 'date'>;

const withCompletion = (repurchase: string | null, completedAt: string | null): string | null =>
  repurchase === null ? null : JSON.stringify({ ...(JSON.parse(repurchase) as object), completedAt });

const loanRow = ({
  repurchase_completed_at: completedAt,
  waiting_since: _,
  ...row
}: LoanColumns): LoanRow => ({
  ...row,
  repurchase: withCompletion(row.repurchase, completedAt),
});

const withCredits = (
  installments: readonly Omit<InstallmentRow, 'credits'>[],
  credits: readonly CreditColumns[],
): readonly InstallmentRow[] => {
  const byCode = Map.groupBy(credits, (credit) => credit.installment_code);
  return installments.map((row) => ({
    ...row,
    credits: JSON.stringify((byCode.get(row.code) ?? []).map(({ value, date }) => ({ value, date }))),
  }));
};

/** Everything that one operation shows, by its stream. */
const queriesOf = (builder: Kysely<Schema>, stream: string) =>
  [
    builder.selectFrom('loan').selectAll().where('stream', '=', stream),
    builder
      .selectFrom('installment')
      .select(['code', 'seq', 'due_date', 'face_value', 'status'])
      .select(['settled_at', 'settled_value', 'payment_method'])
      .where('stream', '=', stream)
      .orderBy('seq'),
    builder
      .selectFrom('installment_credit')
      .select(['installment_code', 'value', 'date'])
      .where('stream', '=', stream)
      .orderBy('installment_code')
      .orderBy('revision'),
    builder
      .selectFrom('prepayment')
      .select(['value', 'date', 'settled_installments', 'excess_value'])
      .where('stream', '=', stream)
      .orderBy('revision'),
    builder
      .selectFrom('document')
      .select(['document_id', 'type', 'value', 'sha256', 'size', 'received_at'])
      .where('stream', '=', stream)
      .orderBy('revision')
      .orderBy('seq'),
    builder
      .selectFrom('status_history')
      .select(['status', 'at'])
      .where('stream', '=', stream)
      .orderBy('revision'),
  ] as const;

/** Reads an operation in one snapshot, so never rows of two versions of it. */
export class SqlLoanReader implements LoanReader {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async find(applicationId: string, code: string): Promise<LoanView | undefined> {
    const queries = queriesOf(this.#database.builder, loanStream(applicationId, code));
    const [loans, installments, credits, prepayments, documents, statusHistory] =
      await this.#database.snapshot(queries);
    const [loan] = loans;
    if (!loan) return undefined;
    return {
      loan: loanRow(loan),
      installments: withCredits(installments, credits),
      prepayments,
      documents,
      statusHistory,
    };
  }

  async list(query: LoanListQuery): Promise<LoanPage> {
    const { rows, nextCursor } = await loanPage(this.#database, query);
    return { loans: rows.map(loanRow), nextCursor };
  }
}

export class SqlLoanVersions implements LoanVersions {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async of(streams: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    const query = this.#database.builder
      .selectFrom('loan')
      .select(['stream', 'version'])
      .where('stream', 'in', streams);
    return new Map(
      (await this.#database.read(query)).map(({ stream, version }) => [stream, BigInt(version)]),
    );
  }

  async quarantined(streams: readonly string[]): Promise<ReadonlySet<string>> {
    const query = this.#database.builder
      .selectFrom('quarantined_operation')
      .select('stream')
      .where('projection', '=', loanProjection.name)
      .where('stream', 'in', streams);
    return new Set((await this.#database.read(query)).map(({ stream }) => stream));
  }
}

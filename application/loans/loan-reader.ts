import type { Kysely } from 'kysely';
import { loanStream, parseLoanStream } from '../command-handling/operation.ts';
import type { OperationPlace } from '../command-handling/operation.ts';
import { columnsOf } from '../sql/read-model-tables.ts';
import { loanPage } from './loan-page.ts';
import type { LoanListQuery, LoanPage } from './loan-page.ts';
import type { Schema } from '../sql/schema.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

const LOAN = columnsOf('loan').map((column) => `loan.${column}` as const);
const INSTALLMENT = [
  ...(['code', 'seq', 'due_date', 'face_value', 'status'] as const),
  ...(['settled_at', 'settled_value', 'payment_method'] as const),
] as const;
type CreditColumns = Pick<Schema['installment_credit'], 'installment_code' | 'value' | 'date'>;

/** An installment has a status from the disbursement on, and keeps the one that it had when its operation ended. */
export const shownStatus = (
  stored: string,
  { disbursement }: Pick<Schema['loan'], 'disbursement'>,
): string | null => {
  if (disbursement === null) return null;
  return stored === 'frozen' ? 'pending' : stored;
};

const withCredits = (
  loan: Schema['loan'],
  installments: readonly Pick<Schema['installment'], (typeof INSTALLMENT)[number]>[],
  credits: readonly CreditColumns[],
) => {
  const byCode = Map.groupBy(credits, (credit) => credit.installment_code);
  return installments.map((row) => ({
    ...row,
    status: shownStatus(row.status, loan),
    credits: JSON.stringify((byCode.get(row.code) ?? []).map(({ value, date }) => ({ value, date }))),
  }));
};

const queriesOf = (builder: Kysely<Schema>, stream: string) => {
  const operation = builder.selectFrom('loan').select('id').where('stream', '=', stream);
  return [
    builder
      .selectFrom('loan')
      .innerJoin('progress', 'progress.operation', 'loan.id')
      .select([...LOAN, 'progress.updated_at', 'progress.version', 'progress.received_value'])
      .where('stream', '=', stream),
    builder.selectFrom('installment').select(INSTALLMENT).where('operation', '=', operation).orderBy('seq'),
    builder
      .selectFrom('installment_credit')
      .select(['installment_code', 'value', 'date'])
      .where('operation', '=', operation)
      .orderBy('installment_code')
      .orderBy('revision'),
    builder
      .selectFrom('prepayment')
      .select(['value', 'date', 'settled_installments', 'excess_value'])
      .where('operation', '=', operation)
      .orderBy('revision'),
    builder
      .selectFrom('document')
      .select(['document_id', 'type', 'value', 'sha256', 'size', 'received_at'])
      .where('operation', '=', operation)
      .orderBy('revision')
      .orderBy('seq'),
    builder
      .selectFrom('status_history')
      .select(['status', 'at'])
      .where('operation', '=', operation)
      .orderBy('revision'),
  ] as const;
};

export const LOAN_PROJECTION = 'loan';

/** Reads an operation in one snapshot, so never rows of two versions of it. */
export class SqlLoanReader {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async find(applicationId: string, code: string) {
    const queries = queriesOf(this.#database.builder, loanStream(applicationId, code));
    const [loans, installments, credits, prepayments, documents, statusHistory] =
      await this.#database.snapshot(queries);
    const [loan] = loans;
    if (!loan) return undefined;
    return {
      loan,
      installments: withCredits(loan, installments, credits),
      prepayments,
      documents,
      statusHistory,
    };
  }

  async fundOf(applicationId: string, code: string): Promise<string | undefined> {
    const query = this.#database.builder
      .selectFrom('loan')
      .select('fund_id')
      .where('stream', '=', loanStream(applicationId, code));
    return (await this.#database.read(query))[0]?.fund_id;
  }

  /** How far the rows of these are: the revision of the last event that each shows. One entry a stream that has a row. */
  async versions(streams: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    const query = this.#database.builder
      .selectFrom('loan')
      .innerJoin('progress', 'progress.operation', 'loan.id')
      .select(['loan.stream', 'progress.version'])
      .where('loan.stream', 'in', streams);
    return new Map(
      (await this.#database.read(query)).map(({ stream, version }) => [stream, BigInt(version)]),
    );
  }

  /** Those whose rows change no more until an operator lets them out of quarantine. */
  async quarantined(streams: readonly string[]): Promise<ReadonlySet<string>> {
    const query = this.#database.builder
      .selectFrom('quarantined_operation')
      .select('stream')
      .where('projection', '=', LOAN_PROJECTION)
      .where('stream', 'in', streams);
    return new Set((await this.#database.read(query)).map(({ stream }) => stream));
  }

  /** Operations in quarantine, which lists and reports have as they were before; without a fund where they were never shown. */
  async leftOut(): Promise<readonly (OperationPlace & { readonly fundId?: string })[]> {
    const query = this.#database.builder
      .selectFrom('quarantined_operation as waiting')
      .leftJoin('loan', 'loan.stream', 'waiting.stream')
      .select(['waiting.stream', 'loan.fund_id'])
      .where('projection', '=', LOAN_PROJECTION)
      .orderBy('waiting.stream');
    return (await this.#database.read(query)).flatMap(({ stream, fund_id: fundId }) => {
      const place = parseLoanStream(stream);
      return place ? [{ ...place, ...(fundId !== null && { fundId }) }] : [];
    });
  }

  /** Oldest first, stable while operations are added. @throws DomainError `invalid_query_parameter` for a cursor it did not make */
  list(query: LoanListQuery): Promise<LoanPage> {
    return loanPage(this.#database, query);
  }
}

export type LoanView = NonNullable<Awaited<ReturnType<SqlLoanReader['find']>>>;

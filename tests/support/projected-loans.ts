import type { SqlLoanReader } from '../../application/loans/loan-reader.ts';
import { decodeEvent } from '../../application/event-codec/event-codec.ts';
import { projectedEvent } from '../../application/projecting/projected-event.ts';
import { shownStatus } from '../../application/loans/loan-reader.ts';
import { loanStream } from '../../application/command-handling/operation.ts';
import type { RecordedEvent } from '../../application/ports/event-store.ts';
import type { LoanView } from '../../application/loans/loan-reader.ts';
import type { Row } from '../../projections/projection.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import type { LoanPage, LoanSummary } from '../../application/loans/loan-page.ts';
import { applyWrite } from '../projections/in-memory-tables.ts';

/** The loan read model in memory, event by event, as far as a test has let it come. */
export class ProjectedLoans implements Pick<SqlLoanReader, 'find' | 'list' | 'versions' | 'quarantined'> {
  /** Streams in quarantine. */
  readonly held = new Set<string>();
  #tables: ReadonlyMap<string, readonly Row[]> = new Map();

  project(...log: readonly RecordedEvent[]): void {
    for (const recorded of log) {
      const writes = loanProjection.project(projectedEvent(recorded, decodeEvent(recorded)));
      this.#tables = writes.reduce(applyWrite, this.#tables);
    }
  }

  rows(table: string): readonly Row[] {
    return this.#tables.get(table) ?? [];
  }

  find(applicationId: string, code: string): Promise<LoanView | undefined> {
    const stream = loanStream(applicationId, code);
    const of = <T>(table: string): readonly T[] =>
      this.rows(table).filter((row) => row['stream'] === stream) as unknown as readonly T[];
    const [loan] = of<LoanView['loan']>('loan');
    const [progress] = of<LoanView['loan']>('progress');
    return Promise.resolve(
      loan && {
        loan: { ...loan, ...progress },
        installments: of<LoanView['installments'][number] & { readonly status: string }>('installment').map(
          (row) => ({
            ...row,
            status: shownStatus(row.status, loan),
            credits: '[]',
          }),
        ),
        prepayments: of<LoanView['prepayments'][number]>('prepayment'),
        documents: of<LoanView['documents'][number]>('document'),
        statusHistory: of<LoanView['statusHistory'][number]>('status_history'),
      },
    );
  }

  versions(streams: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    const rows = this.rows('progress').filter((row) => streams.includes(String(row['stream'])));
    return Promise.resolve(new Map(rows.map((row) => [String(row['stream']), BigInt(row['version']!)])));
  }

  quarantined(streams: readonly string[]): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set(streams.filter((one) => this.held.has(one))));
  }

  list(): Promise<LoanPage> {
    return Promise.resolve({
      loans: this.rows('loan') as unknown as readonly LoanSummary[],
      nextCursor: null,
    });
  }
}

import { decodeEvent } from '../../application/event-codec/event-codec.ts';
import { loanStream } from '../../application/command-handling/operation.ts';
import type { RecordedEvent } from '../../application/ports/event-store.ts';
import type { LoanPage, LoanReader } from '../../application/ports/loan-queries.ts';
import type { Row } from '../../projections/projection.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import type {
  DocumentRow,
  InstallmentRow,
  LoanRow,
  LoanView,
  PrepaymentRow,
  StatusRow,
} from '../../projections/loan/loan-view.ts';
import { applyWrite } from '../projections/in-memory-tables.ts';

/** The loan read model in memory, event by event, as far as a test has let it come. */
export class ProjectedLoans implements LoanReader {
  #tables: ReadonlyMap<string, readonly Row[]> = new Map();

  project(...log: readonly RecordedEvent[]): void {
    for (const recorded of log) {
      const { id, stream, revision, metadata } = recorded;
      const place = {
        id,
        stream,
        revision,
        recordedAt: metadata.recordedAt,
        applicationId: metadata.applicationId,
      };
      const writes = loanProjection.project({ ...place, event: decodeEvent(recorded) });
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
    const [loan] = of<LoanRow>('loan');
    return Promise.resolve(
      loan && {
        loan,
        installments: of<InstallmentRow>('installment').map((row) => ({ ...row, credits: '[]' })),
        prepayments: of<PrepaymentRow>('prepayment'),
        documents: of<DocumentRow>('document'),
        statusHistory: of<StatusRow>('status_history'),
      },
    );
  }

  versions(streams: readonly string[]): ReadonlyMap<string, bigint> {
    const rows = this.rows('loan').filter((row) => streams.includes(String(row['stream'])));
    return new Map(rows.map((row) => [String(row['stream']), BigInt(row['version']!)]));
  }

  list(): Promise<LoanPage> {
    return Promise.resolve({ loans: this.rows('loan') as unknown as readonly LoanRow[], nextCursor: null });
  }
}

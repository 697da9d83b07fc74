import type { LoanEvent } from '../../../domain/loan/events.ts';
import type { Row } from '../../../projections/projection.ts';
import { loanProjection } from '../../../projections/loan/loan-projection.ts';
import { applyWrite } from '../in-memory-tables.ts';
import { projected } from './projected-events.ts';

const OPERATION = { applicationId: 'app-1', code: 'L1' };

interface ProjectedRows {
  readonly loan: Row | undefined;
  readonly installments: readonly Row[];
  readonly credits: readonly Row[];
  readonly prepayments: readonly Row[];
  readonly history: readonly Row[];
  readonly documents: readonly Row[];
  readonly payments: readonly Row[];
}

/** The rows that these events of one operation leave behind. */
export const rowsAfter = (events: readonly LoanEvent[]): ProjectedRows => {
  const writes = projected(OPERATION, events).flatMap((event) => loanProjection.project(event));
  const tables = writes.reduce(applyWrite, new Map<string, readonly Row[]>());
  const rows = (table: string): readonly Row[] => tables.get(table) ?? [];
  return {
    loan: rows('loan')[0] && { ...rows('loan')[0], ...rows('progress')[0] },
    installments: rows('installment'),
    credits: rows('installment_credit'),
    prepayments: rows('prepayment'),
    history: rows('status_history'),
    documents: rows('document'),
    payments: rows('payment'),
  };
};

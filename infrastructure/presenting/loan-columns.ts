import type { LoanRow } from '../../application/loans/late-operations.ts';
import type { LoanSummary } from '../../application/loans/loan-page.ts';
import { amount } from '../../application/support/json-amounts.ts';
import type { Cents } from '../../domain/shared/money.ts';
import type { Column } from './columns.ts';
import { statusName } from './status-name.ts';

const SUMMARY_COLUMNS = [
  { name: 'application_id', of: (row) => row.application_id },
  { name: 'originator_proposal_code', of: (row) => row.code },
  { name: 'fund_id', of: (row) => row.fund_id },
  { name: 'status', of: (row) => row.status, brazilian: (row) => statusName(row.status, 'pt-BR') },
  { name: 'product_type', of: (row) => row.product_type, table: false },
  { name: 'acquisition_value', of: (row) => row.acquisition_value, amount: true },
  { name: 'received_value', of: (row) => row.received_value, amount: true, table: false },
  { name: 'number_of_installments', of: (row) => row.number_of_installments, table: false },
  { name: 'date_issued', of: (row) => row.date_issued },
  { name: 'received_at', of: (row) => row.received_at, table: false },
  { name: 'updated_at', of: (row) => row.updated_at },
] as const satisfies readonly Column<LoanSummary>[];

const LATE_COLUMNS = [
  { name: 'days_late', of: (row) => row.days_late, align: 'right' },
  { name: 'overdue_value', of: (row) => row.overdue_value, amount: true },
] as const satisfies readonly Column<LoanRow>[];

export type LoanColumnName = (typeof SUMMARY_COLUMNS | typeof LATE_COLUMNS)[number]['name'];

/** An operation in a list: of the command line, of the console, and in what that exports. */
export const LOAN_COLUMNS: readonly (Column<LoanRow> & { readonly name: LoanColumnName })[] = [
  ...SUMMARY_COLUMNS,
  ...LATE_COLUMNS,
];

/** In the interface a token says whose operation it is, and what came in stands among the balances. */
const SHOWN: readonly Column<LoanSummary>[] = SUMMARY_COLUMNS.filter(
  ({ name }) => name !== 'application_id' && name !== 'received_value',
);

export const presentLoanSummary = (loan: LoanSummary): object =>
  Object.fromEntries(
    SHOWN.map(({ name, of, amount: isAmount }) => [name, isAmount ? amount(of(loan) as Cents) : of(loan)]),
  );

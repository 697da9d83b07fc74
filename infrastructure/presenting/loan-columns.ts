import { STATUSES, isShownStatus } from '../../domain/loan/statuses.ts';
import type { LoanRow } from '../../application/loans/late-operations.ts';
import type { LoanSummary } from '../../application/loans/loan-page.ts';
import { amount } from '../../application/support/json-amounts.ts';
import { EXAMPLE } from '../../application/schemas/example-values.ts';
import { ref } from '../../application/schemas/schema.ts';
import type { Schema } from '../../application/schemas/schema.ts';
import type { ShownFields } from '../../application/schemas/shown-fields.ts';
import {
  Amount,
  CalendarDate,
  FundId,
  LoanStatus,
  ProductType,
  ProposalCode,
  Timestamp,
} from '../../application/schemas/values.ts';
import type { Cents } from '../../domain/shared/money.ts';
import type { Column } from './columns.ts';

/** A state of an operation, as people say it. Held by a renegotiation, it reads as the active one that it still is. */
export const statusName = (status: string, language: 'pt-BR' | 'en'): string => {
  const shown = status === 'reserved' ? 'active' : status;
  return isShownStatus(shown) ? STATUSES[shown].name[language] : status;
};

interface SummaryColumn extends Column<LoanSummary> {
  /** Of what the interface shows. There a token says whose operation it is, and what came in stands among the balances. */
  readonly shown?: readonly [schema: Schema, example: unknown];
}

const COUNT = { type: 'integer', minimum: 1, description: 'Length of the schedule.' } as const;

/** The field of the row that is called so. */
const own = <Name extends keyof LoanSummary>(name: Name, more: Omit<SummaryColumn, 'name' | 'of'> = {}) =>
  ({ name, of: (row: LoanSummary) => row[name], ...more }) as const;

const SUMMARY_COLUMNS = [
  own('application_id'),
  { name: 'originator_proposal_code', of: (row) => row.code, shown: [ref(ProposalCode), EXAMPLE.code] },
  own('fund_id', { shown: [ref(FundId), EXAMPLE.fundId] }),
  own('status', { brazilian: (row) => statusName(row.status, 'pt-BR'), shown: [ref(LoanStatus), 'active'] }),
  own('product_type', { table: false, shown: [ref(ProductType), 'financing'] }),
  own('acquisition_value', { amount: true, shown: [ref(Amount), 1800.0] }),
  own('received_value', { amount: true, table: false }),
  own('number_of_installments', { table: false, shown: [COUNT, 2] }),
  own('date_issued', { shown: [ref(CalendarDate), '2026-01-15'] }),
  own('received_at', { table: false, shown: [ref(Timestamp), EXAMPLE.received] }),
  own('updated_at', { shown: [ref(Timestamp), '2026-02-15T15:04:05.000Z'] }),
] as const satisfies readonly SummaryColumn[];

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

export const SUMMARY: ShownFields<LoanSummary> = Object.fromEntries(
  (SUMMARY_COLUMNS as readonly SummaryColumn[]).flatMap(
    ({ name, of, amount: isAmount, shown: described }) => {
      if (!described) return [];
      const [schema, example] = described;
      return [
        [name, { schema, of: isAmount ? (loan: LoanSummary) => amount(of(loan) as Cents) : of, example }],
      ];
    },
  ),
);

import type { NotifiedPayment } from '../../../application/reconciliation/reconciliation-reader.ts';
import type { Notified } from '../../../application/reconciliation/compare-statement.ts';
import { compareStatement } from '../../../application/reconciliation/compare-statement.ts';
import type { Finding, Comparison } from '../../../application/reconciliation/comparison.ts';
import type { Tolerances } from '../../../application/reconciliation/match-rules.ts';
import type { StatementLine } from '../../../application/reconciliation/statements.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';

export type Payment = Partial<NotifiedPayment> & Pick<NotifiedPayment, 'code' | 'date' | 'amount'>;

const complete = (payment: Payment, index: number): NotifiedPayment => ({
  event_id: `00000000-0000-4000-8000-${String(index + 1).padStart(12, '0')}`,
  kind: payment.installment_code === undefined ? 'prepayment' : 'settlement',
  reason: null,
  installment_code: null,
  owed_value: payment.amount,
  underpaid_value: 0,
  excess_value: 0,
  shortfall_value: 0,
  received_before: 0,
  completed_at: null,
  ...payment,
});

export const settled = (reference: string, date: string, amount: number): Payment => {
  const [code, installment] = reference.split('/');
  return { code: code!, installment_code: installment!, date, amount };
};

export const line = (date: string, amount: number, reference = ''): Omit<StatementLine, 'line'> => ({
  date: calendarDate(date),
  amount,
  reference,
});

/** What the fund's integrators notified; `idle` are operations without payments; each operation has installments 001 to 003. */
const notifying = (payments: readonly Payment[], idle: readonly string[]): Notified => ({
  async *within({ from, to }) {
    const within = payments.map(complete).filter(({ date }) => date >= from && date <= to);
    yield within.toSorted((one, other) => one.date.localeCompare(other.date));
  },
  operationsAmong: async (_, codes) =>
    [...new Set([...idle, ...payments.map(({ code }) => code)])].filter((code) => codes.includes(code)),
  async *installmentsOf(_, codes) {
    yield codes.flatMap((code) => ['001', '002', '003'].map((installment) => ({ code, installment })));
  },
});

export const june = (
  payments: readonly Payment[],
  lines: readonly Omit<StatementLine, 'line'>[],
  options: Partial<Tolerances> & { readonly idle?: readonly string[]; readonly to?: string } = {},
): Promise<Comparison> => {
  const { idle = [], to = '2026-06-30', ...tolerances } = options;
  return compareStatement(notifying(payments, idle), {
    fundId: 'fund-1',
    from: calendarDate('2026-06-01'),
    to: calendarDate(to),
    tolerances: { windowDays: 3, toleranceCents: 0, requireReference: false, ...tolerances },
    statement: (async function* () {
      yield lines.map((one, index) => ({ ...one, line: index + 2 }));
    })(),
  });
};

const sideOf = ({ payment, line: found }: Finding): string =>
  [
    payment && `${payment.code}${payment.installment === null ? '' : `/${payment.installment}`}`,
    found && `line ${found.line}`,
  ]
    .filter(Boolean)
    .join(' = ');

/** Findings as short texts, such as `exact: A/001 = line 2` or `missing_in_statement: A/002`. */
export const told = (reconciliation: Comparison): readonly string[] =>
  [...reconciliation.findings()].map(
    (finding) =>
      `${finding.result === 'matched' ? finding.rule! : finding.result}: ${sideOf(finding)}` +
      (finding.duplicateOf === undefined ? '' : ` of ${finding.duplicateOf}`),
  );

import type { Compared } from './compared.ts';
import type { Remark } from './reconciliation.ts';

/** What deserves a look at the payments of the period, whether they arrived or not. */
export function* remarksOf(compared: Compared): Generator<Remark> {
  const { payments } = compared.matching;
  for (const [payment, known] of payments.remarks) {
    if (!compared.isWithin(payments.day.at(payment))) continue;
    const { reason, owedValue } = known;
    const pending = reason !== null && known.completedAt === null;
    const values = [
      ['reversal_after_payments', reason === 'cession_reversal' ? known.receivedBefore : 0],
      ['underpayment', known.underpaidValue],
      ['excess', known.excessValue],
      ['shortfall', known.shortfallValue],
      ['repurchase_pending', pending ? payments.amount.at(payment) : 0],
    ] as const;
    for (const [remark, value] of values)
      if (value > 0) yield { remark, value, owedValue, payment: compared.payment(payment) };
  }
}

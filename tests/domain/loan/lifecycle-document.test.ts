import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { loanDecider } from '../../../domain/loan/index.ts';
import { openInstallments, payoffValue } from '../../../domain/loan/state.ts';
import type { ActiveLoan, LoanCommand, RepurchaseReason } from '../../../domain/loan/index.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { formatCents } from '../../../domain/shared/money.ts';
import { stateAfter } from '../../../domain/shared/decider.ts';
import { L1 } from '../support/finance-vectors.ts';
import { activated, completeRepurchase, paid, prepay, requestRepurchase } from '../support/loan-story.ts';

const document = readFileSync(new URL('../../../docs/lifecycle.md', import.meta.url), 'utf8');
const cells = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('`', ''));

/** The rows of the table with this header. */
const rowsUnder = (...header: readonly string[]): readonly string[][] => {
  const tables = document.split('\n\n').map((block) => block.trim().split('\n').map(cells));
  const table = tables.find(([first]) => header.every((name, i) => first?.[i] === name));
  if (!table) throw new Error(`no table begins with ${header.join(', ')}`);
  return table.slice(2);
};

const afterPaying = (count: string): ActiveLoan => {
  const codes = L1.installments.slice(0, Number(count)).map(({ code }) => code);
  return stateAfter(loanDecider, [...activated, ...codes.map((code) => paid(code))]) as ActiveLoan;
};
const firstEvent = (command: LoanCommand, state: ActiveLoan) => {
  const [event] = loanDecider.decide(command, state);
  return { event, state: event ? loanDecider.evolve(state, event) : state };
};

describe('the figures of docs/lifecycle.md', () => {
  test('the daily factor', () => {
    expect(document).toContain(L1.daily_factor);
  });

  test.each(rowsUnder('installments paid', 'on', 'present value'))(
    '%s paid, on %s: %s',
    (count, on, value) => {
      const loan = afterPaying(count ?? '');
      const found = payoffValue(openInstallments(loan), loan.pricing.dailyFactor, calendarDate(on ?? ''));
      expect(formatCents(found)).toBe(value);
    },
  );

  test.each(rowsUnder('installments paid', 'on', 'money'))('%s paid, on %s: prepaying %s', (...row) => {
    const [count = '', on = '', money = '', ...figures] = row;
    const { event } = firstEvent(prepay(money, on), afterPaying(count));
    if (event?.type !== 'PrepaymentProcessed') throw new Error('a prepayment begins with its event');
    expect([
      event.settledInstallments.join(', ') || '-',
      event.partial?.installmentCode ?? '-',
      event.partial ? formatCents(event.partial.outstandingAtDue) : '-',
      formatCents(event.remainingBalance),
      formatCents(event.excessValue),
    ]).toEqual(figures);
  });

  test.each(rowsUnder('reason', 'calculated value'))('%s', (reason, _, end, value) => {
    const { event, state } = firstEvent(requestRepurchase(reason as RepurchaseReason), afterPaying('5'));
    const [completed] = loanDecider.decide(completeRepurchase, state);
    if (event?.type !== 'RepurchaseRequested' || completed?.type !== 'RepurchaseCompleted')
      throw new Error('a repurchase is requested, then completed');
    expect([formatCents(event.repurchaseValue), completed.status]).toEqual([value, end]);
  });
});

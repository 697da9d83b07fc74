import { REFUSED } from './answers.ts';
import type { Decided } from './answers.ts';
import { enter, money, openParts, tell } from './book.ts';
import type { Book } from './book.ts';
import { isBeyond, spread } from './curve.ts';
import type { Spread } from './curve.ts';
import type { PrepayInput } from './inputs.ts';

type Partial = NonNullable<Spread['partial']>;
const isTold = (partial: Partial | undefined): partial is Partial => partial?.credit.cents.gt(0) ?? false;

const factsOf = ({ value }: PrepayInput, { paidOff, remaining, excess, partial }: Spread): object => ({
  prepayment_value: money(value),
  settled_installments: paidOff.map(([code]) => code),
  remaining_balance: money(remaining),
  excess_value: money(excess),
  // What rounding left below zero is carried and told to nobody.
  partially_paid: isTold(partial)
    ? { installment_code: partial.code, outstanding_value: money(partial.owedAtDue) }
    : undefined,
});

export const prepayOn = (book: Book | undefined, input: PrepayInput, now: string): Decided => {
  if (!book) return REFUSED.noLoan;
  if (input.at < book.issued) return REFUSED.date;
  if (book.status !== 'active') return REFUSED.state;
  const spent = spread(book.v, openParts(book), input.value, input.at);
  if (isBeyond(spent.payoff)) return REFUSED.date;
  const facts = factsOf(input, spent);
  if (input.dry)
    return {
      status: 200,
      body: {
        ...{ status: 'quoted', dry_run: true, payoff_value: money(spent.payoff), ...facts },
        lines: [
          ...spent.paidOff.map(([code]) => code),
          ...(isTold(spent.partial) ? [spent.partial.code] : []),
        ].map((code) => ({ installment_code: code })),
      },
    };
  return {
    accept: () => {
      keep(book, input, spent);
      tell(book, 'installment_prepaid', { ...facts, prepayment_date: input.at });
      if (input.value >= spent.payoff) close(book, input.at, now);
      const status = 'prepayment_processed';
      const body = { originator_proposal_code: book.code, status, ...facts, processed_at: now };
      return () => ({ status: 200, body });
    },
  };
};

const keep = (book: Book, { value, at, method }: PrepayInput, { paidOff, partial, excess }: Spread): void => {
  const partOf = (wanted: string) => book.parts.find(({ code }) => code === wanted)!;
  for (const [code, got] of paidOff) {
    const part = partOf(code);
    part.status = 'prepaid';
    part.paid = { at, value: got, method };
  }
  if (partial) {
    const part = partOf(partial.code);
    part.credits = [...part.credits, partial.credit];
  }
  book.received += value - excess;
  const codes = paidOff.map(([code]) => code);
  book.prepayments = [...book.prepayments, { value, date: at, codes, excess }];
};

const close = (book: Book, at: string, now: string): void => {
  enter(book, 'settled', now);
  tell(book, 'loan_fully_settled', {
    status: 'settled',
    settled_at: at,
    closing_event: 'installment_prepaid',
    total_received: money(book.received),
  });
};

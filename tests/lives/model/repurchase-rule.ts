import { REFUSED } from './answers.ts';
import type { Decided } from './answers.ts';
import { enter, money, openParts, tell } from './book.ts';
import type { Book } from './book.ts';
import { isBeyond, valuation } from './curve.ts';
import type { RepurchaseInput } from './inputs.ts';

/** What the fund gave is what it paid out, whatever the price was; by the rule of before, the price. */
const exitValue = (book: Book, { reason, effective }: RepurchaseInput): number => {
  const basis = book.paidOut!.exitBasis;
  if (reason === 'cession_reversal') return basis;
  if (reason === 'resolution') return Math.max(0, basis - book.received);
  return valuation(book.v, openParts(book), effective).total;
};

export const repurchaseOn = (book: Book | undefined, input: RepurchaseInput, now: string): Decided => {
  if (!book) return REFUSED.noLoan;
  if (input.effective < book.issued) return REFUSED.date;
  if (book.status !== 'active') return REFUSED.state;
  const calculated = exitValue(book, input);
  if (isBeyond(calculated) && input.value === undefined) return REFUSED.date;
  const value = input.value ?? calculated;
  const { reason, detail, effective } = input;
  const value_source = input.value === undefined ? 'calculated' : 'informed';
  const facts = { reason, repurchase_value: money(value) };
  if (input.dry)
    return {
      status: 200,
      body: { status: 'quoted', dry_run: true, ...facts, value_source, calculated_value: money(calculated) },
    };
  return {
    accept: () => {
      book.repurchase = {
        ...{ reason, effective, value, calculated, at: now, completedAt: null },
        ...(detail !== undefined && { detail }),
      };
      enter(book, 'repurchase_pending', now);
      const told = { ...facts, effective_date: effective, calculated_at: now, value_source };
      tell(book, 'repurchase_received', told);
      return () => ({
        status: 200,
        body: { originator_proposal_code: book.code, status: book.status, ...facts, calculated_at: now },
      });
    },
  };
};

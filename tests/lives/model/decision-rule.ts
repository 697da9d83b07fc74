import { dayAfter } from './curve.ts';
import { enter, money, tell } from './book.ts';
import type { Book } from './book.ts';
import type { Now } from './inputs.ts';

export type Outcome = 'applied' | 'already_applied' | 'awaiting_confirmation' | 'refused';
/** Nothing happens; or what happens once it takes effect. */
type Decided = Extract<Outcome, 'already_applied' | 'refused'> | (() => void);

const ENDS: Readonly<Record<string, string>> = {
  repurchase: 'repurchased',
  integrated_repurchase: 'repurchased',
  cession_reversal: 'reversed',
  resolution: 'resolved',
};

export interface Decision {
  readonly id: string;
  readonly code: string;
  readonly decision: 'approve' | 'reject' | 'sign_term' | 'disburse' | 'process_repurchase';
  readonly reasons?: readonly { readonly code: string; readonly message: string }[];
  readonly date?: string;
  readonly value?: number;
  /** The value a second time. */
  readonly confirmed?: number;
  /** The status that it was made on. */
  readonly on?: string;
  /** Who decides. */
  readonly by?: string;
}

/** A tenth of what was paid for it, and it has to be said twice. */
export const isFarOff = (value: number, price: number): boolean => Math.abs(value - price) * 10 > price;

const BEFORE_ACTIVE = ['received', 'approved', 'term_signed'];

export const decideOn = (
  book: Book,
  input: Decision,
  { now, today, besideEarlier }: Now,
  books: ReadonlyMap<string, Book>,
): Decided => {
  const at = BEFORE_ACTIVE.indexOf(book.status);
  const stale = input.on !== undefined && input.on !== book.status;
  const step = (needs: number, take: () => void): Decided => {
    if (book.status === 'rejected' || (at >= 0 && at < needs)) return 'refused';
    if (at !== needs) return 'already_applied';
    return stale ? 'refused' : take;
  };
  switch (input.decision) {
    case 'approve':
      return step(0, () => {
        enter(book, 'approved', now);
        tell(book, 'loan_approved', { status: 'approved', approved_at: now });
      });
    case 'sign_term':
      return step(1, () => {
        enter(book, 'term_signed', now);
        tell(book, 'loan_term_signed', { status: 'term_signed', signed_at: now });
      });
    case 'reject':
      return reject(book, input, now, stale ? [] : besideEarlier ? ['received'] : BEFORE_ACTIVE);
    case 'disburse': {
      const paid = paidBy(book, input, today);
      if (typeof paid === 'string') return paid;
      const exitBasis = besideEarlier ? book.price : paid.value;
      return step(2, () => disburse(book, { ...paid, exitBasis }, now, books));
    }
    case 'process_repurchase':
      return processRepurchase(book, now, stale);
  }
};

/** What is to be paid out, or why nothing is. */
const paidBy = (
  { paidOut, issued, price }: Book,
  input: Decision,
  today: string,
): 'already_applied' | 'refused' | { readonly date: string; readonly value: number } => {
  const [date, value] = [input.date!, input.value!];
  if (date > dayAfter(today, 1) || date < issued) return 'refused';
  if (paidOut) return paidOut.value === value && paidOut.date === date ? 'already_applied' : 'refused';
  const { confirmed = isFarOff(value, price) ? undefined : value } = input;
  return confirmed === value ? { date, value } : 'refused';
};

const reject = (book: Book, { reasons = [] }: Decision, now: string, open: readonly string[]): Decided => {
  if (book.status === 'rejected')
    return JSON.stringify(book.rejection) === JSON.stringify(reasons) ? 'already_applied' : 'refused';
  if (!open.includes(book.status) || book.renegotiation?.role === 'new') return 'refused';
  return () => {
    book.rejection = reasons;
    enter(book, 'rejected', now);
    tell(book, 'loan_rejected', { status: 'rejected', rejected_at: now, reasons });
  };
};

const disburse = (
  book: Book,
  paid: { readonly date: string; readonly value: number; readonly exitBasis: number },
  now: string,
  books: ReadonlyMap<string, Book>,
): void => {
  book.paidOut = paid;
  enter(book, 'active', now);
  for (const part of book.parts) part.status = 'pending';
  tell(book, 'disbursement_completed', {
    status: 'active',
    disbursed_value: money(paid.value),
    disbursed_at: now,
    disbursement_date: paid.date,
  });
  if (!book.renegotiation) return;
  const { terms } = book.renegotiation;
  book.renegotiation.completedAt = now;
  for (const code of terms.originals) {
    const original = books.get(code)!;
    original.renegotiation!.completedAt = now;
    tell(original, 'renegotiation_completed', {
      original_proposal_codes: terms.originals,
      new_proposal_code: terms.next,
      effective_date: terms.effective,
      completed_at: now,
    });
  }
};

const processRepurchase = (book: Book, now: string, stale: boolean): Decided => {
  const { repurchase } = book;
  if (!repurchase) return 'refused';
  if (book.status !== 'repurchase_pending') return 'already_applied';
  if (stale) return 'refused';
  const status = ENDS[repurchase.reason]!;
  return () => {
    repurchase.completedAt = now;
    enter(book, status, now);
    tell(book, 'repurchase_completed', {
      reason: repurchase.reason,
      repurchase_value: money(repurchase.value),
      status,
      completed_at: now,
    });
  };
};

import { daysFrom, owedAtDue } from './curve.ts';
import { enter, isOpen, money, tell } from './book.ts';
import type { Book, Part } from './book.ts';

interface Payment {
  readonly at: string;
  readonly value: number;
  readonly method: string;
}

/** Closes one installment with whatever came in, and the operation with the last one. Answers what it owed. */
export const settlePart = (book: Book, part: Part, { at, value, method }: Payment, now: string): number => {
  const scheduled = owedAtDue(book.v, part);
  part.status = 'settled';
  part.paid = { at, value, method };
  book.received += value;
  tell(
    book,
    'installment_settled',
    {
      installment_code: part.code,
      settled_at: at,
      settled_value: money(value),
      scheduled_value: money(scheduled),
      payment_method: method,
      late_days: Math.max(0, daysFrom(part.due, at)),
    },
    { installment_code: part.code, settled_value: money(value) },
  );
  if (value < scheduled)
    tell(book, 'installment_underpaid', {
      installment_code: part.code,
      scheduled_value: money(scheduled),
      settled_value: money(value),
      difference: money(scheduled - value),
      settled_at: at,
    });
  if (book.parts.some(isOpen)) return scheduled;
  enter(book, 'settled', now);
  tell(book, 'loan_fully_settled', {
    status: 'settled',
    settled_at: at,
    closing_event: 'installment_settled',
    total_received: money(book.received),
  });
  return scheduled;
};

import { isBeyond, owedAtDue, valuation } from './curve.ts';
import { isOpen, money, openParts } from './book.ts';
import type { Book, Part } from './book.ts';

const OWING = new Set(['received', 'approved', 'term_signed', 'active']);

const partView = (book: Book, part: Part): object => ({
  code: part.code,
  due_date: part.due,
  face_value: money(part.face),
  status: part.status,
  settled_at: part.paid?.at ?? null,
  settled_value: part.paid ? money(part.paid.value) : null,
  payment_method: part.paid?.method ?? null,
  outstanding_value: isOpen(part) ? money(owedAtDue(book.v, part)) : 0,
});

const balances = (book: Book, today: string): object => {
  const open = OWING.has(book.status) ? openParts(book) : [];
  const date = today < book.issued ? book.issued : today;
  const payoff = valuation(book.v, open, date).total;
  return {
    open_face_value: money(open.reduce((sum, { face }) => sum + face, 0)),
    received_value: money(book.received),
    payoff_value: isBeyond(payoff) ? null : money(payoff),
    payoff_date: date,
  };
};

const exits = ({ repurchase, renegotiation, rejection, forgotten }: Book): object => ({
  ...(repurchase && {
    repurchase: {
      reason: repurchase.reason,
      reason_detail: forgotten ? null : (repurchase.detail ?? null),
      effective_date: repurchase.effective,
      repurchase_value: money(repurchase.value),
      calculated_value: money(repurchase.calculated),
      calculated_at: repurchase.at,
      completed_at: repurchase.completedAt,
    },
  }),
  ...(renegotiation && {
    renegotiation: {
      role: renegotiation.role,
      original_proposal_codes: renegotiation.terms.originals,
      new_proposal_code: renegotiation.terms.next,
      effective_date: renegotiation.terms.effective,
      completed_at: renegotiation.completedAt,
    },
  }),
  ...(rejection && { rejection_reasons: rejection }),
});

/** What `GET /loan/{code}` answers, but for ids, versions and the time of the last change. */
export const viewOf = (book: Book, today: string): object => ({
  ...summaryOf(book),
  status_history: book.history,
  borrower: book.forgotten
    ? null
    : {
        document_type: book.person.kind,
        document_number: '*'.repeat(book.person.document.length - 2) + book.person.document.slice(-2),
        name: book.person.name,
      },
  installments: book.parts.map((part) => partView(book, part)),
  documents: book.papers.map(({ type, value, sha256, size, receivedAt }) => ({
    type,
    value: book.forgotten ? null : value,
    sha256,
    size,
    received_at: receivedAt,
  })),
  balances: balances(book, today),
  ...(book.paidOut && {
    disbursement: { value: money(book.paidOut.value), date: book.paidOut.date },
  }),
  prepayments: book.prepayments.map(({ value, date, codes, excess }) => ({
    value: money(value),
    date,
    settled_installments: codes,
    excess_value: money(excess),
  })),
  ...exits(book),
});

/** The same operation in the list. */
export const summaryOf = (book: Book): object => ({
  originator_proposal_code: book.code,
  fund_id: book.fund,
  status: book.status,
  product_type: book.product,
  acquisition_value: money(book.price),
  number_of_installments: book.parts.length,
  date_issued: book.issued,
  received_at: book.receivedAt,
});

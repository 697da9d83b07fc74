import type { Installment, PaymentMethod, PrepaymentCredit } from '../../domain/installment/installment.ts';
import { outstandingAtDue } from '../../domain/loan/payments.ts';
import type { RejectionReason } from '../../domain/loan/events.ts';
import type { RepurchaseReason } from '../../domain/loan/exits.ts';
import { openFaceValue, payoffValue } from '../../domain/loan/state.ts';
import { owesSchedule } from '../../domain/loan/statuses.ts';
import type { LoanStatus } from '../../domain/loan/statuses.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { InstallmentCode, Timestamp } from '../../domain/shared/identifiers.ts';
import { LARGEST_AMOUNT, cents } from '../../domain/shared/money.ts';
import type { Cents } from '../../domain/shared/money.ts';
import type { LoanView } from './loan-reader.ts';

type InstallmentRow = LoanView['installments'][number];
type PrepaymentRow = LoanView['prepayments'][number];
import { businessDayOf } from '../support/business-day.ts';
import { maskDocument } from '../privacy/forget-borrower.ts';
import type { Borrower } from '../ports/borrower-vault.ts';

const installmentOf = (row: InstallmentRow): Installment => {
  const schedule = {
    code: row.code as InstallmentCode,
    dueDate: row.due_date as CalendarDate,
    faceValue: cents(row.face_value),
  };
  if (row.status === 'settled' || row.status === 'prepaid') {
    return {
      ...schedule,
      status: 'prepaid',
      settledAt: row.settled_at as CalendarDate,
      paymentMethod: row.payment_method as PaymentMethod,
    };
  }
  const credits = JSON.parse(row.credits) as PrepaymentCredit[];
  return { ...schedule, status: row.status === 'overdue' ? 'overdue' : 'pending', credits };
};

const detailsOf = (row: InstallmentRow, installment: Installment, dailyFactor: string) => ({
  code: row.code,
  dueDate: installment.dueDate,
  faceValue: installment.faceValue,
  status: row.status,
  settledAt: row.settled_at as CalendarDate | null,
  settledValue: row.settled_value === null ? null : cents(row.settled_value),
  paymentMethod: row.payment_method as PaymentMethod | null,
  /** What it owes on its due date: 0 once it is closed. */
  outstandingValue: outstandingAtDue(installment, dailyFactor),
});

interface StoredDisbursement {
  readonly value: number;
  readonly date?: CalendarDate;
  readonly disbursedAt: Timestamp;
}
interface StoredRepurchase {
  readonly reason: RepurchaseReason;
  readonly effectiveDate: CalendarDate;
  readonly repurchaseValue: Cents;
  /** What the operation's state gave, whatever value the request stated. */
  readonly calculatedValue: Cents;
  readonly calculatedAt: Timestamp;
}
interface StoredRenegotiation {
  readonly role: 'original' | 'new';
  readonly originalProposalCodes: readonly string[];
  readonly newProposalCode: string;
  readonly effectiveDate: CalendarDate;
  readonly completedAt: Timestamp | null;
}

/** On the day that the decision stated, otherwise the business day on which the disbursement was registered. */
const disbursementOf = ({ value, date, disbursedAt }: StoredDisbursement) => ({
  value: cents(value),
  date: date ?? businessDayOf(disbursedAt),
});

const prepaymentOf = (row: PrepaymentRow) => ({
  value: cents(row.value),
  date: row.date as CalendarDate,
  settledInstallments: JSON.parse(row.settled_installments) as string[],
  excessValue: cents(row.excess_value),
});

/** A short loan left open for years outgrows every amount; a made-up number would mislead. */
const statable = (value: Cents): Cents | null => (value > LARGEST_AMOUNT ? null : value);

const parsed = <T>(text: string | null): T | undefined =>
  text === null ? undefined : (JSON.parse(text) as T);

/** @param opened what the row holds sealed: null is shown of what was forgotten */
export const loanDetailsOf = (
  view: LoanView,
  opened: {
    readonly borrower: Borrower | undefined;
    /** Names of the documents, in the order of the view. */
    readonly documentNames: readonly (string | undefined)[];
    readonly reasonDetail: string | undefined;
  },
  today: CalendarDate,
) => {
  const { loan } = view;
  const { borrower, documentNames, reasonDetail } = opened;
  const installments = view.installments.map(installmentOf);
  const open = owesSchedule(loan.status as LoanStatus) ? installments : [];
  const disbursement = parsed<StoredDisbursement>(loan.disbursement);
  const repurchase = parsed<StoredRepurchase>(loan.repurchase);
  const renegotiation = parsed<StoredRenegotiation>(loan.renegotiation);
  const rejectionReasons = parsed<RejectionReason[]>(loan.rejection_reasons);
  const payoffDate = today < loan.date_issued ? (loan.date_issued as CalendarDate) : today;
  return {
    loan,
    statusHistory: view.statusHistory.map(({ status, at }) => ({ status, at: at as Timestamp })),
    borrower: borrower
      ? {
          documentType: borrower.document_type as string,
          documentNumber: maskDocument(borrower.document_number),
          name: borrower.name,
        }
      : null,
    installments: view.installments.map((row, i) => detailsOf(row, installments[i]!, loan.daily_factor)),
    documents: view.documents.map((row, i) => ({
      documentId: row.document_id,
      type: row.type,
      value: documentNames[i] ?? null,
      sha256: row.sha256,
      size: row.size,
      receivedAt: row.received_at as Timestamp,
    })),
    balances: {
      openFaceValue: openFaceValue(open),
      receivedValue: cents(loan.received_value),
      payoffValue: statable(payoffValue(open, loan.daily_factor, payoffDate)),
      payoffDate,
    },
    ...(disbursement && { disbursement: disbursementOf(disbursement) }),
    prepayments: view.prepayments.map(prepaymentOf),
    ...(repurchase && {
      repurchase: {
        ...repurchase,
        reasonDetail: reasonDetail ?? null,
        completedAt: loan.repurchase_completed_at as Timestamp | null,
      },
    }),
    ...(renegotiation && { renegotiation }),
    ...(rejectionReasons && { rejectionReasons }),
  };
};

export type LoanDetails = ReturnType<typeof loanDetailsOf>;

import type {
  InstallmentBecameOverdue,
  InstallmentSettled,
  InstallmentUnderpaid,
} from '../../../domain/installment/installment.ts';
import type {
  CompleteRepurchase,
  LoanApproved,
  LoanDisbursed,
  LoanEvent,
  LoanReceived,
  LoanRejected,
  LoanTermSigned,
  MarkInstallmentsOverdue,
  ProcessPrepayment,
  ReceiveLoan,
  RepurchaseCompleted,
  RepurchaseEndStatus,
  RepurchaseReason,
  RepurchaseRequested,
  RequestRepurchase,
  SettleInstallment,
} from '../../../domain/loan/index.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import type {
  ApplicationId,
  FundId,
  InstallmentCode,
  LoanCode,
  SealedBorrower,
  Timestamp,
} from '../../../domain/shared/identifiers.ts';
import { L1, centsOf, scheduleOf } from './finance-vectors.ts';

export const NOW = '2026-06-20T12:00:00.000Z' as Timestamp;
export const installmentCode = (code: string): InstallmentCode => code as InstallmentCode;

export const receiveL1: ReceiveLoan = {
  type: 'ReceiveLoan',
  applicationId: 'app-1' as ApplicationId,
  fundId: '00000000-0000-4000-8000-000000000001' as FundId,
  code: 'L1' as LoanCode,
  productType: 'financing',
  acquisitionValue: centsOf(L1.acquisition_value),
  dateIssued: calendarDate(L1.date_issued),
  installments: scheduleOf(L1),
  borrower: 'sealed' as SealedBorrower,
  documents: [
    { documentId: 'd-1', type: 'ccb', value: 'ccb.pdf', sha256: 'ab'.repeat(32), size: 9, receivedAt: NOW },
  ],
  now: NOW,
};

const { type: _command, now: _now, ...terms } = receiveL1;
export const received: LoanReceived = {
  ...terms,
  type: 'LoanReceived',
  pricing: { policy: 'curve_v1', dailyFactor: L1.daily_factor },
  receivedAt: NOW,
};
export const approved: LoanApproved = { type: 'LoanApproved', approvedAt: NOW };
export const rejected: LoanRejected = {
  type: 'LoanRejected',
  rejectedAt: NOW,
  reasons: [{ code: 'fund_closed', message: 'the fund takes no more operations' }],
};
export const termSigned: LoanTermSigned = { type: 'LoanTermSigned', signedAt: NOW };
export const disbursed: LoanDisbursed = {
  type: 'LoanDisbursed',
  disbursedValue: centsOf('10000.00'),
  disbursedAt: NOW,
  exitBasis: 'disbursed_value',
};
const { exitBasis: _rule, ...facts } = disbursed;
/** As it was stored before it named a rule for exits. */
export const disbursedLongAgo: LoanDisbursed = facts;
export const activated: readonly LoanEvent[] = [received, approved, termSigned, disbursed];

const dueDates = new Map<string, string>(L1.installments.map(({ code, due_date }) => [code, due_date]));
const dueDateOf = (code: string) => calendarDate(dueDates.get(code) ?? 'unknown');

export const paid = (code: string, value = '950.00', date: string = dueDateOf(code)): InstallmentSettled => ({
  type: 'InstallmentSettled',
  installmentCode: installmentCode(code),
  settledAt: calendarDate(date),
  settledValue: centsOf(value),
  scheduledValue: centsOf('950.00'),
  paymentMethod: 'pix',
  lateDays: 0,
  processedAt: NOW,
});
export const underpaid = (code: string, settledValue: string, difference: string): InstallmentUnderpaid => ({
  type: 'InstallmentUnderpaid',
  installmentCode: installmentCode(code),
  scheduledValue: centsOf('950.00'),
  settledValue: centsOf(settledValue),
  difference: centsOf(difference),
  settledAt: dueDateOf(code),
  processedAt: NOW,
});
export const becameOverdue = (code: string): InstallmentBecameOverdue => ({
  type: 'InstallmentBecameOverdue',
  installmentCode: installmentCode(code),
  dueDate: dueDateOf(code),
  recordedAt: NOW,
});

export const repurchaseRequested = (reason: RepurchaseReason): RepurchaseRequested => ({
  type: 'RepurchaseRequested',
  reason,
  effectiveDate: calendarDate('2026-06-20'),
  repurchaseValue: centsOf('6147.33'),
  calculatedValue: centsOf('6147.33'),
  valueSource: 'calculated',
  pricing: received.pricing,
  lines: [],
  receivedValue: centsOf('4750.00'),
  calculatedAt: NOW,
});
export const repurchaseCompleted = (
  reason: RepurchaseReason,
  status: RepurchaseEndStatus,
): RepurchaseCompleted => ({
  type: 'RepurchaseCompleted',
  reason,
  repurchaseValue: centsOf('6147.33'),
  status,
  completedAt: NOW,
});

export const settle = (
  code: string,
  value = '950.00',
  date: string = dueDateOf(code),
): SettleInstallment => ({
  type: 'SettleInstallment',
  installmentCode: installmentCode(code),
  settledAt: calendarDate(date),
  settledValue: centsOf(value),
  paymentMethod: 'pix',
  now: NOW,
});
export const prepay = (value: string, date = '2026-06-20'): ProcessPrepayment => ({
  type: 'ProcessPrepayment',
  prepaymentValue: centsOf(value),
  prepaymentDate: calendarDate(date),
  paymentMethod: 'pix',
  now: NOW,
});
export const requestRepurchase = (reason: RepurchaseReason, date = '2026-06-20'): RequestRepurchase => ({
  type: 'RequestRepurchase',
  reason,
  effectiveDate: calendarDate(date),
  now: NOW,
});
export const completeRepurchase: CompleteRepurchase = { type: 'CompleteRepurchase', now: NOW };
export const markOverdue = (today: string): MarkInstallmentsOverdue => ({
  type: 'MarkInstallmentsOverdue',
  today: calendarDate(today),
  now: NOW,
});

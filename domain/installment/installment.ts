import { sharedDate } from '../shared/calendar-date.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import type { InstallmentCode, Timestamp } from '../shared/identifiers.ts';
import { ZERO, subtractCents } from '../shared/money.ts';
import type { Cents } from '../shared/money.ts';

export const PAYMENT_METHODS = ['direct_debit', 'boleto', 'pix', 'transfer', 'other'] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

export interface Settlement {
  readonly settledAt: CalendarDate;
  readonly settledValue: Cents;
  readonly paymentMethod: PaymentMethod;
  readonly now: Timestamp;
}

export interface InstallmentSettled {
  readonly type: 'InstallmentSettled';
  readonly installmentCode: InstallmentCode;
  readonly settledAt: CalendarDate;
  readonly settledValue: Cents;
  readonly scheduledValue: Cents;
  readonly paymentMethod: PaymentMethod;
  readonly lateDays: number;
  readonly processedAt: Timestamp;
}

/** What was missing of the scheduled value and leaves the curve, and what came in beyond it as charges: one of them is zero. */
export const againstSchedule = ({
  scheduledValue,
  settledValue,
}: Pick<InstallmentSettled, 'scheduledValue' | 'settledValue'>): {
  readonly difference: Cents;
  readonly surplus: Cents;
} =>
  settledValue < scheduledValue
    ? { difference: subtractCents(scheduledValue, settledValue), surplus: ZERO }
    : { difference: ZERO, surplus: subtractCents(settledValue, scheduledValue) };

/** Follows InstallmentSettled in the same append when less than the scheduled value came in. */
export interface InstallmentUnderpaid {
  readonly type: 'InstallmentUnderpaid';
  readonly installmentCode: InstallmentCode;
  readonly scheduledValue: Cents;
  readonly settledValue: Cents;
  readonly difference: Cents;
  readonly settledAt: CalendarDate;
  readonly processedAt: Timestamp;
}

export interface InstallmentBecameOverdue {
  readonly type: 'InstallmentBecameOverdue';
  readonly installmentCode: InstallmentCode;
  readonly dueDate: CalendarDate;
  readonly recordedAt: Timestamp;
}

export type InstallmentEvent = InstallmentSettled | InstallmentUnderpaid | InstallmentBecameOverdue;

export interface ScheduledInstallment {
  readonly code: InstallmentCode;
  readonly dueDate: CalendarDate;
  readonly faceValue: Cents;
}

/** What was agreed of all installments, in columns of one order: 480 of them are three lists, and no objects. */
export interface Schedule {
  readonly codes: readonly InstallmentCode[];
  readonly dueDates: readonly CalendarDate[];
  readonly faceValues: readonly Cents[];
}

export const scheduleOf = (installments: readonly ScheduledInstallment[]): Schedule => ({
  codes: installments.map(({ code }) => code),
  dueDates: installments.map(({ dueDate }) => sharedDate(dueDate)),
  faceValues: installments.map(({ faceValue }) => faceValue),
});

/** @throws RangeError there are not so many */
export const scheduledAt = (
  { codes, dueDates, faceValues }: Schedule,
  index: number,
): ScheduledInstallment => {
  const [code, dueDate, faceValue] = [codes[index], dueDates[index], faceValues[index]];
  if (code === undefined || dueDate === undefined || faceValue === undefined)
    throw new RangeError(`no installment ${index} in a schedule of ${codes.length}`);
  return { code, dueDate, faceValue };
};

/** Part of a prepayment that an installment carries; exact decimal of the currency unit, at the prepayment's date. */
export interface PrepaymentCredit {
  readonly value: string;
  readonly date: CalendarDate;
}

interface Open extends ScheduledInstallment {
  readonly credits: readonly PrepaymentCredit[];
}

interface PendingInstallment extends Open {
  readonly status: 'pending';
}
interface OverdueInstallment extends Open {
  readonly status: 'overdue';
}
interface SettledInstallment extends ScheduledInstallment {
  readonly status: 'settled';
  readonly settledAt: CalendarDate;
  readonly settledValue: Cents;
  readonly scheduledValue: Cents;
  readonly paymentMethod: PaymentMethod;
  readonly processedAt: Timestamp;
}
interface PrepaidInstallment extends ScheduledInstallment {
  readonly status: 'prepaid';
  readonly settledAt: CalendarDate;
  readonly paymentMethod: PaymentMethod;
}

export type OpenInstallment = PendingInstallment | OverdueInstallment;
type ClosedInstallment = SettledInstallment | PrepaidInstallment;
export type Installment = OpenInstallment | ClosedInstallment;

export const isOpen = (installment: Installment): installment is OpenInstallment =>
  installment.status === 'pending' || installment.status === 'overdue';

/** An installment's life begins when its operation becomes active. */
export const pendingInstallment = ({
  code,
  dueDate,
  faceValue,
}: ScheduledInstallment): PendingInstallment => ({
  code,
  dueDate,
  faceValue,
  status: 'pending',
  credits: [],
});

const settled = (
  { code, dueDate, faceValue }: Installment,
  event: InstallmentSettled,
): SettledInstallment => ({
  code,
  dueDate,
  faceValue,
  status: 'settled',
  settledAt: event.settledAt,
  settledValue: event.settledValue,
  scheduledValue: event.scheduledValue,
  paymentMethod: event.paymentMethod,
  processedAt: event.processedAt,
});

export const evolveInstallment = (installment: Installment, event: InstallmentEvent): Installment => {
  switch (event.type) {
    case 'InstallmentSettled':
      return isOpen(installment) ? settled(installment, event) : installment;
    case 'InstallmentUnderpaid':
      return installment;
    case 'InstallmentBecameOverdue':
      return installment.status === 'pending' ? { ...installment, status: 'overdue' } : installment;
  }
};

/** Closed by a prepayment of the operation: the event is the operation's, the change of state is the installment's. */
export const payOff = (
  installment: Installment,
  payment: { readonly date: CalendarDate; readonly paymentMethod: PaymentMethod },
): Installment => {
  if (!isOpen(installment)) return installment;
  const { code, dueDate, faceValue } = installment;
  const { date, paymentMethod } = payment;
  return {
    code,
    dueDate,
    faceValue,
    status: 'prepaid',
    settledAt: date,
    paymentMethod,
  } satisfies PrepaidInstallment;
};

export const carryCredit = (installment: Installment, credit: PrepaymentCredit): Installment =>
  isOpen(installment) ? { ...installment, credits: [...installment.credits, credit] } : installment;

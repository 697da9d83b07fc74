import type { CalendarDate } from '../shared/calendar-date.ts';
import type { InstallmentEvent, InstallmentSettled, PaymentMethod } from './events.ts';
import type {
  Installment,
  OpenInstallment,
  PendingInstallment,
  PrepaidInstallment,
  PrepaymentCredit,
  ScheduledInstallment,
  SettledInstallment,
} from './state.ts';

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

import type { EventEntry } from './event-entry.ts';
import { integer, text } from './payload.ts';

export const installmentSettled: EventEntry<'InstallmentSettled'> = {
  storedType: 'installment.settled.v1',
  encode: (event) => ({
    installment_code: event.installmentCode,
    settled_at: event.settledAt,
    settled_value: event.settledValue,
    scheduled_value: event.scheduledValue,
    payment_method: event.paymentMethod,
    late_days: event.lateDays,
    processed_at: event.processedAt,
  }),
  decode: (p) => ({
    type: 'InstallmentSettled',
    installmentCode: text(p, 'installment_code'),
    settledAt: text(p, 'settled_at'),
    settledValue: integer(p, 'settled_value'),
    scheduledValue: integer(p, 'scheduled_value'),
    paymentMethod: text(p, 'payment_method'),
    lateDays: integer(p, 'late_days'),
    processedAt: text(p, 'processed_at'),
  }),
};

export const installmentUnderpaid: EventEntry<'InstallmentUnderpaid'> = {
  storedType: 'installment.underpaid.v1',
  encode: (event) => ({
    installment_code: event.installmentCode,
    scheduled_value: event.scheduledValue,
    settled_value: event.settledValue,
    difference: event.difference,
    settled_at: event.settledAt,
    processed_at: event.processedAt,
  }),
  decode: (p) => ({
    type: 'InstallmentUnderpaid',
    installmentCode: text(p, 'installment_code'),
    scheduledValue: integer(p, 'scheduled_value'),
    settledValue: integer(p, 'settled_value'),
    difference: integer(p, 'difference'),
    settledAt: text(p, 'settled_at'),
    processedAt: text(p, 'processed_at'),
  }),
};

export const installmentBecameOverdue: EventEntry<'InstallmentBecameOverdue'> = {
  storedType: 'installment.became_overdue.v1',
  encode: (event) => ({
    installment_code: event.installmentCode,
    due_date: event.dueDate,
    recorded_at: event.recordedAt,
  }),
  decode: (p) => ({
    type: 'InstallmentBecameOverdue',
    installmentCode: text(p, 'installment_code'),
    dueDate: text(p, 'due_date'),
    recordedAt: text(p, 'recorded_at'),
  }),
};

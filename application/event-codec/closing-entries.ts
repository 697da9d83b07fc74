import type { PrepaymentProcessed } from '../../domain/loan/events.ts';
import { decodeDecision, decodePricing, encodeDecision, encodePricing } from './assignment-entries.ts';
import type { EventEntry } from './event-entry.ts';
import { encodePrivate, flag, integer, list, object, optional, privateText, text, texts } from './payload.ts';
import type { Payload } from './payload.ts';

type Partial = NonNullable<PrepaymentProcessed['partial']>;

const encodePartial = (partial: Partial): Payload => ({
  installment_code: partial.installmentCode,
  credit: { value: partial.credit.value, date: partial.credit.date },
  outstanding_at_due: partial.outstandingAtDue,
});
const decodePartial = (p: Payload): Partial => {
  const credit = object(p, 'credit');
  return {
    installmentCode: text(p, 'installment_code'),
    credit: { value: text(credit, 'value'), date: text(credit, 'date') },
    outstandingAtDue: integer(p, 'outstanding_at_due'),
  };
};

export const prepaymentProcessed: EventEntry<'PrepaymentProcessed'> = {
  storedType: 'loan.prepayment_processed.v1',
  encode: (event) => ({
    prepayment_value: event.prepaymentValue,
    prepayment_date: event.prepaymentDate,
    payment_method: event.paymentMethod,
    settled_installments: event.settledInstallments,
    ...(event.partial && { partial: encodePartial(event.partial) }),
    payoff_value: event.payoffValue,
    remaining_balance: event.remainingBalance,
    excess_value: event.excessValue,
    pricing: encodePricing(event.pricing),
    lines: event.lines.map((line) => ({
      installment_code: line.installmentCode,
      present_value: line.presentValue,
      paid_off: line.paidOff,
    })),
    processed_at: event.processedAt,
  }),
  decode: (p) => ({
    type: 'PrepaymentProcessed',
    prepaymentValue: integer(p, 'prepayment_value'),
    prepaymentDate: text(p, 'prepayment_date'),
    paymentMethod: text(p, 'payment_method'),
    settledInstallments: texts(p, 'settled_installments'),
    ...optional(p, 'partial', 'partial', (payload, field) => decodePartial(object(payload, field))),
    payoffValue: integer(p, 'payoff_value'),
    remainingBalance: integer(p, 'remaining_balance'),
    excessValue: integer(p, 'excess_value'),
    pricing: decodePricing(object(p, 'pricing')),
    lines: list(p, 'lines', (line) => ({
      installmentCode: text(line, 'installment_code'),
      presentValue: integer(line, 'present_value'),
      paidOff: flag(line, 'paid_off'),
    })),
    processedAt: text(p, 'processed_at'),
  }),
};

export const loanFullySettled: EventEntry<'LoanFullySettled'> = {
  storedType: 'loan.fully_settled.v1',
  encode: (event) => ({
    settled_at: event.settledAt,
    closing_event: event.closingEvent,
    total_received: event.totalReceived,
    processed_at: event.processedAt,
  }),
  decode: (p) => ({
    type: 'LoanFullySettled',
    settledAt: text(p, 'settled_at'),
    closingEvent: text(p, 'closing_event'),
    totalReceived: integer(p, 'total_received'),
    processedAt: text(p, 'processed_at'),
  }),
};

export const repurchaseRequested: EventEntry<'RepurchaseRequested'> = {
  storedType: 'loan.repurchase_requested.v1',
  encode: (event) => ({
    reason: event.reason,
    ...(event.reasonDetail !== undefined && { reason_detail: encodePrivate(event.reasonDetail) }),
    effective_date: event.effectiveDate,
    repurchase_value: event.repurchaseValue,
    calculated_value: event.calculatedValue,
    value_source: event.valueSource,
    pricing: encodePricing(event.pricing),
    lines: event.lines.map((line) => ({
      installment_code: line.installmentCode,
      present_value: line.presentValue,
    })),
    received_value: event.receivedValue,
    calculated_at: event.calculatedAt,
  }),
  decode: (p) => ({
    type: 'RepurchaseRequested',
    reason: text(p, 'reason'),
    ...optional(p, 'reason_detail', 'reasonDetail', privateText),
    effectiveDate: text(p, 'effective_date'),
    repurchaseValue: integer(p, 'repurchase_value'),
    calculatedValue: integer(p, 'calculated_value'),
    valueSource: text(p, 'value_source'),
    pricing: decodePricing(object(p, 'pricing')),
    lines: list(p, 'lines', (line) => ({
      installmentCode: text(line, 'installment_code'),
      presentValue: integer(line, 'present_value'),
    })),
    receivedValue: integer(p, 'received_value'),
    calculatedAt: text(p, 'calculated_at'),
  }),
};

export const repurchaseCompleted: EventEntry<'RepurchaseCompleted'> = {
  storedType: 'loan.repurchase_completed.v1',
  encode: (event) => ({
    reason: event.reason,
    repurchase_value: event.repurchaseValue,
    status: event.status,
    completed_at: event.completedAt,
    ...(event.decision && { decision: encodeDecision(event.decision) }),
  }),
  decode: (p) => ({
    type: 'RepurchaseCompleted',
    reason: text(p, 'reason'),
    repurchaseValue: integer(p, 'repurchase_value'),
    status: text(p, 'status'),
    completedAt: text(p, 'completed_at'),
    ...optional(p, 'decision', 'decision', decodeDecision),
  }),
};

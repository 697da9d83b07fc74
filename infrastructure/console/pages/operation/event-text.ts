import type { PaymentMethod } from '../../../../domain/installment/installment.ts';
import type { LoanEvent } from '../../../../domain/loan/events.ts';
import { EXITS } from '../../../../domain/loan/exits.ts';
import { partiallyPaid } from '../../../../domain/loan/payments.ts';
import { amount, date, instant } from '../../format.ts';
import { either, inLanguages, spoken } from '../../language.ts';
import type { Both } from '../../language.ts';

type EventType = LoanEvent['type'];

export const EVENTS = inLanguages({
  LoanReceived: ['Operação recebida', 'Operation received'],
  LoanApproved: ['Aprovada', 'Approved'],
  LoanRejected: ['Rejeitada', 'Rejected'],
  LoanTermSigned: ['Termo assinado', 'Term signed'],
  LoanDisbursed: ['Desembolsada', 'Disbursed'],
  InstallmentSettled: ['Parcela paga', 'Installment paid'],
  InstallmentUnderpaid: ['Pagamento a menor', 'Underpaid'],
  InstallmentBecameOverdue: ['Parcela vencida', 'Installment overdue'],
  PrepaymentProcessed: ['Pagamento antecipado', 'Prepayment'],
  LoanFullySettled: ['Liquidada', 'Settled in full'],
  RepurchaseRequested: ['Saída pedida', 'Exit requested'],
  RepurchaseCompleted: ['Saída concluída', 'Exit completed'],
  DocumentsAdded: ['Documentos acrescentados', 'Documents added'],
  BorrowerForgotten: ['Dados do devedor apagados', 'Data of the borrower erased'],
  LoanReserved: ['Reservada por uma renegociação', 'Reserved by a renegotiation'],
  LoanReservationReleased: ['Reserva desfeita', 'Reservation released'],
  LoanRenegotiated: ['Renegociada', 'Renegotiated'],
  LoanRenegotiationCompleted: ['Renegociação concluída', 'Renegotiation completed'],
} satisfies Record<EventType, Both>);

export const METHODS = inLanguages({
  direct_debit: ['débito automático', 'direct debit'],
  boleto: ['boleto', 'boleto'],
  pix: ['Pix', 'Pix'],
  transfer: ['transferência', 'transfer'],
  other: ['outro meio', 'another method'],
} satisfies Record<PaymentMethod, Both>);

const codes = (all: readonly string[]): string => all.join(', ');

const WRITERS: {
  readonly [Type in EventType]: (event: Extract<LoanEvent, { readonly type: Type }>) => string;
} = {
  LoanReceived: ({ acquisitionValue, installments, productType }) =>
    `${amount(acquisitionValue)}, ${installments.length} ${either('parcela(s)', 'installment(s)')}, ${productType}`,
  LoanApproved: () => '',
  LoanRejected: ({ reasons }) => reasons.map(({ code, message }) => `${code}: ${message}`).join('; '),
  LoanTermSigned: () => '',
  LoanDisbursed: ({ disbursedValue, disbursementDate, disbursedAt }) =>
    `${amount(disbursedValue)} ${either('em', 'on')} ${disbursementDate === undefined ? instant(disbursedAt) : date(disbursementDate)}`,
  InstallmentSettled: (event) => {
    const late = event.lateDays > 0 ? `, ${event.lateDays} ${either('dia(s) de atraso', 'day(s) late')}` : '';
    return `${event.installmentCode}: ${amount(event.settledValue)} ${either('em', 'on')} ${date(event.settledAt)}, ${METHODS[event.paymentMethod]}${late}`;
  },
  InstallmentUnderpaid: ({ installmentCode, difference, scheduledValue }) =>
    `${installmentCode}: ${either('faltaram', 'missing')} ${amount(Math.abs(difference))} ${either('de', 'of')} ${amount(scheduledValue)}`,
  InstallmentBecameOverdue: ({ installmentCode, dueDate }) =>
    `${installmentCode}, ${either('com vencimento em', 'due')} ${date(dueDate)}`,
  PrepaymentProcessed: (event) => {
    const { prepaymentValue, prepaymentDate, settledInstallments, excessValue } = event;
    const partial = partiallyPaid(event);
    return [
      `${amount(prepaymentValue)} ${either('em', 'on')} ${date(prepaymentDate)}`,
      settledInstallments.length > 0 && `${either('quita', 'pays off')} ${codes(settledInstallments)}`,
      partial && `${either('credita', 'credits')} ${partial.installmentCode}`,
      excessValue > 0 && `${either('excedente', 'excess')} ${amount(excessValue)}`,
    ]
      .filter(Boolean)
      .join(', ');
  },
  LoanFullySettled: ({ totalReceived }) =>
    `${amount(totalReceived)} ${either('recebidos ao todo', 'received in all')}`,
  RepurchaseRequested: ({ reason, repurchaseValue, effectiveDate, calculatedValue }) => {
    const calculated =
      calculatedValue === repurchaseValue
        ? ''
        : ` (${either('calculado', 'calculated')} ${amount(calculatedValue)})`;
    return `${EXITS[reason].name[spoken()]}, ${amount(repurchaseValue)}${calculated}, ${either('com efeito em', 'effective')} ${date(effectiveDate)}`;
  },
  RepurchaseCompleted: ({ reason, repurchaseValue }) =>
    `${EXITS[reason].name[spoken()]}, ${amount(repurchaseValue)}`,
  DocumentsAdded: ({ documents }) => codes(documents.map(({ type }) => type)),
  BorrowerForgotten: ({ reason }) => reason ?? '',
  LoanReserved: () => '',
  LoanReservationReleased: () => '',
  LoanRenegotiated: ({ renegotiation }) =>
    `${either('substituída por', 'replaced by')} ${renegotiation.newProposalCode}`,
  LoanRenegotiationCompleted: ({ renegotiation }) =>
    `${renegotiation.newProposalCode} ${either('está ativa', 'is active')}`,
};

export const eventFacts = (event: LoanEvent): string =>
  (WRITERS[event.type] as (event: LoanEvent) => string)(event);

export const noteOf = (event: LoanEvent): string | undefined =>
  'decision' in event ? event.decision?.note : undefined;

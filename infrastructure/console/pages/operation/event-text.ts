import type { PaymentMethod } from '../../../../domain/installment/installment.ts';
import type { LoanEvent } from '../../../../domain/loan/events.ts';
import { EXITS } from '../../../../domain/loan/exits.ts';
import { partiallyPaid } from '../../../../domain/loan/payments.ts';
import { amount, date, instant } from '../../format.ts';
import type { InLanguages, Language } from '../../language.ts';

type EventType = LoanEvent['type'];

const NAMES: InLanguages<Readonly<Record<EventType, string>>> = {
  'pt-BR': {
    LoanReceived: 'Operação recebida',
    LoanApproved: 'Aprovada',
    LoanRejected: 'Rejeitada',
    LoanTermSigned: 'Termo assinado',
    LoanDisbursed: 'Desembolsada',
    InstallmentSettled: 'Parcela paga',
    InstallmentUnderpaid: 'Pagamento a menor',
    InstallmentBecameOverdue: 'Parcela vencida',
    PrepaymentProcessed: 'Pagamento antecipado',
    LoanFullySettled: 'Liquidada',
    RepurchaseRequested: 'Saída pedida',
    RepurchaseCompleted: 'Saída concluída',
    DocumentsAdded: 'Documentos acrescentados',
    BorrowerForgotten: 'Dados do devedor apagados',
    LoanReserved: 'Reservada por uma renegociação',
    LoanReservationReleased: 'Reserva desfeita',
    LoanRenegotiated: 'Renegociada',
    LoanRenegotiationCompleted: 'Renegociação concluída',
  },
  en: {
    LoanReceived: 'Operation received',
    LoanApproved: 'Approved',
    LoanRejected: 'Rejected',
    LoanTermSigned: 'Term signed',
    LoanDisbursed: 'Disbursed',
    InstallmentSettled: 'Installment paid',
    InstallmentUnderpaid: 'Underpaid',
    InstallmentBecameOverdue: 'Installment overdue',
    PrepaymentProcessed: 'Prepayment',
    LoanFullySettled: 'Settled in full',
    RepurchaseRequested: 'Exit requested',
    RepurchaseCompleted: 'Exit completed',
    DocumentsAdded: 'Documents added',
    BorrowerForgotten: 'Data of the borrower erased',
    LoanReserved: 'Reserved by a renegotiation',
    LoanReservationReleased: 'Reservation released',
    LoanRenegotiated: 'Renegotiated',
    LoanRenegotiationCompleted: 'Renegotiation completed',
  },
};

export const METHODS: InLanguages<Readonly<Record<PaymentMethod, string>>> = {
  'pt-BR': {
    direct_debit: 'débito automático',
    boleto: 'boleto',
    pix: 'Pix',
    transfer: 'transferência',
    other: 'outro meio',
  },
  en: {
    direct_debit: 'direct debit',
    boleto: 'boleto',
    pix: 'Pix',
    transfer: 'transfer',
    other: 'another method',
  },
};

export const eventName = ({ type }: LoanEvent, language: Language): string => NAMES[language][type];

type Writer<Event> = (event: Event, language: Language) => string;
const either = (language: Language, portuguese: string, english: string): string =>
  language === 'pt-BR' ? portuguese : english;

const codes = (all: readonly string[]): string => all.join(', ');

/** Facts of each event in a few words; empty where its name says it all. Amounts as Brazil writes them, in either language. */
const WRITERS: { readonly [Type in EventType]: Writer<Extract<LoanEvent, { readonly type: Type }>> } = {
  LoanReceived: ({ acquisitionValue, installments, productType }, language) =>
    `${amount(acquisitionValue)}, ${installments.length} ${either(language, 'parcela(s)', 'installment(s)')}, ${productType}`,
  LoanApproved: () => '',
  LoanRejected: ({ reasons }) => reasons.map(({ code, message }) => `${code}: ${message}`).join('; '),
  LoanTermSigned: () => '',
  LoanDisbursed: ({ disbursedValue, disbursementDate, disbursedAt }, language) =>
    `${amount(disbursedValue)} ${either(language, 'em', 'on')} ${disbursementDate === undefined ? instant(disbursedAt) : date(disbursementDate)}`,
  InstallmentSettled: (event, language) => {
    const late =
      event.lateDays > 0 ? `, ${event.lateDays} ${either(language, 'dia(s) de atraso', 'day(s) late')}` : '';
    return `${event.installmentCode}: ${amount(event.settledValue)} ${either(language, 'em', 'on')} ${date(event.settledAt)}, ${METHODS[language][event.paymentMethod]}${late}`;
  },
  InstallmentUnderpaid: ({ installmentCode, difference, scheduledValue }, language) =>
    `${installmentCode}: ${either(language, 'faltaram', 'missing')} ${amount(Math.abs(difference))} ${either(language, 'de', 'of')} ${amount(scheduledValue)}`,
  InstallmentBecameOverdue: ({ installmentCode, dueDate }, language) =>
    `${installmentCode}, ${either(language, 'com vencimento em', 'due')} ${date(dueDate)}`,
  PrepaymentProcessed: (event, language) => {
    const { prepaymentValue, prepaymentDate, settledInstallments, excessValue } = event;
    const partial = partiallyPaid(event);
    return [
      `${amount(prepaymentValue)} ${either(language, 'em', 'on')} ${date(prepaymentDate)}`,
      settledInstallments.length > 0 &&
        `${either(language, 'quita', 'pays off')} ${codes(settledInstallments)}`,
      partial && `${either(language, 'credita', 'credits')} ${partial.installmentCode}`,
      excessValue > 0 && `${either(language, 'excedente', 'excess')} ${amount(excessValue)}`,
    ]
      .filter(Boolean)
      .join(', ');
  },
  LoanFullySettled: ({ totalReceived }, language) =>
    `${amount(totalReceived)} ${either(language, 'recebidos ao todo', 'received in all')}`,
  RepurchaseRequested: ({ reason, repurchaseValue, effectiveDate, calculatedValue }, language) => {
    const calculated =
      calculatedValue === repurchaseValue
        ? ''
        : ` (${either(language, 'calculado', 'calculated')} ${amount(calculatedValue)})`;
    return `${EXITS[reason].name[language]}, ${amount(repurchaseValue)}${calculated}, ${either(language, 'com efeito em', 'effective')} ${date(effectiveDate)}`;
  },
  RepurchaseCompleted: ({ reason, repurchaseValue }, language) =>
    `${EXITS[reason].name[language]}, ${amount(repurchaseValue)}`,
  DocumentsAdded: ({ documents }) => codes(documents.map(({ type }) => type)),
  BorrowerForgotten: ({ reason }) => reason ?? '',
  LoanReserved: () => '',
  LoanReservationReleased: () => '',
  LoanRenegotiated: ({ renegotiation }, language) =>
    `${either(language, 'substituída por', 'replaced by')} ${renegotiation.newProposalCode}`,
  LoanRenegotiationCompleted: ({ renegotiation }, language) =>
    `${renegotiation.newProposalCode} ${either(language, 'está ativa', 'is active')}`,
};

export const eventFacts = <Event extends LoanEvent>(event: Event, language: Language): string => {
  const write = WRITERS[event.type] as Writer<LoanEvent>;
  return write(event, language);
};

/** What the deciding person said of it. */
export const noteOf = (event: LoanEvent): string | undefined =>
  'decision' in event ? event.decision?.note : undefined;

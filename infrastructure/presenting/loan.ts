import type { LoanDetails } from '../../application/loans/loan-details.ts';
import { EXAMPLE, exampleSchedule } from '../../application/schemas/example-values.ts';
import { component, listOf, object, ref, text } from '../../application/schemas/schema.ts';
import type { Schema } from '../../application/schemas/schema.ts';
import {
  exampleOf,
  schemaOf,
  shown,
  shownAmount,
  shownBy,
  shownIfThere,
  shownPart,
  shownPartIfThere,
  within,
} from '../../application/schemas/shown-fields.ts';
import type { ShownFields } from '../../application/schemas/shown-fields.ts';
import { Amount, Balance, CalendarDate, DocumentKind, Timestamp } from '../../application/schemas/values.ts';
import { SUMMARY } from './loan-columns.ts';
import { DISBURSEMENT, PREPAYMENT, RENEGOTIATION, REPURCHASE } from './loan-history.ts';

const orNull = (type: 'string' | 'number', keywords: Schema): Schema => ({
  type: [type, 'null'],
  ...keywords,
});

const DOCUMENT: ShownFields<LoanDetails['documents'][number]> = {
  document_id: shown(
    { type: 'string', format: 'uuid', description: 'Our name for it.' },
    ({ documentId }) => documentId,
    EXAMPLE.documentId,
  ),
  type: shown(ref(DocumentKind), ({ type }) => type, 'ccb'),
  value: shown(
    orNull('string', {
      description: 'File name; null after the personal data was erased.',
      examples: ['ccb.pdf'],
    }),
    ({ value }) => value,
    'ccb.pdf',
  ),
  sha256: shown(
    { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Digest of the stored content.' },
    ({ sha256 }) => sha256,
    EXAMPLE.digest,
  ),
  size: shown({ type: 'integer', minimum: 0, description: 'Bytes.' }, ({ size }) => size, 48213),
  received_at: shown(ref(Timestamp), ({ receivedAt }) => receivedAt, EXAMPLE.received),
};
export const StoredDocument = component('StoredDocument', schemaOf(DOCUMENT));
export const presentDocument = shownBy(DOCUMENT);

const INSTALLMENT: ShownFields<LoanDetails['installments'][number]> = {
  code: shown(ref<string>('InstallmentCode'), ({ code }) => code),
  due_date: shown(ref(CalendarDate), ({ dueDate }) => dueDate),
  face_value: shownAmount(ref(Amount), ({ faceValue }) => faceValue),
  status: shown(
    orNull('string', {
      enum: ['pending', 'overdue', 'settled', 'prepaid', null],
      description: 'null until the operation is active.',
    }),
    ({ status }) => status,
  ),
  settled_at: shown(
    orNull('string', { format: 'date', description: 'Day of the payment; null while it is open.' }),
    ({ settledAt }) => settledAt,
  ),
  settled_value: shownAmount(
    orNull('number', { minimum: 0, description: 'What came in; null while it is open.' }),
    ({ settledValue }) => settledValue,
  ),
  payment_method: shown(
    orNull('string', { description: 'How it was paid; null while it is open.' }),
    ({ paymentMethod }) => paymentMethod,
  ),
  outstanding_value: shownAmount(
    {
      ...ref(Balance),
      description:
        'What it will owe on its due date; 0.00 once closed. After an exit it keeps what it owed when its status froze.',
    },
    ({ outstandingValue }) => outstandingValue,
  ),
};
export const Installment = component('Installment', schemaOf(INSTALLMENT));
const presentInstallment = shownBy(INSTALLMENT);

const BALANCES: ShownFields<LoanDetails['balances']> = {
  open_face_value: shownAmount(
    {
      ...ref(Balance),
      description: 'Faces of the installments that are not closed; 0 once the operation has left active.',
    },
    ({ openFaceValue }) => openFaceValue,
    950.5,
  ),
  received_value: shownAmount(ref(Balance), ({ receivedValue }) => receivedValue, 950.0),
  payoff_value: shownAmount(
    orNull('number', {
      minimum: 0,
      description:
        'Present value of the open installments on payoff_date; 0 once the operation has left active, null when it is beyond what an amount can be.',
    }),
    ({ payoffValue }) => payoffValue,
    921.37,
  ),
  payoff_date: shown(
    {
      ...ref(CalendarDate),
      description: 'Today in America/Sao_Paulo, or the issue day where that is later.',
    },
    ({ payoffDate }) => payoffDate,
    '2026-02-16',
  ),
};

const presentPrepayment = shownBy(PREPAYMENT);

const BORROWER: Schema = {
  type: ['object', 'null'],
  required: ['document_type', 'document_number', 'name'],
  properties: {
    document_type: text({ description: 'CPF or CNPJ.', examples: ['CPF'] }),
    document_number: text({ description: 'Masked but for its end.', examples: ['*********25'] }),
    name: text({ description: 'Name of the person or company.', examples: ['Maria da Silva'] }),
  },
  description: 'null after the personal data was erased.',
};

/** An operation as the interface and the command line show it. */
export const LOAN: ShownFields<LoanDetails> = {
  ...within(({ loan }) => loan, SUMMARY),
  status_history: shown(
    listOf(object({ status: ref<string>('LoanStatus'), at: ref(Timestamp) }), {
      description: 'Every status so far, oldest first.',
    }),
    ({ statusHistory }) => statusHistory.map(({ status, at }) => ({ status, at })),
    [
      { status: 'received', at: EXAMPLE.received },
      { status: 'approved', at: '2026-01-15T12:00:02.000Z' },
      { status: 'term_signed', at: '2026-01-15T12:00:04.000Z' },
      { status: 'active', at: '2026-01-15T12:00:06.000Z' },
    ],
  ),
  borrower: shown(
    BORROWER,
    ({ borrower }) =>
      borrower && {
        document_type: borrower.documentType,
        document_number: borrower.documentNumber,
        name: borrower.name,
      },
    { document_type: 'CPF', document_number: '*********25', name: 'Maria da Silva' },
  ),
  installments: shown(listOf(ref(Installment)), ({ installments }) => installments.map(presentInstallment), [
    {
      ...exampleSchedule[0],
      status: 'settled',
      settled_at: '2026-02-15',
      settled_value: 950.0,
      payment_method: 'pix',
      outstanding_value: 0.0,
    },
    {
      ...exampleSchedule[1],
      status: 'pending',
      settled_at: null,
      settled_value: null,
      payment_method: null,
      outstanding_value: 950.5,
    },
  ]),
  documents: shown(listOf(ref(StoredDocument)), ({ documents }) => documents.map(presentDocument), [
    exampleOf(DOCUMENT),
  ]),
  balances: shownPart(
    'Money that came in, and money that is still to come.',
    ({ balances }) => balances,
    BALANCES,
  ),
  disbursement: shownPartIfThere(
    'Present once the operation was disbursed.',
    ({ disbursement }) => disbursement,
    DISBURSEMENT,
  ),
  prepayments: shown(
    {
      ...listOf(schemaOf(PREPAYMENT)),
      description: 'Every one so far, oldest first.',
    },
    ({ prepayments }) => prepayments.map(presentPrepayment),
    [],
  ),
  repurchase: shownPartIfThere(
    'Present once a repurchase was requested.',
    ({ repurchase }) => repurchase,
    REPURCHASE,
  ),
  renegotiation: shownPartIfThere(
    'Present when the operation took part in a renegotiation.',
    ({ renegotiation }) => renegotiation,
    RENEGOTIATION,
  ),
  rejection_reasons: shownIfThere(
    listOf(
      object({
        code: text({ description: 'Stable name of the reason.' }),
        message: text({ description: 'For people.' }),
      }),
      { description: 'Why it was turned down; only of a rejected operation.' },
    ),
    ({ rejectionReasons }) => rejectionReasons?.map(({ code, message }) => ({ code, message })),
  ),
  version: shown(
    { type: 'integer', minimum: 0, description: 'Grows with each change of the operation.' },
    ({ loan }) => loan.version,
    4,
  ),
};

export const presentLoan = shownBy(LOAN);

import type { LoanDetails } from '../../application/loans/loan-details.ts';
import { EXAMPLE, exampleSchedule } from '../../application/schemas/example-values.ts';
import { listOf, object, ref, text, oneOf } from '../../application/schemas/schema.ts';
import type { Schema } from '../../application/schemas/schema.ts';
import {
  fieldsOf,
  named,
  shownComponent,
  namedAmount,
  namedPart,
  namedPartIfThere,
  schemaOf,
  shown,
  shownBy,
  shownIfThere,
  within,
} from '../../application/schemas/shown-fields.ts';
import { Amount, Balance, CalendarDate, DocumentKind, Timestamp } from '../../application/schemas/values.ts';
import { SUMMARY } from './loan-columns.ts';

type Happened<Name extends keyof LoanDetails> = NonNullable<LoanDetails[Name]>;

const THROUGH: Schema = {
  type: ['string', 'null'],
  format: 'date-time',
  description: 'null until it is through.',
};

const DISBURSEMENT = fieldsOf<Happened<'disbursement'>>()({
  value: namedAmount({ ...ref(Amount), description: 'What the fund paid for the operation.' }, 1800.0),
  date: named(
    {
      ...ref(CalendarDate),
      description:
        'The day on which it paid: as the administrator stated it, otherwise the day of the registration in Sao Paulo.',
    },
    '2026-01-15',
  ),
});

const PREPAYMENT = fieldsOf<LoanDetails['prepayments'][number]>()({
  value: namedAmount({ ...ref(Amount), description: 'What was paid in advance.' }),
  date: named(ref(CalendarDate)),
  settled_installments: named(
    listOf(ref<string>('InstallmentCode'), {
      description: 'Installments that it paid off; empty when all of it is a credit.',
    }),
  ),
  excess_value: namedAmount({
    ...ref(Balance),
    description: 'What was above the present value of all that was open.',
  }),
});

const REPURCHASE = fieldsOf<Happened<'repurchase'>>()({
  reason: named(text({ description: 'As it was requested.', examples: ['repurchase'] })),
  reason_detail: named({
    type: ['string', 'null'],
    description: 'The remark of the request; null without one, and after the personal data was erased.',
  }),
  effective_date: named(ref(CalendarDate)),
  repurchase_value: namedAmount(ref(Balance)),
  calculated_value: namedAmount({
    ...ref(Balance),
    description: 'What the state of the operation gave, also where the request stated another value.',
  }),
  calculated_at: named(ref(Timestamp)),
  completed_at: named(THROUGH),
});

const RENEGOTIATION = fieldsOf<Happened<'renegotiation'>>()({
  role: named(
    oneOf(['original', 'new'], {
      description: 'Whether this operation was replaced or replaces others.',
    }),
  ),
  original_proposal_codes: named(listOf(ref<string>('ProposalCode'))),
  new_proposal_code: named(ref<string>('ProposalCode')),
  effective_date: named(ref(CalendarDate)),
  completed_at: named(THROUGH),
});

const orNull = (type: 'string' | 'number', keywords: Schema): Schema => ({
  type: [type, 'null'],
  ...keywords,
});

const DOCUMENT = fieldsOf<LoanDetails['documents'][number]>()({
  document_id: named({ type: 'string', format: 'uuid', description: 'Our name for it.' }, EXAMPLE.documentId),
  type: named(ref(DocumentKind), 'ccb'),
  value: named(
    orNull('string', {
      description: 'File name; null after the personal data was erased.',
      examples: ['ccb.pdf'],
    }),
    'ccb.pdf',
  ),
  sha256: named(
    { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Digest of the stored content.' },
    EXAMPLE.digest,
  ),
  size: named({ type: 'integer', minimum: 0, description: 'Bytes.' }, 48213),
  received_at: named(ref(Timestamp), EXAMPLE.received),
});
export const StoredDocument = shownComponent('StoredDocument', DOCUMENT);

const INSTALLMENT = fieldsOf<LoanDetails['installments'][number]>()({
  code: named(ref<string>('InstallmentCode')),
  due_date: named(ref(CalendarDate)),
  face_value: namedAmount(ref(Amount)),
  status: named(
    orNull('string', {
      enum: ['pending', 'overdue', 'settled', 'prepaid', null],
      description: 'null until the operation is active.',
    }),
  ),
  settled_at: named(
    orNull('string', { format: 'date', description: 'Day of the payment; null while it is open.' }),
  ),
  settled_value: namedAmount(
    orNull('number', { minimum: 0, description: 'What came in; null while it is open.' }),
  ),
  payment_method: named(orNull('string', { description: 'How it was paid; null while it is open.' })),
  outstanding_value: namedAmount({
    ...ref(Balance),
    description:
      'What it will owe on its due date; 0.00 once closed. After an exit it keeps what it owed when its status froze.',
  }),
});
const Installment = shownComponent('Installment', INSTALLMENT);

const BALANCES = fieldsOf<LoanDetails['balances']>()({
  open_face_value: namedAmount(
    {
      ...ref(Balance),
      description: 'Faces of the installments that are not closed; 0 once the operation has left active.',
    },
    950.5,
  ),
  received_value: namedAmount(ref(Balance), 950.0),
  payoff_value: namedAmount(
    orNull('number', {
      minimum: 0,
      description:
        'Present value of the open installments on payoff_date; 0 once the operation has left active, null when it is beyond what an amount can be.',
    }),
    921.37,
  ),
  payoff_date: named(
    {
      ...ref(CalendarDate),
      description: 'Today in America/Sao_Paulo, or the issue day where that is later.',
    },
    '2026-02-16',
  ),
});

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

const LOAN = fieldsOf<LoanDetails>()({
  ...within(({ loan }: LoanDetails) => loan, SUMMARY),
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
  installments: shown(listOf(ref(Installment)), ({ installments }) => installments.map(Installment.show), [
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
  documents: shown(listOf(ref(StoredDocument)), ({ documents }) => documents.map(StoredDocument.show), [
    StoredDocument.example,
  ]),
  balances: namedPart('Money that came in, and money that is still to come.', BALANCES),
  disbursement: namedPartIfThere('Present once the operation was disbursed.', DISBURSEMENT),
  prepayments: shown(
    listOf(schemaOf(PREPAYMENT), { description: 'Every one so far, oldest first.' }),
    ({ prepayments }) => prepayments.map(presentPrepayment),
    [],
  ),
  repurchase: namedPartIfThere('Present once a repurchase was requested.', REPURCHASE),
  renegotiation: namedPartIfThere('Present when the operation took part in a renegotiation.', RENEGOTIATION),
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
});

/** An operation as the interface and the command line show it. */
export const Loan = shownComponent('Loan', LOAN, {
  description: 'One operation with its schedule, documents and balances.',
});

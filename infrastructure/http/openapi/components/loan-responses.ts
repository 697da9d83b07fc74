import { nullable, object, ref } from '../../../../application/schemas/schema.ts';
import type { Schema } from '../../../../application/schemas/schema.ts';

const text = (description: string, example?: string): Schema => ({
  type: 'string',
  description,
  ...(example !== undefined && { examples: [example] }),
});
const amountOrNull: Schema = { type: ['number', 'null'], minimum: 0 };
const timestampOrNull: Schema = { type: ['string', 'null'], format: 'date-time' };
const dateOrNull: Schema = { type: ['string', 'null'], format: 'date' };
const listOf = (items: Schema): Schema => ({ type: 'array', items });

const installment = object({
  code: ref('InstallmentCode'),
  due_date: ref('CalendarDate'),
  face_value: ref('Amount'),
  status: {
    type: ['string', 'null'],
    enum: ['pending', 'overdue', 'settled', 'prepaid', null],
    description: 'null until the operation is active.',
  },
  settled_at: { ...dateOrNull, description: 'Day of the payment; null while it is open.' },
  settled_value: { ...amountOrNull, description: 'What came in; null while it is open.' },
  payment_method: { type: ['string', 'null'], description: 'How it was paid; null while it is open.' },
  outstanding_value: {
    ...ref('Balance'),
    description: 'What it will owe on its due date; 0.00 once closed.',
  },
});

const storedDocument = object({
  document_id: { type: 'string', format: 'uuid', description: 'Our name for it.' },
  type: ref('DocumentKind'),
  value: {
    type: ['string', 'null'],
    description: 'File name; null after the personal data was erased.',
    examples: ['ccb.pdf'],
  },
  sha256: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Digest of the stored content.' },
  size: { type: 'integer', minimum: 0, description: 'Bytes.' },
  received_at: ref('Timestamp'),
});

const summary = {
  originator_proposal_code: ref('ProposalCode'),
  fund_id: ref('FundId'),
  status: ref('LoanStatus'),
  product_type: ref('ProductType'),
  acquisition_value: ref('Amount'),
  number_of_installments: { type: 'integer', minimum: 1, description: 'Length of the schedule.' },
  date_issued: ref('CalendarDate'),
  received_at: ref('Timestamp'),
  updated_at: ref('Timestamp'),
};

const disbursement: Schema = {
  ...object({
    value: { ...ref('Amount'), description: 'What the fund paid for the operation.' },
    date: {
      ...ref('CalendarDate'),
      description:
        'The day on which it paid: as the administrator stated it, otherwise the day of the registration in Sao Paulo.',
    },
  }),
  description: 'Present once the operation was disbursed.',
};

const prepayment: Schema = object({
  value: { ...ref('Amount'), description: 'What was paid in advance.' },
  date: ref('CalendarDate'),
  settled_installments: {
    ...listOf(ref('InstallmentCode')),
    description: 'Installments that it paid off; empty when all of it is a credit.',
  },
  excess_value: { ...ref('Balance'), description: 'What was above the present value of all that was open.' },
});

const repurchase: Schema = {
  ...object({
    reason: text('As it was requested.', 'repurchase'),
    reason_detail: {
      type: ['string', 'null'],
      description: 'The remark of the request; null without one, and after the personal data was erased.',
    },
    effective_date: ref('CalendarDate'),
    repurchase_value: ref('Balance'),
    calculated_value: {
      ...ref('Balance'),
      description: 'What the state of the operation gave, also where the request stated another value.',
    },
    calculated_at: ref('Timestamp'),
    completed_at: { ...timestampOrNull, description: 'null until it is through.' },
  }),
  description: 'Present once a repurchase was requested.',
};

const renegotiation: Schema = {
  ...object({
    role: {
      type: 'string',
      enum: ['original', 'new'],
      description: 'Whether this operation was replaced or replaces others.',
    },
    original_proposal_codes: listOf(ref('ProposalCode')),
    new_proposal_code: ref('ProposalCode'),
    effective_date: ref('CalendarDate'),
    completed_at: { ...timestampOrNull, description: 'null until it is through.' },
  }),
  description: 'Present when the operation took part in a renegotiation.',
};

const details = object(
  {
    ...summary,
    status_history: {
      ...listOf(object({ status: ref('LoanStatus'), at: ref('Timestamp') })),
      description: 'Every status so far, oldest first.',
    },
    borrower: {
      type: ['object', 'null'],
      required: ['document_type', 'document_number', 'name'],
      properties: {
        document_type: text('CPF or CNPJ.', 'CPF'),
        document_number: text('Masked but for its end.', '*********25'),
        name: text('Name of the person or company.', 'Maria da Silva'),
      },
      description: 'null after the personal data was erased.',
    },
    installments: listOf(ref('Installment')),
    documents: listOf(ref('StoredDocument')),
    balances: {
      ...object({
        open_face_value: ref('Balance'),
        received_value: ref('Balance'),
        payoff_value: {
          type: ['number', 'null'],
          minimum: 0,
          description:
            'Present value of the open installments on payoff_date; null when it is beyond what an amount can be.',
        },
        payoff_date: ref('CalendarDate'),
      }),
      description: 'Money that came in, and money that is still to come.',
    },
    disbursement,
    prepayments: { ...listOf(prepayment), description: 'Every one so far, oldest first.' },
    repurchase,
    renegotiation,
    rejection_reasons: {
      ...listOf(object({ code: text('Stable name of the reason.'), message: text('For people.') })),
      description: 'Why it was turned down; only of a rejected operation.',
    },
    version: { type: 'integer', minimum: 0, description: 'Grows with each change of the operation.' },
  },
  ['disbursement', 'repurchase', 'renegotiation', 'rejection_reasons'],
);

/** What the service says about operations. */
export const loanResponseSchemas: Readonly<Record<string, Schema>> = {
  LoanReceipt: {
    ...object({
      originator_proposal_code: ref('ProposalCode'),
      status: ref('LoanStatus'),
      fund_id: ref('FundId'),
      received_at: ref('Timestamp'),
    }),
    description: 'Acknowledges an operation. A repeated request shows the status of today.',
  },
  Installment: installment,
  StoredDocument: storedDocument,
  LoanSummary: object(summary),
  Loan: { ...details, description: 'One operation with its schedule, documents and balances.' },
  LoanPage: object({
    data: listOf(ref('LoanSummary')),
    next_cursor: nullable(text('Send it as `cursor` to get the next page; null on the last one.')),
  }),
};

import { component, listOf, object, ref, schemasOf, text } from '../../../application/schemas/schema.ts';
import {
  Amount,
  Balance,
  CalendarDate,
  InstallmentCode,
  isProposalCode,
  LoanStatus,
  Timestamp,
} from '../../../application/schemas/values.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { json } from '../openapi/operation.ts';
import { forClient, ok } from '../operation.ts';
import { presentLoan } from '../../presenting/loan.ts';
import { endpoint } from './endpoint.ts';
import { EXAMPLE, exampleSchedule } from './example-values.ts';
import { exampleSummary, LoanSummary, summaryFields } from './list-loans.ts';
import { disbursement, prepayment, renegotiation, repurchase } from './loan-history.ts';
import { StoredDocument } from './stored-documents.ts';

const AMOUNT_OR_NULL = { type: ['number', 'null'], minimum: 0 } as const;
const DATE_OR_NULL = { type: ['string', 'null'], format: 'date' } as const;

const Installment = component(
  'Installment',
  object({
    code: ref(InstallmentCode),
    due_date: ref(CalendarDate),
    face_value: ref(Amount),
    status: {
      type: ['string', 'null'],
      enum: ['pending', 'overdue', 'settled', 'prepaid', null],
      description: 'null until the operation is active.',
    },
    settled_at: { ...DATE_OR_NULL, description: 'Day of the payment; null while it is open.' },
    settled_value: { ...AMOUNT_OR_NULL, description: 'What came in; null while it is open.' },
    payment_method: { type: ['string', 'null'], description: 'How it was paid; null while it is open.' },
    outstanding_value: {
      ...ref(Balance),
      description:
        'What it will owe on its due date; 0.00 once closed. After an exit it keeps what it owed when its status froze.',
    },
  }),
);

const details = object(
  {
    ...summaryFields,
    status_history: {
      ...listOf(object({ status: ref(LoanStatus), at: ref(Timestamp) })),
      description: 'Every status so far, oldest first.',
    },
    borrower: {
      type: ['object', 'null'],
      required: ['document_type', 'document_number', 'name'],
      properties: {
        document_type: text({ description: 'CPF or CNPJ.', examples: ['CPF'] }),
        document_number: text({ description: 'Masked but for its end.', examples: ['*********25'] }),
        name: text({ description: 'Name of the person or company.', examples: ['Maria da Silva'] }),
      },
      description: 'null after the personal data was erased.',
    },
    installments: listOf(ref(Installment)),
    documents: listOf(ref(StoredDocument)),
    balances: {
      ...object({
        open_face_value: {
          ...ref(Balance),
          description: 'Faces of the installments that are not closed; 0 once the operation has left active.',
        },
        received_value: ref(Balance),
        payoff_value: {
          type: ['number', 'null'],
          minimum: 0,
          description:
            'Present value of the open installments on payoff_date; 0 once the operation has left active, null when it is beyond what an amount can be.',
        },
        payoff_date: {
          ...ref(CalendarDate),
          description: 'Today in America/Sao_Paulo, or the issue day where that is later.',
        },
      }),
      description: 'Money that came in, and money that is still to come.',
    },
    disbursement,
    prepayments: { ...listOf(prepayment), description: 'Every one so far, oldest first.' },
    repurchase,
    renegotiation,
    rejection_reasons: {
      ...listOf(
        object({
          code: text({ description: 'Stable name of the reason.' }),
          message: text({ description: 'For people.' }),
        }),
      ),
      description: 'Why it was turned down; only of a rejected operation.',
    },
    version: { type: 'integer', minimum: 0, description: 'Grows with each change of the operation.' },
  },
  ['disbursement', 'repurchase', 'renegotiation', 'rejection_reasons'],
);

const Loan = component('Loan', {
  ...details,
  description: 'One operation with its schedule, documents and balances.',
});
export const loanSchemas = schemasOf(Installment, StoredDocument, LoanSummary, Loan);

const example = {
  ...exampleSummary,
  status_history: [
    { status: 'received', at: EXAMPLE.received },
    { status: 'approved', at: '2026-01-15T12:00:02.000Z' },
    { status: 'term_signed', at: '2026-01-15T12:00:04.000Z' },
    { status: 'active', at: '2026-01-15T12:00:06.000Z' },
  ],
  borrower: { document_type: 'CPF', document_number: '*********25', name: 'Maria da Silva' },
  installments: [
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
  ],
  documents: [
    {
      document_id: EXAMPLE.documentId,
      type: 'ccb',
      value: 'ccb.pdf',
      sha256: EXAMPLE.digest,
      size: 48213,
      received_at: EXAMPLE.received,
    },
  ],
  balances: {
    open_face_value: 950.5,
    received_value: 950.0,
    payoff_value: 921.37,
    payoff_date: '2026-02-16',
  },
  disbursement: { value: 1800.0, date: '2026-01-15' },
  prepayments: [],
  version: 4,
};

export const readLoan = endpoint({
  id: 'readLoan',
  method: 'get',
  path: '/loan/{originator_proposal_code}',
  tag: 'Loans',
  summary: 'Read an operation',
  description:
    'Shows the operation as it is now. A write of yours that was answered before this read is in it.',
  access: 'loans:read',
  bucket: 'read',
  parameters: ['ProposalCode'],
  success: [json(200, 'The operation.', Loan, example)],
  errors: ['loan_not_found'],
  handler: ({ app: { loans } }) => ({
    run: forClient(async (context, { params }) => {
      const code = params['originator_proposal_code'] ?? '';
      const loan = isProposalCode(code) ? await loans.read(context, code) : undefined;
      if (loan) return ok(presentLoan(loan));
      throw new HttpProblem('loan_not_found', 'this application has no operation with this code');
    }),
  }),
});

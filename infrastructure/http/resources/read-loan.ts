import type { InstallmentDetails, LoanDetails } from '../../../application/loans/loan-details.ts';
import type { LoanReading } from '../../../application/loans/read-loan.ts';
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
import { amount, amountOrNull, forClient, ok } from '../operation.ts';
import { endpoint } from './endpoint.ts';
import { EXAMPLE, exampleSchedule } from './example-values.ts';
import { exampleSummary, LoanSummary, presentLoanSummary, summaryFields } from './list-loans.ts';
import {
  disbursement,
  prepayment,
  presentPrepayment,
  presentRenegotiation,
  presentRepurchase,
  renegotiation,
  repurchase,
} from './loan-history.ts';
import { presentDocument, StoredDocument } from './stored-documents.ts';

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
      description: 'What it will owe on its due date; 0.00 once closed.',
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
        open_face_value: ref(Balance),
        received_value: ref(Balance),
        payoff_value: {
          type: ['number', 'null'],
          minimum: 0,
          description:
            'Present value of the open installments on payoff_date; null when it is beyond what an amount can be.',
        },
        payoff_date: ref(CalendarDate),
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

const presentInstallment = (details: InstallmentDetails): object => ({
  code: details.code,
  due_date: details.dueDate,
  face_value: amount(details.faceValue),
  status: details.status,
  settled_at: details.settledAt,
  settled_value: amountOrNull(details.settledValue),
  payment_method: details.paymentMethod,
  outstanding_value: amount(details.outstandingValue),
});

const presentBorrower = (details: NonNullable<LoanDetails['borrower']>): object => ({
  document_type: details.documentType,
  document_number: details.documentNumber,
  name: details.name,
});

const presentBalances = (details: LoanDetails['balances']): object => ({
  open_face_value: amount(details.openFaceValue),
  received_value: amount(details.receivedValue),
  payoff_value: amountOrNull(details.payoffValue),
  payoff_date: details.payoffDate,
});

export const presentLoan = (loan: LoanDetails): object => ({
  ...presentLoanSummary(loan),
  status_history: loan.statusHistory.map(({ status, at }) => ({ status, at })),
  borrower: loan.borrower && presentBorrower(loan.borrower),
  installments: loan.installments.map(presentInstallment),
  documents: loan.documents.map(presentDocument),
  balances: presentBalances(loan.balances),
  ...(loan.disbursement && {
    disbursement: { value: amount(loan.disbursement.value), date: loan.disbursement.date },
  }),
  prepayments: loan.prepayments.map(presentPrepayment),
  ...(loan.repurchase && { repurchase: presentRepurchase(loan.repurchase) }),
  ...(loan.renegotiation && { renegotiation: presentRenegotiation(loan.renegotiation) }),
  ...(loan.rejectionReasons && {
    rejection_reasons: loan.rejectionReasons.map(({ code, message }) => ({ code, message })),
  }),
  version: loan.version,
});

export interface LoanReadUses {
  readonly readLoan: LoanReading['read'];
}

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
  handler: ({ readLoan: read }: LoanReadUses) => ({
    run: forClient(async (context, { params }) => {
      const code = params['originator_proposal_code'] ?? '';
      const loan = isProposalCode(code) ? await read(context, code) : undefined;
      if (loan) return ok(presentLoan(loan));
      throw new HttpProblem('loan_not_found', 'this application has no operation with this code');
    }),
  }),
});

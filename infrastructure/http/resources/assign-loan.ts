import type { AskedAssignment, LoanReceipt as Receipt } from '../../../application/loans/assign-loan.ts';
import type { Loans } from '../../../application/loans/loans.ts';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import { component, ref, requestObject } from '../../../application/schemas/schema.ts';
import type { TypeOf } from '../../../application/schemas/schema.ts';
import {
  Amount,
  Balance,
  CalendarDate,
  FundId,
  ProductType,
  ProposalCode,
  Timestamp,
} from '../../../application/schemas/values.ts';
import type { FundId as OwnFundId } from '../../../domain/shared/identifiers.ts';
import { centsFromAmount } from '../../../domain/shared/money.ts';
import { REPLAYED } from '../openapi/components/headers.ts';
import { json } from '../openapi/operation.ts';
import recorded from '../openapi/recorded-answers.json' with { type: 'json' };
import { ok, outcomeReply, endpoint } from '../operation.ts';
import { checkIssue } from '../requests/request-rules.ts';
import type { CrossCheck } from '../requests/request-rules.ts';
import { BackingDocuments, checkDocumentNames, FILE_ERRORS } from './documents.ts';
import { Borrower, checkBorrower } from './borrower.ts';
import {
  fieldsOf,
  named,
  shownComponent,
  namedAmount,
  namedList,
  shown,
} from '../../../application/schemas/shown-fields.ts';
import { EXAMPLE, exampleSchedule } from '../../../application/schemas/example-values.ts';
import { dryRun, QUOTED_LINE, QUOTED_OPERATION } from './quotes.ts';
import { askedWishes } from './sandbox-outcome.ts';
import { checkSchedule, NewInstallments, NumberOfInstallments, scheduleOf } from './schedule.ts';

const LoanData = component('LoanData', {
  ...requestObject(
    {
      fund_id: ref(FundId),
      originator_proposal_code: ref(ProposalCode),
      product_type: ref(ProductType),
      acquisition_value: {
        ...ref(Amount),
        description:
          'What the fund is to pay for the operation; its curve follows it, whatever is disbursed.',
      },
      number_of_installments: ref(NumberOfInstallments),
      date_issued: { ...ref(CalendarDate), description: 'Issue date of the credit.' },
      borrower: ref(Borrower),
      installments: ref(NewInstallments),
      backing_documents: ref(BackingDocuments),
      dry_run: {
        ...dryRun,
        description:
          'True only asks what the operation would be worth to the fund: the same checks, and the curve that it would have, line by ' +
          'line. Nothing is stored, nobody is told, and the code stays free. Files may be left out.',
      },
    },
    ['dry_run'],
  ),
  description:
    'An operation offered to a fund. Fields that are not listed here are ignored, but for a listed one that is misspelt.',
});
type LoanData = TypeOf<typeof LoanData>;

export const exampleLoanData = {
  fund_id: EXAMPLE.fundId,
  originator_proposal_code: EXAMPLE.code,
  product_type: 'financing',
  acquisition_value: 1800.0,
  number_of_installments: 2,
  date_issued: '2026-01-15',
  borrower: {
    document_number: '52998224725',
    document_type: 'CPF',
    name: 'Maria da Silva',
    birth_date: '1990-05-20',
    email: 'maria@example.com',
    phone: '+5511999990000',
    address: {
      zip_code: '01310100',
      street: 'Avenida Paulista',
      number: '1000',
      neighborhood: 'Bela Vista',
      city: 'Sao Paulo',
      state: 'SP',
    },
  },
  installments: exampleSchedule,
  backing_documents: [{ type: 'ccb', value: 'ccb.pdf' }],
};

const crossCheck: CrossCheck = (draft, rules) => [
  ...checkIssue('date_issued', draft['date_issued'], rules),
  ...checkSchedule(draft, draft['date_issued']),
  ...checkDocumentNames(draft['backing_documents'], 'backing_documents'),
  ...checkBorrower(draft['borrower'], rules),
];

const inputOf = (body: LoanData, files: readonly ReceivedFile[]): AskedAssignment => ({
  fundId: body.fund_id.toLowerCase() as OwnFundId,
  code: body.originator_proposal_code,
  productType: body.product_type,
  acquisitionValue: centsFromAmount(body.acquisition_value),
  dateIssued: body.date_issued,
  borrower: body.borrower,
  installments: scheduleOf(body.installments),
  documents: body.backing_documents,
  files,
});

const RECEIPT = fieldsOf<Receipt>()({
  originator_proposal_code: shown(ref(ProposalCode), ({ code }) => code, EXAMPLE.code),
  status: named(ref<string>('LoanStatus'), 'received'),
  fund_id: named(ref(FundId), EXAMPLE.fundId),
  received_at: named(ref(Timestamp), EXAMPLE.received),
});
const LoanReceipt = shownComponent('LoanReceipt', RECEIPT, {
  description: 'Acknowledges an operation. A repeated request shows the status of today.',
});

const QUOTE = fieldsOf<Awaited<ReturnType<Loans['quoteAssignment']>>>()({
  ...QUOTED_OPERATION,
  fund_id: named(ref(FundId)),
  annual_rate: named({
    type: ['string', 'null'],
    description:
      'Effective rate of a year on the curve, as a decimal with 10 decimals: `0.2500000000` is 25 %. null when it is above 10^12.',
    examples: ['0.2809353655'],
  }),
  acquisition_value: namedAmount(ref(Amount)),
  face_value: namedAmount({ ...ref(Balance), description: 'Sum of the installments.' }),
  number_of_installments: shown(ref(NumberOfInstallments), ({ lines }) => lines.length),
  lines: namedList(
    'Every installment; days and present values are those on the issue day, and add up to the acquisition value.',
    QUOTED_LINE,
  ),
  files_checked: named({
    type: 'boolean',
    description: 'Whether every document came with its file. Those that came were checked, and thrown away.',
  }),
  calculated_at: named(ref(Timestamp)),
});
const AssignmentQuote = shownComponent('AssignmentQuote', QUOTE, {
  description: 'Answer to an assignment with `dry_run`.',
});

export const assignLoan = endpoint({
  id: 'assignLoan',
  request: 'POST /loan',
  summary: 'Offer an operation to a fund',
  description:
    'Sends the data of the operation in the part `loan_data` and its PDF files in parts named `files`. ' +
    'All broken rules come back together in `details`. The code of the operation is its idempotency key: the same ' +
    'request again answers 201 with the status of today, another payload answers 409. What happens next arrives by webhook. ' +
    'With `dry_run` nothing of this happens and files may be left out; the answer says what the operation would be worth, and a code ' +
    'that is in use is refused, whatever stands beside it.',
  access: 'loans:write',
  bucket: 'loan',
  sandboxParameters: ['SandboxOutcome', 'SandboxDisburse', 'SandboxStrict', 'SandboxFail'],
  body: {
    schema: LoanData,
    // The reference makes a row of a form of each field, and sends one without a value as an empty text.
    example: { ...exampleLoanData, dry_run: false },
    sample: exampleLoanData,
    dataPart: 'loan_data',
    exampleFiles: ['ccb.pdf'],
    limit: 262_144,
  },
  success: [
    { ...json(201, 'The operation is recorded.', LoanReceipt), headers: REPLAYED },
    {
      status: 200,
      description: 'What a `dry_run` asked for; nothing is recorded.',
      mediaType: 'application/json',
      schema: ref(AssignmentQuote),
      quote: recorded.quotes.assignment,
    },
  ],
  errors: [
    ...FILE_ERRORS,
    ...(['invalid_document_type', 'fund_not_allowed', 'proposal_code_already_used'] as const),
  ],
  crossCheck,
  fileNames: (body: LoanData) => body.backing_documents.map(({ value }) => value),
  mayLackFiles: ({ dry_run }: LoanData) => dry_run === true,
  answer: async ({ loans, administrator }, context, { body, files, headers }) => {
    const input = { ...inputOf(body, files), ...(await askedWishes(headers, administrator)) };
    if (body.dry_run) return ok(AssignmentQuote.show(await loans.quoteAssignment(context, input)));
    return outcomeReply(201, await loans.assign(context, input), LoanReceipt.show);
  },
});

import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import type { AskedRenegotiation } from '../../../application/renegotiation/request.ts';
import {
  ELSEWHERE,
  component,
  listOf,
  object,
  ref,
  refused,
  requestObject,
} from '../../../application/schemas/schema.ts';
import type { TypeOf } from '../../../application/schemas/schema.ts';
import { Amount, CalendarDate, ProductType, ProposalCode } from '../../../application/schemas/values.ts';
import type { FieldViolation } from '../../../domain/shared/domain-error.ts';
import { centsFromAmount } from '../../../domain/shared/money.ts';
import { asDraft, asList, asText, checkIssue, repetitions } from '../requests/request-rules.ts';
import type { CrossCheck, Draft } from '../requests/request-rules.ts';
import { BackingDocuments, checkDocumentNames } from './documents.ts';
import { Borrower, checkBorrower } from './borrower.ts';
import { EXAMPLE } from '../../../application/schemas/example-values.ts';
import { dryRun } from './quotes.ts';
import { NewInstallments, NumberOfInstallments, checkSchedule, scheduleOf } from './schedule.ts';

const MOST_ORIGINALS = 50;

const original = {
  ...ref(ProposalCode),
  description: 'The active operation that is replaced. Its code is the idempotency key.',
};

const originals = {
  type: 'array',
  minItems: 1,
  maxItems: MOST_ORIGINALS,
  ...listOf(ref(ProposalCode)),
  description: 'The active operations that are replaced, each once, all of one fund.',
  ...refused('invalid_count', `must be a list of 1 to ${MOST_ORIGINALS} codes`),
};

const proposalFields = {
  originator_proposal_code: {
    ...ref(ProposalCode),
    description: 'Code of the operation that comes in; nothing may have been assigned under it before.',
  },
  number_of_installments: ref(NumberOfInstallments),
  acquisition_value: { ...ref(Amount), description: 'What the new operation is worth to the fund.' },
  installments: ref(NewInstallments),
};

const WITHOUT_DOCUMENTS = {
  backing_documents: 'is not a field here; new documents are sent as a form with the part renegotiation_data',
};

const ONE_ORIGINAL =
  'is not a field here; one original is original_proposal_code, and several are sent as a form with the part renegotiation_data';

const effectiveDate = {
  ...ref(CalendarDate),
  description: 'Day from which the new schedule counts; no original was issued after it.',
};

const NewProposal = component('NewProposal', {
  ...object(proposalFields),
  [ELSEWHERE]: WITHOUT_DOCUMENTS,
  description:
    'The operation that comes in. Fund, product, borrower and documents are those of the original.',
});
type NewProposal = TypeOf<typeof NewProposal>;

const NewLoan = component('NewLoan', {
  ...requestObject(
    {
      ...proposalFields,
      backing_documents: ref(BackingDocuments),
      product_type: { ...ref(ProductType), description: 'Left out: that of the first original.' },
      date_issued: { ...ref(CalendarDate), description: 'Left out: the effective date.' },
      borrower: { ...ref(Borrower), description: 'Left out: the one that all originals have.' },
    },
    ['product_type', 'date_issued', 'borrower'],
  ),
  description:
    'The operation that comes in, with documents of the type `renegotiation_document`. Without a borrower it keeps ' +
    'the one that all originals have.',
});

export const RenegotiationRequest = component('RenegotiationRequest', {
  ...requestObject(
    {
      original_proposal_code: original,
      new_proposal: ref(NewProposal),
      effective_date: effectiveDate,
      dry_run: dryRun,
    },
    ['dry_run'],
  ),
  [ELSEWHERE]: { ...WITHOUT_DOCUMENTS, original_proposal_codes: ONE_ORIGINAL },
  description: 'Replaces one operation, without new documents.',
});
type RenegotiationRequest = TypeOf<typeof RenegotiationRequest>;

export const RenegotiationData = component('RenegotiationData', {
  ...requestObject(
    {
      original_proposal_codes: originals,
      original_proposal_code: { ...original, description: 'For a single operation, instead of the list.' },
      new_loan: ref(NewLoan),
      effective_date: effectiveDate,
      dry_run: dryRun,
    },
    ['original_proposal_codes', 'original_proposal_code', 'dry_run'],
  ),
  description: 'Replaces one or several operations, with new documents.',
});
type RenegotiationData = TypeOf<typeof RenegotiationData>;

const NEW_CODE = `${EXAMPLE.code}-R1`;

const exampleProposal = {
  originator_proposal_code: NEW_CODE,
  number_of_installments: 2,
  acquisition_value: 6000.0,
  installments: [
    { code: '001', due_date: '2026-08-20', face_value: 3100.0 },
    { code: '002', due_date: '2026-09-20', face_value: 3100.0 },
  ],
};

export const exampleRenegotiation = {
  original_proposal_code: EXAMPLE.code,
  new_proposal: exampleProposal,
  effective_date: '2026-06-20',
};

export const exampleRenegotiationData = {
  original_proposal_codes: [EXAMPLE.code, 'OP-2026-000124'],
  new_loan: {
    ...exampleProposal,
    backing_documents: [{ type: 'renegotiation_document', value: 'debt.docx' }],
  },
  effective_date: '2026-06-20',
};

/** Of the single operation that a sample assigns. */
export const sampleRenegotiationData = {
  ...exampleRenegotiationData,
  original_proposal_codes: [EXAMPLE.code],
  new_loan: {
    ...exampleProposal,
    backing_documents: [{ type: 'renegotiation_document', value: 'debt.pdf' }],
  },
};

const under = (parent: string, violations: readonly FieldViolation[]): readonly FieldViolation[] =>
  violations.map((violation) => ({ ...violation, field: `${parent}.${violation.field}` }));

const checkNewCode = (
  parent: string,
  proposal: Draft,
  originals: readonly unknown[],
): readonly FieldViolation[] => {
  const code = asText(proposal['originator_proposal_code']);
  if (code === undefined || !originals.includes(code)) return [];
  const message = 'must differ from the codes of the operations that it replaces';
  return [{ field: `${parent}.originator_proposal_code`, code: 'new_code_is_an_original', message }];
};

const checkRequest: CrossCheck = (draft, rules) => {
  const proposal = asDraft(draft['new_proposal']);
  if (!proposal) return [];
  return [
    ...checkIssue('effective_date', draft['effective_date'], rules),
    ...under('new_proposal', checkSchedule(proposal, draft['effective_date'])),
    ...checkNewCode('new_proposal', proposal, [draft['original_proposal_code']]),
  ];
};

const checkOriginals = (draft: Draft): readonly FieldViolation[] => {
  const { original_proposal_codes: listed, original_proposal_code: single } = draft;
  const field = 'original_proposal_codes';
  if (listed === undefined && single === undefined)
    return [{ field, code: 'required', message: 'is required' }];
  if (listed !== undefined && single !== undefined && !asList(listed).includes(single)) {
    return [
      { field, code: 'contradictory', message: 'must include original_proposal_code, or leave that one out' },
    ];
  }
  return repetitions(asList(listed).map(asText)).map(({ index }) => ({
    field: `${field}[${index}]`,
    code: 'duplicate_original',
    message: 'must name an operation that is not listed before',
  }));
};

const checkData: CrossCheck = (draft, rules) => {
  const loan = asDraft(draft['new_loan']);
  const originals = [...asList(draft['original_proposal_codes']), draft['original_proposal_code']];
  return [
    ...checkOriginals(draft),
    ...(loan
      ? [
          ...under('new_loan', checkSchedule(loan, loan['date_issued'] ?? draft['effective_date'])),
          ...checkDocumentNames(loan['backing_documents'], 'new_loan.backing_documents'),
          ...under('new_loan', checkBorrower(loan['borrower'], rules)),
          ...(loan['date_issued'] === undefined
            ? checkIssue('effective_date', draft['effective_date'], rules)
            : checkIssue('new_loan.date_issued', loan['date_issued'], rules)),
          ...checkNewCode('new_loan', loan, originals),
        ]
      : []),
  ];
};

/** The part of the form that carries its data; a JSON body has no parts. */
export const RENEGOTIATION_DATA = 'renegotiation_data';

export const checkRenegotiation: CrossCheck = (draft, rules, carrier) =>
  carrier === RENEGOTIATION_DATA ? checkData(draft, rules, carrier) : checkRequest(draft, rules, carrier);

const termsOf = (body: Omit<NewProposal, 'number_of_installments'>) => ({
  newProposalCode: body.originator_proposal_code,
  acquisitionValue: centsFromAmount(body.acquisition_value),
  installments: scheduleOf(body.installments),
});

const ofRequest = (body: RenegotiationRequest): AskedRenegotiation => ({
  originalProposalCodes: [body.original_proposal_code],
  ...termsOf(body.new_proposal),
  effectiveDate: body.effective_date,
  files: [],
});

const ofData = (body: RenegotiationData, files: readonly ReceivedFile[]): AskedRenegotiation => {
  const { product_type: productType, date_issued: dateIssued, borrower, backing_documents } = body.new_loan;
  const { original_proposal_codes: listed, original_proposal_code: single } = body;
  return {
    originalProposalCodes: listed ?? (single === undefined ? [] : [single]),
    ...termsOf(body.new_loan),
    ...(productType !== undefined && { productType }),
    ...(dateIssued !== undefined && { dateIssued }),
    ...(borrower !== undefined && { borrower }),
    documents: backing_documents,
    effectiveDate: body.effective_date,
    files,
  };
};

export type RenegotiationBody = RenegotiationRequest | RenegotiationData;

export const renegotiationInput = (
  body: RenegotiationBody,
  files: readonly ReceivedFile[],
): AskedRenegotiation => ('new_loan' in body ? ofData(body, files) : ofRequest(body));

import type { NamedDocument } from '../../../application/loans/inputs.ts';
import type { Borrower } from '../../../application/ports/borrower-vault.ts';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import type { NewProposal, RenegotiateLoansInput } from '../../../application/renegotiation/inputs.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { FieldViolation } from '../../../domain/shared/domain-error.ts';
import type { LoanCode } from '../../../domain/shared/identifiers.ts';
import { centsFromAmount } from '../../../domain/shared/money.ts';
import {
  borrowerOf,
  checkBorrower,
  checkDocumentNames,
  checkIssue,
  checkSchedule,
  namedDocuments,
  scheduleOf,
} from './loan-data.ts';
import type { InstallmentBody } from './loan-data.ts';
import { asDraft, asList, asText, repetitions } from './request-rules.ts';
import type { CrossCheck, Draft } from './request-rules.ts';

interface NewProposalBody {
  readonly originator_proposal_code: string;
  readonly acquisition_value: number;
  readonly installments: readonly InstallmentBody[];
}

/** What the schema RenegotiationRequest has let through. */
export interface RenegotiationBody {
  readonly original_proposal_code: string;
  readonly new_proposal: NewProposalBody;
  readonly effective_date: string;
  /** True: only say what would happen. */
  readonly dry_run?: boolean;
}

/** What the schema RenegotiationData has let through. */
export interface RenegotiationDataBody {
  readonly original_proposal_codes?: readonly string[];
  readonly original_proposal_code?: string;
  readonly new_loan: NewProposalBody & {
    readonly backing_documents: readonly NamedDocument[];
    readonly product_type?: string;
    readonly date_issued?: string;
    readonly borrower?: Borrower;
  };
  readonly effective_date: string;
  readonly dry_run?: boolean;
}

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

const proposalOf = (body: NewProposalBody): NewProposal => ({
  code: body.originator_proposal_code as LoanCode,
  acquisitionValue: centsFromAmount(body.acquisition_value),
  installments: scheduleOf(body.installments),
});

export const renegotiationInput = (body: RenegotiationBody): RenegotiateLoansInput => ({
  originalProposalCodes: [body.original_proposal_code as LoanCode],
  newProposal: proposalOf(body.new_proposal),
  effectiveDate: body.effective_date as CalendarDate,
  files: [],
});

export const renegotiationDataInput = (
  body: RenegotiationDataBody,
  files: readonly ReceivedFile[],
): RenegotiateLoansInput => {
  const { product_type: productType, date_issued: dateIssued, borrower, backing_documents } = body.new_loan;
  const originals = body.original_proposal_codes ?? [body.original_proposal_code ?? ''];
  return {
    originalProposalCodes: originals as readonly LoanCode[],
    newProposal: {
      ...proposalOf(body.new_loan),
      ...(productType !== undefined && { productType }),
      ...(dateIssued !== undefined && { dateIssued: dateIssued as CalendarDate }),
      ...(borrower !== undefined && { borrower: borrowerOf(borrower) }),
      documents: namedDocuments(backing_documents),
    },
    effectiveDate: body.effective_date as CalendarDate,
    files,
  };
};

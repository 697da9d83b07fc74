import type { AssignLoanInput, NamedDocument } from '../../../application/loans/inputs.ts';
import type { Borrower } from '../../../application/ports/borrower-vault.ts';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import type { ScheduledInstallment } from '../../../domain/installment/state.ts';
import { isCalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { FieldViolation } from '../../../domain/shared/domain-error.ts';
import type { FundId, InstallmentCode, LoanCode } from '../../../domain/shared/identifiers.ts';
import { centsFromAmount } from '../../../domain/shared/money.ts';
import { isValidCnpj, isValidCpf } from '../validation/check-digits.ts';
import { asDraft, asList, asText, repetitions } from './request-rules.ts';
import type { CrossCheck, Draft, RequestRules } from './request-rules.ts';

export interface InstallmentBody {
  readonly code: string;
  readonly due_date: string;
  readonly face_value: number;
}

/** What the schema LoanData has let through. */
export interface LoanDataBody {
  readonly fund_id: string;
  readonly originator_proposal_code: string;
  readonly product_type: string;
  readonly acquisition_value: number;
  readonly number_of_installments: number;
  readonly date_issued: string;
  readonly borrower: Borrower;
  readonly installments: readonly InstallmentBody[];
  readonly backing_documents: readonly NamedDocument[];
}

const textOf = (entry: unknown, field: string): string | undefined => asText(asDraft(entry)?.[field]);

/** Rules between the fields of a schedule; renegotiations have the same. */
export const checkSchedule = (draft: Draft, dateIssued: unknown): readonly FieldViolation[] => {
  const installments = asList(draft['installments']);
  return [
    ...checkCount(draft['number_of_installments'], installments.length),
    ...repetitions(installments.map((entry) => textOf(entry, 'code'))).map(({ index, text }) => ({
      field: `installments[${index}].code`,
      code: 'duplicate_installment_code',
      message: `must differ from the other codes of the operation; ${quoted(text)} appears before`,
    })),
    ...checkDueDates(installments, dateIssued),
  ];
};

const LONGEST_SCHEDULE = 480;
/** Hostile texts are not sent back in full. */
const quoted = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}...` : text);

const isPossibleLength = (length: unknown): boolean =>
  Number.isInteger(length) && Number(length) >= 1 && Number(length) <= LONGEST_SCHEDULE;

/** A number or a list that is impossible by itself has a violation of its own. */
const checkCount = (declared: unknown, actual: number): readonly FieldViolation[] => {
  if (!isPossibleLength(declared) || !isPossibleLength(actual) || declared === actual) return [];
  const message = `must equal the length of installments, which is ${actual}`;
  return [{ field: 'number_of_installments', code: 'installment_count_mismatch', message }];
};

const checkDueDates = (installments: readonly unknown[], dateIssued: unknown): readonly FieldViolation[] => {
  const issued = asText(dateIssued);
  if (issued === undefined || !isCalendarDate(issued)) return [];
  return installments.flatMap((entry, index) => {
    const due = textOf(entry, 'due_date');
    if (due === undefined || !isCalendarDate(due) || due > issued) return [];
    const message = `must be after date_issued, ${issued}`;
    return [{ field: `installments[${index}].due_date`, code: 'due_date_not_after_issue', message }];
  });
};

export const checkDocumentNames = (documents: unknown, field: string): readonly FieldViolation[] =>
  repetitions(asList(documents).map((entry) => textOf(entry, 'value'))).map(({ index, text }) => ({
    field: `${field}[${index}].value`,
    code: 'duplicate_document',
    message: `must name a file of its own; ${quoted(text)} appears before`,
  }));

const checkDocumentNumber = (borrower: unknown): readonly FieldViolation[] => {
  const number = textOf(borrower, 'document_number');
  const type = textOf(borrower, 'document_type');
  if (number === undefined) return [];
  const wrongCpf = type === 'CPF' && /^\d{11}$/.test(number) && !isValidCpf(number);
  const wrongCnpj = type === 'CNPJ' && /^[0-9A-Z]{12}\d{2}$/.test(number) && !isValidCnpj(number);
  if (!wrongCpf && !wrongCnpj) return [];
  const message = `must be a ${type} whose last two digits are its check digits`;
  return [{ field: 'borrower.document_number', code: 'invalid_document_number', message }];
};

const notAfter = (
  field: string,
  date: unknown,
  last: CalendarDate,
  why: string,
): readonly FieldViolation[] => {
  const text = asText(date);
  if (text === undefined || !isCalendarDate(text) || text <= last) return [];
  return [{ field, code: 'invalid_date', message: `must not be after ${last}: ${why}` }];
};

/** An operation that is issued later could not be disbursed. */
export const checkIssue = (
  field: string,
  date: unknown,
  { lastIssue }: RequestRules,
): readonly FieldViolation[] =>
  lastIssue ? notAfter(field, date, lastIssue(), 'an operation is assigned once it is issued') : [];

export const checkBorrower = (borrower: unknown, rules: RequestRules): readonly FieldViolation[] => [
  ...notAfter(
    'borrower.birth_date',
    asDraft(borrower)?.['birth_date'],
    rules.today(),
    'it lies in the future',
  ),
  ...(rules.checkDigits ? checkDocumentNumber(borrower) : []),
];

export const checkLoanData: CrossCheck = (draft, rules) => [
  ...checkIssue('date_issued', draft['date_issued'], rules),
  ...checkSchedule(draft, draft['date_issued']),
  ...checkDocumentNames(draft['backing_documents'], 'backing_documents'),
  ...checkBorrower(draft['borrower'], rules),
];

export const scheduleOf = (installments: readonly InstallmentBody[]): readonly ScheduledInstallment[] =>
  installments.map(({ code, due_date, face_value }) => ({
    code: code as InstallmentCode,
    dueDate: due_date as CalendarDate,
    faceValue: centsFromAmount(face_value),
  }));

/** Only fields that are recognised, so that others never reach a fingerprint. */
export const borrowerOf = ({
  document_number,
  document_type,
  name,
  address,
  ...rest
}: Borrower): Borrower => ({
  document_number,
  document_type,
  name,
  ...(rest.birth_date !== undefined && { birth_date: rest.birth_date }),
  ...(rest.email !== undefined && { email: rest.email }),
  ...(rest.phone !== undefined && { phone: rest.phone }),
  address: {
    zip_code: address.zip_code,
    street: address.street,
    number: address.number,
    ...(address.neighborhood !== undefined && { neighborhood: address.neighborhood }),
    city: address.city,
    state: address.state,
  },
});

export const namedDocuments = (documents: readonly NamedDocument[]): readonly NamedDocument[] =>
  documents.map(({ type, value }) => ({ type, value }));

export const assignLoanInput = (body: LoanDataBody, files: readonly ReceivedFile[]): AssignLoanInput => ({
  fundId: body.fund_id.toLowerCase() as FundId,
  code: body.originator_proposal_code as LoanCode,
  productType: body.product_type,
  acquisitionValue: centsFromAmount(body.acquisition_value),
  dateIssued: body.date_issued as CalendarDate,
  borrower: borrowerOf(body.borrower),
  installments: scheduleOf(body.installments),
  documents: namedDocuments(body.backing_documents),
  files,
});

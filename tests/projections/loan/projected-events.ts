import { loanStream } from '../../../application/command-handling/operation.ts';
import type { LoanEvent } from '../../../domain/loan/events.ts';
import type { LoanReceived } from '../../../domain/loan/index.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import type {
  ApplicationId,
  FundId,
  InstallmentCode,
  LoanCode,
  SealedBorrower,
  Timestamp,
} from '../../../domain/shared/identifiers.ts';
import { cents } from '../../../domain/shared/money.ts';
import type { ProjectedEvent } from '../../../projections/projection.ts';

const FIRST_SECOND = Date.parse('2026-01-15T12:00:00.000Z');

/** `2026-01-15T12:00:00.000Z`, so many seconds later. */
export const second = (n: number): Timestamp => new Date(FIRST_SECOND + 1000 * n).toISOString() as Timestamp;

export interface Operation {
  readonly applicationId: string;
  readonly code: string;
}

const MOST_EVENTS = 10_000;
const operations = new Map<string, number>();

/** In a log in which one operation comes after the other. */
export const positionOf = (stream: string, revision: number): number => {
  if (!operations.has(stream)) operations.set(stream, operations.size + 1);
  return operations.get(stream)! * MOST_EVENTS + revision;
};

/** The events of one operation as they are stored: one a second, revisions from `first`. */
export const projected = (
  { applicationId, code }: Operation,
  events: readonly LoanEvent[],
  first = 0,
): readonly ProjectedEvent[] =>
  events.map((event, index) => {
    const revision = first + index;
    const stream = loanStream(applicationId, code);
    const id = `${stream}/${revision}`;
    return {
      ...{ event, id, stream, applicationId },
      ...{ revision: BigInt(revision), recordedAt: second(revision), position: positionOf(stream, revision) },
    };
  });

export const FUND = '0fa1b2c3-0000-4000-8000-000000000001';

/** An assignment of `count` installments of 100.00 that fall due month by month; codes do not sort as text. */
export const receivedLoan = (
  { applicationId, code }: Operation,
  count: number,
  overrides: Partial<LoanReceived> = {},
): LoanReceived => ({
  type: 'LoanReceived',
  applicationId: applicationId as ApplicationId,
  fundId: FUND as FundId,
  code: code as LoanCode,
  productType: 'financing',
  acquisitionValue: cents(9_000 * count),
  dateIssued: calendarDate('2026-01-15'),
  installments: Array.from({ length: count }, (_, i) => ({
    code: `P${i + 1}` as InstallmentCode,
    dueDate: calendarDate(`${2026 + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, '0')}-28`),
    faceValue: cents(10_000),
  })),
  borrower: 'sealed borrower' as SealedBorrower,
  documents: [
    {
      documentId: `${code}-z`,
      type: 'ccb',
      value: 'ccb.pdf',
      sha256: 'ab'.repeat(32),
      size: 9,
      receivedAt: second(0),
    },
    {
      documentId: `${code}-a`,
      type: 'invoice',
      value: 'a.pdf',
      sha256: 'cd'.repeat(32),
      size: 8,
      receivedAt: second(0),
    },
  ],
  pricing: { policy: 'curve_v1', dailyFactor: '0.999' },
  receivedAt: second(0),
  ...overrides,
});

export const toActive: readonly LoanEvent[] = [
  { type: 'LoanApproved', approvedAt: second(1) },
  { type: 'LoanTermSigned', signedAt: second(2) },
  { type: 'LoanDisbursed', disbursedValue: cents(9_000), disbursedAt: second(3) },
];

export const settled = (code: string, value = 10_000): LoanEvent => ({
  type: 'InstallmentSettled',
  installmentCode: code as InstallmentCode,
  settledAt: calendarDate('2026-02-01'),
  settledValue: cents(value),
  scheduledValue: cents(10_000),
  paymentMethod: 'pix',
  lateDays: 0,
  processedAt: second(4),
});

import type { RepurchaseReason } from '../../domain/loan/events.ts';
import { writeWith } from '../projection.ts';
import type { EventWriters, ProjectedAs, ProjectedEvent, Projection, TableWrite } from '../projection.ts';

/**
 * What a fund's position on any day is made of: facts with their business date and the instant at which they were recorded, never
 * a day's result. Amounts in integer cents.
 */
export interface PortfolioOperationRow {
  readonly stream: string;
  readonly application_id: string;
  readonly code: string;
  readonly fund_id: string;
  readonly daily_factor: string;
  /** The day on which the fund paid, where the administrator stated it; otherwise the day of `active_at`. */
  readonly active_date: string | null;
  /** When the disbursement was registered; null before it. */
  readonly active_at: string | null;
  readonly active_recorded_at: string | null;
  /**
   * Effective date of a repurchase, from its request on, or the stated day of the disbursement that replaced it; it counts once
   * `left_recorded_at` is there.
   */
  readonly left_date: string | null;
  /** When the disbursement of the operation that replaces it was registered; its day counts where there is no `left_date`. */
  readonly left_at: string | null;
  readonly left_recorded_at: string | null;
}

export interface PortfolioInstallmentRow {
  readonly stream: string;
  readonly code: string;
  readonly seq: number;
  readonly due_date: string;
  readonly face_value: number;
  /** Business date of the payment that closed it. */
  readonly closed_date: string | null;
  readonly closed_recorded_at: string | null;
}

/** Money that came in: for installments, or for an operation that left as a whole. */
export type PortfolioFlow = 'settled' | 'prepaid' | 'repurchased' | 'reversed' | 'resolved';

export interface PortfolioFlowRow {
  readonly stream: string;
  readonly revision: number;
  readonly flow: PortfolioFlow;
  readonly date: string;
  /** Net of excess. */
  readonly amount: number;
  /** Installments that it closed; 0 for an operation that left as a whole. */
  readonly installments: number;
  /** Null for a repurchase that the administrator has not processed. */
  readonly recorded_at: string | null;
}

const received = ({ stream, event }: ProjectedAs<'LoanReceived'>): readonly TableWrite[] => [
  {
    op: 'insert',
    table: 'portfolio_operation',
    rows: [
      {
        stream,
        application_id: event.applicationId,
        code: event.code,
        fund_id: event.fundId,
        daily_factor: event.pricing.dailyFactor,
        active_date: null,
        active_at: null,
        active_recorded_at: null,
        left_date: null,
        left_at: null,
        left_recorded_at: null,
      },
    ],
  },
  {
    op: 'insert',
    table: 'portfolio_installment',
    rows: event.installments.map(({ code, dueDate, faceValue }, seq) => ({
      stream,
      code,
      seq,
      due_date: dueDate,
      face_value: faceValue,
      closed_date: null,
      closed_recorded_at: null,
    })),
  },
];

/** Originals of a renegotiation leave in the same write in which their successor comes in: no day holds both, or neither. */
const disbursed = (projected: ProjectedAs<'LoanDisbursed'>): readonly TableWrite[] => {
  const { stream, recordedAt, applicationId, event } = projected;
  const { disbursedAt, disbursementDate: date = null } = event;
  const originals = event.renegotiation?.originalProposalCodes ?? [];
  return [
    {
      op: 'update',
      table: 'portfolio_operation',
      where: { stream },
      set: { active_date: date, active_at: disbursedAt, active_recorded_at: recordedAt },
    },
    ...originals.map((code): TableWrite => ({
      op: 'update',
      table: 'portfolio_operation',
      where: { application_id: applicationId, code },
      set: { left_date: date, left_at: disbursedAt, left_recorded_at: recordedAt },
    })),
  ];
};

const closed = ({ stream, recordedAt }: ProjectedEvent, code: string, date: string): TableWrite => ({
  op: 'update',
  table: 'portfolio_installment',
  where: { stream, code },
  set: { closed_date: date, closed_recorded_at: recordedAt },
});

const flowed = (
  { stream, revision }: ProjectedEvent,
  flow: Omit<PortfolioFlowRow, 'stream' | 'revision'>,
): TableWrite => ({
  op: 'insert',
  table: 'portfolio_flow',
  rows: [{ stream, revision: Number(revision), ...flow }],
});

const settled = (projected: ProjectedAs<'InstallmentSettled'>): readonly TableWrite[] => {
  const { event, recordedAt } = projected;
  const { settledAt: date, settledValue: amount } = event;
  return [
    closed(projected, event.installmentCode, date),
    flowed(projected, { flow: 'settled', date, amount, installments: 1, recorded_at: recordedAt }),
  ];
};

const carried = ({ stream, revision, recordedAt, event }: ProjectedAs<'PrepaymentProcessed'>) => {
  if (!event.partial) return [];
  const { installmentCode, credit } = event.partial;
  const place = { stream, installment_code: installmentCode, revision: Number(revision) };
  const row = { ...place, value: credit.value, date: credit.date, recorded_at: recordedAt };
  return [{ op: 'insert', table: 'portfolio_credit', rows: [row] }] as const;
};

const prepaid = (projected: ProjectedAs<'PrepaymentProcessed'>): readonly TableWrite[] => {
  const { event, recordedAt } = projected;
  const { prepaymentDate: date, prepaymentValue, excessValue, settledInstallments } = event;
  return [
    ...settledInstallments.map((code) => closed(projected, code, date)),
    ...carried(projected),
    flowed(projected, {
      flow: 'prepaid',
      date,
      amount: prepaymentValue - excessValue,
      installments: settledInstallments.length,
      recorded_at: recordedAt,
    }),
  ];
};

const FLOW_OF: Readonly<Record<RepurchaseReason, PortfolioFlow>> = {
  repurchase: 'repurchased',
  integrated_repurchase: 'repurchased',
  cession_reversal: 'reversed',
  resolution: 'resolved',
};

const repurchaseRequested = (projected: ProjectedAs<'RepurchaseRequested'>): readonly TableWrite[] => {
  const { stream, event } = projected;
  const { reason, effectiveDate: date, repurchaseValue: amount } = event;
  return [
    { op: 'update', table: 'portfolio_operation', where: { stream }, set: { left_date: date } },
    flowed(projected, { flow: FLOW_OF[reason], date, amount, installments: 0, recorded_at: null }),
  ];
};

/** Only now does the request count, and then from its effective date on. */
const repurchaseCompleted = (projected: ProjectedAs<'RepurchaseCompleted'>): readonly TableWrite[] => {
  const { stream, recordedAt, event } = projected;
  return [
    {
      op: 'update',
      table: 'portfolio_operation',
      where: { stream },
      set: { left_recorded_at: recordedAt },
    },
    {
      op: 'update',
      table: 'portfolio_flow',
      where: { stream, flow: FLOW_OF[event.reason] },
      set: { recorded_at: recordedAt },
    },
  ];
};

const writers: EventWriters = {
  LoanReceived: received,
  LoanApproved: 'unconcerned',
  LoanRejected: 'unconcerned',
  LoanTermSigned: 'unconcerned',
  LoanDisbursed: disbursed,
  InstallmentSettled: settled,
  InstallmentUnderpaid: 'unconcerned',
  // Age is counted from the due date on the day that is asked for.
  InstallmentBecameOverdue: 'unconcerned',
  PrepaymentProcessed: prepaid,
  LoanFullySettled: 'unconcerned',
  RepurchaseRequested: repurchaseRequested,
  RepurchaseCompleted: repurchaseCompleted,
  DocumentsAdded: 'unconcerned',
  BorrowerForgotten: 'unconcerned',
  LoanReserved: 'unconcerned',
  LoanReservationReleased: 'unconcerned',
  LoanRenegotiated: 'unconcerned',
  LoanRenegotiationCompleted: 'unconcerned',
  RenegotiationStarted: 'unconcerned',
  RenegotiationCommitted: 'unconcerned',
  RenegotiationAborted: 'unconcerned',
  RenegotiationCompleted: 'unconcerned',
};

/** What each fund holds and got, from which the position of any day is computed. */
export const portfolioProjection: Projection = {
  name: 'portfolio',
  version: 1,
  tables: ['portfolio_operation', 'portfolio_installment', 'portfolio_credit', 'portfolio_flow'],
  ofOperationsAlone: true,
  project: writeWith(writers),
};

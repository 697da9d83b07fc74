import type { ProjectedEvent, TableWrite } from '../projection.ts';
import type { InstallmentRow, LoanRow, Place } from './loan-rows.ts';
import type { WaitingStatus } from '../../domain/loan/statuses.ts';
import type { DomainEvent } from '../../domain/domain-event.ts';

export type Projected<Type extends DomainEvent['type']> = ProjectedEvent & {
  readonly event: Extract<DomainEvent, { type: Type }>;
};

/** Every event moves the version of its operation, also one that changes nothing else: readers wait for it. */
export const advance = ({ stream, revision, recordedAt }: Place, received = 0): TableWrite => ({
  op: 'update',
  table: 'progress',
  where: { stream },
  set: { updated_at: recordedAt, version: Number(revision) },
  add: { received_value: received },
});

export const changeLoan = ({ stream }: Pick<Place, 'stream'>, set: Partial<LoanRow>): TableWrite => ({
  op: 'update',
  table: 'loan',
  where: { stream },
  set,
});

const WAITING: Readonly<Record<WaitingStatus, true>> = {
  received: true,
  approved: true,
  term_signed: true,
  repurchase_pending: true,
};

const waitingSince = (status: string, at: string): string | null => (status in WAITING ? at : null);

export const enterStatus = ({ stream, revision }: Place, status: string, at: string): TableWrite => ({
  op: 'insert',
  table: 'status_history',
  rows: [{ stream, revision: Number(revision), status, at }],
});

/** The loan row and its history together, for events that only change the status. */
export const changeStatus = (
  place: Place,
  status: string,
  at: string,
  set: Partial<LoanRow> = {},
): readonly TableWrite[] => [
  changeLoan(place, { status, waiting_since: waitingSince(status, at), ...set }),
  advance(place),
  enterStatus(place, status, at),
];

/** What is pending in an operation that ends so can no longer fall due. */
export const freezeInstallments = ({ stream }: Pick<Place, 'stream'>): TableWrite => ({
  op: 'update',
  table: 'installment',
  where: { stream, status: 'pending' },
  set: { status: 'frozen' },
});

export const changeInstallment = (
  { stream }: ProjectedEvent,
  code: string,
  set: Partial<InstallmentRow>,
): TableWrite => ({
  op: 'update',
  table: 'installment',
  where: { stream, code },
  set,
});

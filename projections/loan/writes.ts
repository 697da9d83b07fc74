import type { ProjectedEvent, Row, TableWrite } from '../projection.ts';
import type { DomainEvent } from '../../domain/domain-event.ts';

/** A projected event of one type. */
export type Projected<Type extends DomainEvent['type']> = ProjectedEvent & {
  readonly event: Extract<DomainEvent, { type: Type }>;
};

/** Where a change of an operation stands in its stream, and when it was recorded. */
export type Place = Pick<ProjectedEvent, 'stream' | 'revision' | 'recordedAt'>;

/** Every event moves the row's version, also one that changes nothing else: readers wait for it. */
export const advanceLoan = (
  { stream, revision, recordedAt }: Place,
  set: Row = {},
  add?: Readonly<Record<string, number>>,
): TableWrite => ({
  op: 'update',
  table: 'loan',
  where: { stream },
  set: { ...set, updated_at: recordedAt, version: Number(revision) },
  ...(add && { add }),
});

/** States in which an operation waits for the fund's administrator. */
const WAITING = ['received', 'approved', 'term_signed', 'repurchase_pending'] as const;
export type WaitingStatus = (typeof WAITING)[number];

const waitingSince = (status: string, at: string): string | null =>
  (WAITING as readonly string[]).includes(status) ? at : null;

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
  set: Row = {},
): readonly TableWrite[] => [
  advanceLoan(place, { status, waiting_since: waitingSince(status, at), ...set }),
  enterStatus(place, status, at),
];

/** All installments of the operation at once. */
export const changeInstallments = ({ stream }: Pick<Place, 'stream'>, set: Row): TableWrite => ({
  op: 'update',
  table: 'installment',
  where: { stream },
  set,
});

export const changeInstallment = ({ stream }: ProjectedEvent, code: string, set: Row): TableWrite => ({
  op: 'update',
  table: 'installment',
  where: { stream, code },
  set,
});

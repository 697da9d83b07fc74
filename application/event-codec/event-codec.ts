import type { DomainEvent } from '../../domain/domain-event.ts';
import type { LoanEvent } from '../../domain/loan/events.ts';
import type { RenegotiationEvent } from '../../domain/renegotiation/events.ts';
import type { JsonText } from '../ports/event-store.ts';
import * as assignment from './assignment-entries.ts';
import * as closing from './closing-entries.ts';
import * as coordination from './coordination-entries.ts';
import * as documents from './document-entries.ts';
import type { EventEntry } from './event-entry.ts';
import * as installment from './installment-entries.ts';
import type { Payload } from './payload.ts';
import { UnreadableEventError } from './payload.ts';
import * as privacy from './privacy-entries.ts';
import * as renegotiation from './renegotiation-entries.ts';

type EntriesOf<Event extends DomainEvent> = { readonly [Type in Event['type']]: EventEntry<Type> };
type AnyEntry = EventEntry<DomainEvent['type']>;

const loanEntries: EntriesOf<LoanEvent> = {
  LoanReceived: assignment.loanReceived,
  LoanApproved: assignment.loanApproved,
  LoanRejected: assignment.loanRejected,
  LoanTermSigned: assignment.loanTermSigned,
  LoanDisbursed: assignment.loanDisbursed,
  InstallmentSettled: installment.installmentSettled,
  InstallmentUnderpaid: installment.installmentUnderpaid,
  InstallmentBecameOverdue: installment.installmentBecameOverdue,
  PrepaymentProcessed: closing.prepaymentProcessed,
  LoanFullySettled: closing.loanFullySettled,
  RepurchaseRequested: closing.repurchaseRequested,
  RepurchaseCompleted: closing.repurchaseCompleted,
  DocumentsAdded: documents.documentsAdded,
  BorrowerForgotten: privacy.borrowerForgotten,
  LoanReserved: renegotiation.loanReserved,
  LoanReservationReleased: renegotiation.loanReservationReleased,
  LoanRenegotiated: renegotiation.loanRenegotiated,
  LoanRenegotiationCompleted: renegotiation.loanRenegotiationCompleted,
};

const renegotiationEntries: EntriesOf<RenegotiationEvent> = {
  RenegotiationStarted: coordination.renegotiationStarted,
  RenegotiationCommitted: coordination.renegotiationCommitted,
  RenegotiationAborted: coordination.renegotiationAborted,
  RenegotiationCompleted: coordination.renegotiationCompleted,
};

const byStoredType = (entries: object): ReadonlyMap<string, AnyEntry> =>
  new Map(Object.values(entries).map((entry: AnyEntry) => [entry.storedType, entry]));

const ofLoans = byStoredType(loanEntries);
const ofRenegotiations = byStoredType(renegotiationEntries);
const all = new Map([...ofLoans, ...ofRenegotiations]);
const entries = { ...loanEntries, ...renegotiationEntries };

/** Every stored type name that this version reads. */
export const storedTypes: readonly string[] = [...all.keys()];

export interface EncodedEvent {
  readonly type: string;
  readonly data: JsonText;
}

export const encodeEvent = (event: DomainEvent): EncodedEvent => {
  const entry = entries[event.type] as unknown as AnyEntry;
  return { type: entry.storedType, data: JSON.stringify(entry.encode(event)) as JsonText };
};

const decodeWith = (known: ReadonlyMap<string, AnyEntry>, stored: EncodedEvent): DomainEvent => {
  const entry = known.get(stored.type);
  if (!entry) throw new UnreadableEventError(`unknown stored event type ${stored.type}`);
  try {
    return entry.decode(JSON.parse(stored.data) as Payload);
  } catch (error) {
    throw new UnreadableEventError(`${stored.type}: ${(error as Error).message}`, { cause: error });
  }
};

/** @throws UnreadableEventError naming the type and the field */
export const decodeEvent = (stored: EncodedEvent): DomainEvent => decodeWith(all, stored);

/** An event of an operation's stream. @throws UnreadableEventError */
export const decodeLoanEvent = (stored: EncodedEvent): LoanEvent => decodeWith(ofLoans, stored) as LoanEvent;

/** An event of a renegotiation's stream. @throws UnreadableEventError */
export const decodeRenegotiationEvent = (stored: EncodedEvent): RenegotiationEvent =>
  decodeWith(ofRenegotiations, stored) as RenegotiationEvent;

/** Whether the stored type is one of an operation's stream that this version reads. */
export const isLoanEventType = (storedType: string): boolean => ofLoans.has(storedType);

import type { DomainEvent } from '../../domain/domain-event.ts';
import type { LoanEvent } from '../../domain/loan/events.ts';
import type { RenegotiationEvent } from '../../domain/renegotiation/state.ts';
import type { JsonText } from '../ports/event-store.ts';
import { UnreadableEventError } from './fields.ts';
import type { EventEntry, Payload } from './fields.ts';
import * as loan from './entries.ts';
import * as renegotiation from './entries.ts';

type EntriesOf<Event extends DomainEvent> = { readonly [Type in Event['type']]: EventEntry<Type> };
type AnyEntry = EventEntry<DomainEvent['type']>;

const loanEntries: EntriesOf<LoanEvent> = {
  LoanReceived: loan.loanReceived,
  LoanApproved: loan.loanApproved,
  LoanRejected: loan.loanRejected,
  LoanTermSigned: loan.loanTermSigned,
  LoanDisbursed: loan.loanDisbursed,
  InstallmentSettled: loan.installmentSettled,
  InstallmentUnderpaid: loan.installmentUnderpaid,
  InstallmentBecameOverdue: loan.installmentBecameOverdue,
  PrepaymentProcessed: loan.prepaymentProcessed,
  LoanFullySettled: loan.loanFullySettled,
  RepurchaseRequested: loan.repurchaseRequested,
  RepurchaseCompleted: loan.repurchaseCompleted,
  DocumentsAdded: loan.documentsAdded,
  BorrowerForgotten: loan.borrowerForgotten,
  LoanReserved: renegotiation.loanReserved,
  LoanReservationReleased: renegotiation.loanReservationReleased,
  LoanRenegotiated: renegotiation.loanRenegotiated,
  LoanRenegotiationCompleted: renegotiation.loanRenegotiationCompleted,
};

const renegotiationEntries: EntriesOf<RenegotiationEvent> = {
  RenegotiationStarted: renegotiation.renegotiationStarted,
  RenegotiationCommitted: renegotiation.renegotiationCommitted,
  RenegotiationAborted: renegotiation.renegotiationAborted,
  RenegotiationCompleted: renegotiation.renegotiationCompleted,
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

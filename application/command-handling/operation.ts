import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanEvent } from '../../domain/loan/events.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import { decodeLoanEvent } from '../event-codec/event-codec.ts';
import { CHAIN_START } from '../event-codec/hash-chain.ts';
import { seesFund } from '../request-context.ts';
import type { EventToAppend, RecordedEvent, StreamRevision } from '../ports/event-store.ts';

/** A key that an accepted request used up, and what that request was. */
export interface UsedKey {
  readonly endpoint: string;
  readonly key: string;
  readonly fingerprint: string;
}

/** An operation as its stream tells it: the state that decides, and what the next append needs. */
export interface Operation {
  readonly state: LoanState;
  readonly revision: StreamRevision;
  /** Hash of the last event. */
  readonly hash: string;
  /** When the last event was recorded; undefined before the first. */
  readonly recordedAt: string | undefined;
  /** Accepted requests by endpoint and key; grows in place, because keys are never given back. */
  readonly accepted: Map<string, AcceptedRequest>;
}

export interface AcceptedRequest {
  readonly fingerprint: string;
  /** Of the first event that it caused. */
  readonly revision: bigint;
}

export const noOperation = (): Operation => ({
  state: loanDecider.initialState,
  revision: 'no_stream',
  hash: CHAIN_START,
  recordedAt: undefined,
  accepted: new Map(),
});

/** The operation as its asker may see it: one of a fund that is not among these does not exist. */
export const visibleOf = (operation: Operation, onlyFundIds: readonly string[] | undefined): Operation =>
  !('fundId' in operation.state) || seesFund(onlyFundIds ? { onlyFundIds } : {}, operation.state.fundId)
    ? operation
    : { ...noOperation(), revision: operation.revision };

const mapKey = (endpoint: string, key: string): string => `${endpoint} ${key}`;

export const acceptedUnder = (
  operation: Operation,
  endpoint: string,
  key: string,
): AcceptedRequest | undefined => operation.accepted.get(mapKey(endpoint, key));

/** The operation after these events, which follow its revision directly. */
export const advance = (
  operation: Operation,
  events: readonly LoanEvent[],
  stored: readonly EventToAppend[],
  revision: bigint,
): Operation => {
  const first = revision - BigInt(stored.length - 1);
  stored.forEach(({ metadata: { idempotency: used } }, i) => {
    if (!used) return;
    const { endpoint, key, fingerprint } = used;
    operation.accepted.set(mapKey(endpoint, key), { fingerprint, revision: first + BigInt(i) });
  });
  return {
    state: events.reduce((state, event) => loanDecider.evolve(state, event), operation.state),
    revision,
    hash: stored.at(-1)?.metadata.hash ?? operation.hash,
    recordedAt: stored.at(-1)?.metadata.recordedAt ?? operation.recordedAt,
    accepted: operation.accepted,
  };
};

export const replay = (events: readonly RecordedEvent[], revision: StreamRevision): Operation =>
  revision === 'no_stream'
    ? noOperation()
    : advance(noOperation(), events.map(decodeLoanEvent), events, revision);

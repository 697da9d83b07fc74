import { randomUUID } from 'node:crypto';
import type { DomainEvent } from '../../domain/domain-event.ts';
import { stateAfter } from '../../domain/shared/decider.ts';
import type { Decider } from '../../domain/shared/decider.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { Timestamp } from '../../domain/shared/identifiers.ts';
import { ALL_APPLICATIONS, DECISION_KEYS } from '../command-handling/endpoints.ts';
import { BEFORE_THE_FIRST, eventsAfter, notEarlier } from '../event-codec/event-codec.ts';
import type { EncodedEvent } from '../event-codec/event-codec.ts';
import type { BusinessClock } from '../ports/clock.ts';
import { ConcurrencyError, KeyAlreadyClaimedError } from '../ports/event-store.ts';
import type { EventStore, RecordedEvent, StreamRevision } from '../ports/event-store.ts';
import { retry, retryAppend } from '../support/retry.ts';
import type { Somebody } from '../../domain/shared/two-people.ts';
import type { Person } from '../desk/rights.ts';

export interface StreamParts {
  readonly events: Pick<EventStore, 'read' | 'append' | 'findClaim' | 'head'>;
  readonly clock: BusinessClock;
  readonly pause: (ms: number) => Promise<void>;
}

/** How something is decided in one of these streams: by whom, and under which id, which is used up where there is one. */
export interface Asked {
  readonly actor: string;
  readonly decisionId: string;
  /** Of what the id stands for; absent where the id is only a name. */
  readonly fingerprint?: string;
}

export interface Contents<State = unknown> {
  readonly stream: string;
  readonly recorded: readonly RecordedEvent[];
  readonly state: State;
  readonly revision: StreamRevision;
}

export const claimOfDecision = (decisionId: string) => ({
  applicationId: ALL_APPLICATIONS,
  endpoint: DECISION_KEYS,
  key: decisionId,
});

export const readDecided = async <State, Event>(
  events: Pick<EventStore, 'read'>,
  stream: string,
  decode: (stored: EncodedEvent) => Event,
  decider: Decider<State, never, Event>,
): Promise<Contents<State>> => {
  const { events: recorded, revision } = await events.read(stream);
  return { stream, recorded, state: stateAfter(decider, recorded.map(decode)), revision };
};

export const fingerprintUnder = (recorded: readonly RecordedEvent[], id: string): string | undefined =>
  recorded.find(({ metadata }) => metadata.idempotency?.key === id)?.metadata.idempotency?.fingerprint;

class OvertakenError extends Error {}

const OVERTAKEN = {
  pausesMs: [0, 10, 50, 200, 500],
  mayPass: (error: unknown): boolean => error instanceof ConcurrencyError || error instanceof OvertakenError,
};

/** Once more where another was faster. @throws DomainError `idempotency_conflict`, `concurrent_modification` */
export const untilCurrent = async <Result>(
  { pause }: Pick<StreamParts, 'pause'>,
  work: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await retry(work, OVERTAKEN, pause);
  } catch (error) {
    if (!OVERTAKEN.mayPass(error)) throw error;
    throw new DomainError('concurrent_modification', 'others decide on it at the same time; try again');
  }
};

export const idConflict = (decisionId: string): DomainError =>
  new DomainError(
    'idempotency_conflict',
    `decision_id ${decisionId} was used for another decision; give this one an id of its own`,
  );

/** Appends all of it at once, right behind what was read. @throws ConcurrencyError or OvertakenError, for `untilCurrent` */
export const appendDecided = async (
  { events: store, clock, pause }: StreamParts,
  { stream, recorded, revision }: Contents,
  caused: readonly DomainEvent[],
  of: Asked & { readonly fundId: string; readonly applicationId: string },
): Promise<void> => {
  const { decisionId, fingerprint, actor, fundId, applicationId } = of;
  const idempotency =
    fingerprint === undefined ? undefined : { endpoint: DECISION_KEYS, key: decisionId, fingerprint };
  const metadata = {
    ...{ correlationId: decisionId, causationId: decisionId, actor, applicationId },
    ...{ recordedAt: clock.now(), fundId, ...(idempotency && { idempotency }) },
  };
  const last = recorded.at(-1)?.metadata ?? BEFORE_THE_FIRST;
  const stored = eventsAfter(last, stream, caused, { metadata, idOf: () => randomUUID() });
  const claim = idempotency && claimOfDecision(decisionId);
  try {
    await retryAppend(() => store.append(stream, revision, stored, claim), pause);
  } catch (error) {
    if (!(error instanceof KeyAlreadyClaimedError)) throw error;
    // Used up here a moment ago: what that was is in the stream now.
    const used = error.stream === stream && fingerprintUnder((await store.read(stream)).events, decisionId);
    if (used === fingerprint) throw new OvertakenError();
    throw idConflict(decisionId);
  }
};

export const instantAfter = (clock: BusinessClock, { recorded }: Contents): Timestamp =>
  notEarlier(clock.now(), recorded.at(-1)?.metadata.recordedAt);

/** Who decides: somebody who is signed in, or a name that is only stated. */
export interface Who {
  readonly person?: Person | undefined;
  readonly name?: string | undefined;
  /** Nobody is behind a program: it is never one of two people. */
  readonly program?: true;
}

export const somebodyOf = ({ person, name }: Who): Somebody => {
  if (person) return { name: person.name, issuer: person.issuer, subject: person.subject };
  return name === undefined ? {} : { name };
};

import type { LoanEvent } from '../../domain/loan/events.ts';
import { isReserved } from '../../domain/loan/state.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { RenegotiationId } from '../../domain/shared/identifiers.ts';
import { eventsAfter } from '../event-codec/event-codec.ts';
import { DECISION_KEYS, ENDPOINTS } from './endpoints.ts';
import type { BusinessClock } from '../ports/clock.ts';
import { ConcurrencyError, KeyAlreadyClaimedError } from '../ports/event-store.ts';
import type {
  AppendResult,
  EventStore,
  EventToAppend,
  KeyClaim,
  StreamRevision,
} from '../ports/event-store.ts';
import { UNWATCHED_COMMANDS } from '../ports/observation.ts';
import type { CommandWatch } from '../ports/observation.ts';
import { retryAppend } from '../support/retry.ts';
import { TimeOrderedIds } from '../support/time-ordered-id.ts';
import { KeyedQueue } from './keyed-queue.ts';
import { acceptedUnder, advance, fundOf, replay, visibleOf } from './operation.ts';
import type { KeptOperations } from './kept-operations.ts';
import type { Operation, UsedKey } from './operation.ts';

export interface CommandRequest {
  readonly stream: string;
  readonly applicationId: string;
  readonly actor: string;
  readonly correlationId: string;
  /** For its asker operations of other funds do not exist; absent where the asker sees every fund, or makes the operation. */
  readonly onlyFundIds?: readonly string[];
  readonly causationId?: string;
  /** `claimedIn`: the application in which the key is unique; absent: in this operation alone. */
  readonly idempotency?: UsedKey & { readonly claimedIn?: string };
  /** The events that the command causes in this state, at this revision. May be called again with a newer state. */
  readonly decide: (
    state: LoanState,
    revision: StreamRevision,
  ) => readonly LoanEvent[] | Promise<readonly LoanEvent[]>;
}

export interface Handled {
  /** The same request was accepted before. */
  readonly replayed: boolean;
  readonly state: LoanState;
  /** What the request caused; nothing when it was done already. */
  readonly events: readonly LoanEvent[];
}

export type OnAppended = (applicationId: string, stream: string, revision: bigint) => void;

interface Dependencies {
  readonly events: EventStore;
  readonly cache: KeptOperations;
  readonly clock: BusinessClock;
  /** Ends a renegotiation that stands in the way. @throws DomainError it is still being decided after a bounded wait */
  readonly resolve: (renegotiationId: RenegotiationId) => Promise<void>;
  /** Waits between two tries after an unknown outcome; injected so that tests do not wait. */
  readonly pause: (ms: number) => Promise<void>;
  readonly watch?: CommandWatch;
  /** Told of each append, once it is durable. Returns at once and never fails. */
  readonly onAppended?: OnAppended;
}

/** A process that has the operation in memory is faster than one that must read it again, so losing many times in a row is no accident. */
const MAX_DECISIONS = 25;
/** Behind commands that a silent store holds up, each for its own time-out, the last one would wait for minutes. */
const QUEUE_PATIENCE_MS = 5_000;

class Stale extends Error {}

/** The only such loop. A process runs one operation's commands one by one; the revision orders those of several. */
export class CommandHandler {
  readonly #deps: Dependencies;
  readonly #queue = new KeyedQueue(QUEUE_PATIENCE_MS);
  readonly #eventIds = new TimeOrderedIds();

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** @throws DomainError refused; `idempotency_conflict` @throws OutcomeUnknownError send it again @throws BusyError nothing was done */
  handle(request: CommandRequest): Promise<Handled> {
    const { watch = UNWATCHED_COMMANDS } = this.#deps;
    return watch.run(request, () =>
      this.#queue.run(request.stream, () => this.#untilCurrent(request.stream, () => this.#once(request))),
    );
  }

  /** Stores nothing. @throws DomainError the command would be refused */
  async preview<Event extends LoanEvent>(
    stream: string,
    decide: (state: LoanState) => readonly Event[],
    onlyFundIds?: readonly string[],
  ): Promise<{ readonly state: LoanState; readonly events: readonly Event[] }> {
    return this.#queue.run(stream, () =>
      this.#untilCurrent(stream, async () => {
        const loaded = this.#deps.cache.get(stream) ?? (await this.#load(stream));
        const operation = visibleOf(loaded, onlyFundIds);
        await this.#ensureCurrent(stream, operation);
        await this.#ensureUnreserved(operation);
        return { state: operation.state, events: decide(operation.state) };
      }),
    );
  }

  async #untilCurrent<Result>(stream: string, attempt: () => Promise<Result>): Promise<Result> {
    for (let decision = 0; decision < MAX_DECISIONS; decision++) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof Stale) && !(error instanceof ConcurrencyError)) throw error;
        this.#deps.cache.delete(stream);
      }
    }
    throw new DomainError(
      'concurrent_modification',
      'the operation kept changing meanwhile; send the request again',
    );
  }

  async #ensureUnreserved({ state }: Operation): Promise<void> {
    if (!isReserved(state)) return;
    await this.#deps.resolve(state.renegotiationId);
    throw new Stale();
  }

  async #once(request: CommandRequest): Promise<Handled> {
    // Nearly every command finds its operation in memory, and is spared the turn that an empty wait costs.
    const loaded = this.#deps.cache.get(request.stream) ?? (await this.#load(request.stream));
    const operation = visibleOf(loaded, request.onlyFundIds);
    if (isReserved(operation.state)) await this.#ensureUnreserved(operation);
    const { idempotency } = request;
    if (idempotency) {
      const accepted = acceptedUnder(operation, idempotency.endpoint, idempotency.key);
      if (accepted === idempotency.fingerprint) return await this.#replayed(request.stream, operation);
      if (accepted !== undefined) throw keyConflict(idempotency);
    }
    const events = await this.#decide(request, operation);
    if (events.length === 0) return { replayed: false, state: operation.state, events };
    if (operation !== loaded) throw new Error('nothing is decided on an operation that the asker cannot see');
    const stored = this.#toStore(request, operation, events);
    const { revision } = await this.#append(request, operation, stored);
    const after = advance(operation, events, stored, revision);
    this.#deps.cache.set(request.stream, after);
    return { replayed: false, state: after.state, events };
  }

  /** Some answers to a repeated request show the status of now, which another process may have changed. */
  async #replayed(stream: string, operation: Operation): Promise<Handled> {
    await this.#ensureCurrent(stream, operation);
    return { replayed: true, state: operation.state, events: [] };
  }

  async #load(stream: string): Promise<Operation> {
    const { events, revision } = await this.#deps.events.read(stream);
    const operation = replay(events, revision);
    if (revision !== 'no_stream') this.#deps.cache.set(stream, operation);
    return operation;
  }

  /** A refusal (or "already done") may rest on a state that another process has moved on, or hide a key used elsewhere. */
  async #decide(request: CommandRequest, operation: Operation): Promise<readonly LoanEvent[]> {
    try {
      const events = await request.decide(operation.state, operation.revision);
      if (events.length === 0) await this.#ensureCurrent(request.stream, operation);
      return events;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      await this.#ensureCurrent(request.stream, operation);
      const claim = claimOf(request);
      if (claim && request.idempotency && (await this.#deps.events.findClaim(claim)) !== undefined) {
        throw keyConflict(request.idempotency);
      }
      throw error;
    }
  }

  async #ensureCurrent(stream: string, operation: Operation): Promise<void> {
    if ((await this.#deps.events.head(stream)) !== operation.revision) throw new Stale();
  }

  #toStore(
    request: CommandRequest,
    operation: Operation,
    events: readonly LoanEvent[],
  ): readonly EventToAppend[] {
    const { idempotency } = request;
    const metadata = {
      correlationId: request.correlationId,
      causationId: request.causationId ?? request.correlationId,
      actor: request.actor,
      applicationId: request.applicationId,
      recordedAt: this.#deps.clock.now(),
      ...fundOf(operation.state, events),
      ...(idempotency && {
        idempotency: {
          endpoint: idempotency.endpoint,
          key: idempotency.key,
          fingerprint: idempotency.fingerprint,
        },
      }),
    };
    const idOf = (_: string, recordedAt: string): string => this.#eventIds.next(Date.parse(recordedAt));
    return eventsAfter(operation, request.stream, events, { metadata, idOf });
  }

  async #append(
    request: CommandRequest,
    operation: Operation,
    stored: readonly EventToAppend[],
  ): Promise<AppendResult> {
    const { events, cache, pause, onAppended } = this.#deps;
    const { applicationId, stream, idempotency } = request;
    try {
      const appended = await retryAppend(
        () => events.append(stream, operation.revision, stored, claimOf(request)),
        pause,
      );
      onAppended?.(applicationId, stream, appended.revision);
      return appended;
    } catch (error) {
      if (error instanceof KeyAlreadyClaimedError && idempotency) {
        // Held by this very operation: another process accepted the same request, so its replay is the answer.
        throw error.stream === stream ? new Stale() : keyConflict(idempotency);
      }
      cache.delete(stream);
      throw error;
    }
  }
}

const claimOf = ({ idempotency }: CommandRequest): KeyClaim | undefined => {
  if (idempotency?.claimedIn === undefined) return undefined;
  const { claimedIn: applicationId, endpoint, key } = idempotency;
  return { applicationId, endpoint, key };
};

const KEY_FIELDS: Readonly<Record<string, string>> = {
  [ENDPOINTS.assignLoan]: 'originator_proposal_code',
  [DECISION_KEYS]: 'decision_id',
  [ENDPOINTS.decideInSandbox]: 'decision_id',
};

/** A new key would carry it out once more, so it is no advice. */
const keyConflict = ({ endpoint, key }: UsedKey): DomainError => {
  const field = KEY_FIELDS[endpoint] ?? 'idempotency_key';
  const message = `${endpoint}: key ${key} was accepted before with other contents; read the operation to see what was done, or send those contents again for their answer`;
  return new DomainError('idempotency_conflict', message, [{ field, code: 'idempotency_conflict', message }]);
};

import type { Brand } from '../../domain/shared/identifiers.ts';

/** JSON text, exactly as it is hashed and stored. */
export type JsonText = Brand<string, 'JsonText'>;

/** A place in the whole log; opaque, only handed back to the adapter that made it. Later events have later positions, with gaps. */
export type LogPosition = Brand<string, 'LogPosition'>;

export interface EventMetadata {
  readonly correlationId: string;
  readonly causationId: string;
  /** Client id, or the name of the role that acted (`administrator`, `scheduler`). */
  readonly actor: string;
  readonly applicationId: string;
  readonly recordedAt: string;
  readonly idempotency?: { readonly endpoint: string; readonly key: string; readonly fingerprint: string };
  /** Of the operation, once it has one, so that a follower of the log need not read the stream for it; absent in events of before. */
  readonly fundId?: string;
  /** Chains to the previous event of the stream; hexadecimal SHA-256. Empty where the metadata that is stored is none of ours. */
  readonly hash: string;
}

export interface EventToAppend {
  /** UUID; the same on every retry of the same append. */
  readonly id: string;
  readonly type: string;
  readonly data: JsonText;
  readonly metadata: EventMetadata;
}

export interface RecordedEvent extends EventToAppend {
  readonly stream: string;
  /** 0-based place in the stream. */
  readonly revision: bigint;
  readonly position: LogPosition;
}

export type StreamRevision = bigint | 'no_stream';

/** An idempotency key that an append uses up together with its events: both are stored, or neither. */
export interface KeyClaim {
  readonly applicationId: string;
  readonly endpoint: string;
  readonly key: string;
}

export interface AppendResult {
  readonly revision: bigint;
  readonly position: LogPosition;
}

/**
 * The streams: the only truth. An append is all or nothing, durable when it resolves, and guarded by the stream's revision.
 * An append that is repeated (stream, expected revision and event ids are equal) answers the first result and stores nothing.
 */
export interface EventStore {
  /** From `from` (default: the first); `revision` is of the stream's last event. */
  read(
    stream: string,
    from?: bigint,
  ): Promise<{ events: readonly RecordedEvent[]; revision: StreamRevision }>;
  head(stream: string): Promise<StreamRevision>;
  /**
   * @throws ConcurrencyError the stream is not at `expected`; nothing was stored
   * @throws KeyAlreadyClaimedError the claim was used up by an earlier append; nothing was stored
   * @throws OutcomeUnknownError it may have been stored; retry with the same ids and the same expected revision
   * @throws StoreUnavailableError certainly nothing was stored, and nothing can be now
   */
  append(
    stream: string,
    expected: StreamRevision,
    events: readonly EventToAppend[],
    claim?: KeyClaim,
  ): Promise<AppendResult>;
  findClaim(claim: KeyClaim): Promise<string | undefined>;
}

export class ConcurrencyError extends Error {
  override readonly name = 'ConcurrencyError';
  readonly stream: string;
  readonly expected: StreamRevision;
  readonly actual: StreamRevision;
  constructor(stream: string, expected: StreamRevision, actual: StreamRevision) {
    super(`stream ${stream} is at ${actual}, not at ${expected}`);
    this.stream = stream;
    this.expected = expected;
    this.actual = actual;
  }
}

export class KeyAlreadyClaimedError extends Error {
  override readonly name = 'KeyAlreadyClaimedError';
  readonly stream: string;
  constructor(stream: string) {
    super(`idempotency key already used by ${stream}`);
    this.stream = stream;
  }
}

export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError';
}

export class StoreUnavailableError extends Error {
  override readonly name: string = 'StoreUnavailableError';
}

/** What the engine keeps is damaged: asking again gives the same. The message names the file, and the place as far as it is known. */
export class DamagedStoreError extends StoreUnavailableError {
  override readonly name = 'DamagedStoreError';
}

export type SubscriptionMessage<E = RecordedEvent> =
  /** Events in log order, never empty. `checkpoint` is the position of the last one: store it once all of them are handled. */
  | { readonly kind: 'events'; readonly events: readonly E[]; readonly checkpoint: LogPosition }
  /** Nothing of interest up to here. In band: every earlier event has been handed out before it. */
  | { readonly kind: 'checkpoint'; readonly checkpoint: LogPosition }
  /** The subscriber has seen all that existed when this was sent. In band as well; sent again after each catch-up. */
  | { readonly kind: 'caught_up' };

export interface SubscribeOptions {
  /** Exclusive: the first event handed out is the one after it. */
  readonly from: LogPosition | 'start';
  readonly streamPrefix?: string;
  /** Most events in one message; default 500. */
  readonly batchSize?: number;
  readonly signal: AbortSignal;
}

/**
 * Catch-up subscription to the whole log: everything after `from`, then what is appended, by this process or another, until
 * the signal. Order is the log's. Nothing is read ahead of the consumer beyond a bounded buffer. An adapter whose connection
 * breaks resumes by itself from the last message that it handed out.
 */
export interface EventSubscription<E = RecordedEvent> {
  subscribe(options: SubscribeOptions): AsyncIterable<SubscriptionMessage<E>>;
}

export interface LogPlaces {
  /**
   * Position of the last event: whatever was answered before the call lies at or before it, whatever is appended after the answer
   * behind it, by this process or another.
   * @throws StoreUnavailableError
   */
  end(): Promise<LogPosition | 'start'>;
  /**
   * Resolves when the log can be followed from there. Asked of the leader, where an engine has several nodes.
   * @throws RangeError it lies beyond the end, or is no place of this log: an older state was restored, or this is another log
   * @throws StoreUnavailableError
   */
  ensureHas(position: LogPosition): Promise<void>;
}

export interface PlacedEvents {
  /** Undefined where the stream does not reach that far. @throws StoreUnavailableError */
  at(stream: string, revision: bigint): Promise<RecordedEvent | undefined>;
}

export interface StoredEvents {
  byId(id: string): Promise<RecordedEvent | undefined>;
}

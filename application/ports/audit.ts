import type { Row } from '../../projections/projection.ts';
import type { PublicEvent } from './event-bus.ts';
import type { KeyClaim, LogPosition } from './event-store.ts';

/** Where a payment lies; its table is in the order of dates. */
export interface PaymentPlace {
  readonly stream: string;
  readonly date: string;
  readonly revision: number;
}

/** Rows of a read model as an audit sees them. */
export interface AuditedRows {
  readonly tables: readonly string[];
  /** Columns that tell the rows of a table apart. */
  keyOf(table: string): readonly string[];
  /** All rows of these operations by table, in one snapshot; payments only where they are expected. */
  rowsOf(
    streams: readonly string[],
    payments: readonly PaymentPlace[],
  ): Promise<ReadonlyMap<string, readonly Row[]>>;
  /** Events that the operations' rows say they hold, all together; for a progress bar, so roughly. */
  countEvents(): Promise<number>;
  /** Operations with rows in this table and how many each has, in the order of streams, after this one. */
  operationsIn(
    table: string,
    after: string,
    limit: number,
  ): Promise<readonly { readonly stream: string; readonly rows: number }[]>;
}

/** By the events' own time: before an instant, or from it on. */
export type FrozenPeriod = { readonly before: string } | { readonly from: string };

/** Public events as the delivery log froze them. Old ones leave it with their deliveries. */
export interface FrozenEvents {
  /** Those that are there. */
  find(eventIds: readonly string[]): Promise<ReadonlyMap<string, PublicEvent>>;
  /** Of operations and of this time, in the order of their ids, after this one. */
  page(period: FrozenPeriod, after: string, limit: number): Promise<readonly PublicEvent[]>;
  /** Of operations and of this time, all together. */
  count(period: FrozenPeriod): Promise<number>;
  /** Deliveries whose event is gone or whose place in their lane is not the event's. */
  misplacedDeliveries(
    limit: number,
  ): Promise<
    readonly { readonly deliveryId: string; readonly eventId: string; readonly code: string | null }[]
  >;
}

export interface AnchorSignature {
  /** base64url of its SPKI form. */
  readonly publicKey: string;
  /** base64url. */
  readonly signature: string;
}

/** Signs what is kept elsewhere, so that it can be told later that this service wrote it. */
export interface AnchorSigner {
  sign(text: string): Promise<AnchorSignature>;
  /** Whether this service signed this text. */
  isGenuine(text: string, signature: AnchorSignature): Promise<boolean>;
}

/**
 * A record of the seal book. `begin` opens it for a log; the others each cover a stretch of that log: `found` what was there when the
 * sealer first came past, `live` what came later. Stored, so never changed.
 */
export interface SealRecord {
  /** 1 for the first; no number is left out. */
  readonly number: number;
  readonly kind: 'begin' | 'found' | 'live';
  /** Which kind of event store the positions belong to. */
  readonly log: string;
  /** Of the last event that it covers; `start` for `begin`. */
  readonly through: LogPosition | 'start';
  /** That it covers. */
  readonly events: number;
  /** Since the last `begin`, these included. */
  readonly total: number;
  /** Over the events that it covers; hexadecimal SHA-256. */
  readonly digest: string;
  /** ISO 8601 UTC. */
  readonly sealedAt: string;
  /** Over all of it and the record before; hexadecimal. */
  readonly mac: string;
}

/** Where the book ends, so that its last records cannot be taken away unnoticed. */
export interface SealHead {
  readonly number: number;
  readonly mac: string;
  /** Keyed digest of both. */
  readonly proof: string;
}

/** The seal book. Durable when a call resolves. */
export interface SealBook {
  head(): Promise<SealHead | undefined>;
  /** In the order of numbers, after this one. */
  page(after: number, limit: number): Promise<readonly SealRecord[]>;
  /** Number of the last `begin`; 0 without one. */
  lastBegin(): Promise<number>;
  /** Adds a record and moves the head to it; false, and nothing is stored, unless the head is still the one before. */
  add(record: SealRecord, head: SealHead): Promise<boolean>;
}

/** Keyed digest of a text, hexadecimal; it takes the service's key to make one. */
export type SealMac = (text: string) => string;

/** Keys of seals. */
export interface SealKeys {
  /** Undefined before anything was sealed. */
  find(): Promise<SealMac | undefined>;
  /** Made when there was none. */
  make(): Promise<SealMac>;
}

/** A claim where a log keeps it: which key, and the first event that was appended under it, if what stands there can be read. */
export interface LoggedClaim {
  readonly key: string;
  readonly first:
    { readonly stream: string; readonly revision: bigint; readonly eventId: string } | undefined;
}

export interface ClaimPage {
  readonly claims: readonly LoggedClaim[];
  /** Everything up to here was looked at. */
  readonly checkpoint: LogPosition;
}

/** A log that holds the claims themselves, so that all of them can be followed instead of being asked for one by one. */
export interface ClaimLog {
  /** What a claim's key is called in this log. */
  claimKey(claim: KeyClaim): string;
  /** Claims in the order of the log up to its end; of two with the same key the later one counts. */
  claims(options: {
    readonly from: LogPosition | 'start';
    readonly signal: AbortSignal;
  }): AsyncIterable<ClaimPage>;
}

/** What an audit knows of a stream once it has met it. */
export interface StreamNote {
  /** Its events that went by in the log. */
  readonly inLog: number;
  /** Its events when it was read; -1 before that. */
  readonly read: number;
  readonly hash: string;
  readonly payments: number;
}

/** The last event that a stream had once. */
export interface StreamHead {
  readonly stream: string;
  readonly revision: number;
  readonly hash: string;
}

/** A key that was used up, and by which event, as digests. */
export interface ClaimNote {
  readonly key: Uint8Array;
  readonly place: Uint8Array;
}

/**
 * What an audit writes down on its way, so that its memory does not grow with the log. Where it is kept, an audit that was stopped goes
 * on from the last progress that was saved: what was noted after that is gone.
 */
export interface AuditNotes {
  readonly isKept: boolean;
  stream(name: string): StreamNote | undefined;
  noteStream(name: string, note: StreamNote): void;
  streams(): Iterable<readonly [name: string, note: StreamNote]>;
  /** Claims as the log shows them, in its order. */
  noteClaims(claims: readonly ClaimNote[]): void;
  /** Keys that events of a stream that was met say they used up. */
  noteUsed(stream: string, used: readonly ClaimNote[]): void;
  /** Streams with a used key of which the log's last claim is for another event, or that it has no claim of. */
  unpaired(): Iterable<string>;
  /** Heads that were written down elsewhere; `forgetHeads` begins them anew. */
  forgetHeads(): void;
  noteHead(head: StreamHead): void;
  head(stream: string): StreamHead | undefined;
  heads(): Iterable<StreamHead>;
  /** A difference that was found. */
  noteDifference(text: string): void;
  differences(): Iterable<string>;
  save(progress: string): void;
  saved(): string | undefined;
}

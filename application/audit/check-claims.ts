import { createHash } from 'node:crypto';
import { ALL_APPLICATIONS, DECISION_KEYS, ENDPOINTS } from '../command-handling/endpoints.ts';
import type { AuditNotes, ClaimNote } from './audit-notes.ts';
import type { EventStore, KeyClaim, LogPosition, RecordedEvent } from '../ports/event-store.ts';
import { retryUntilAvailable } from '../support/retry.ts';
import type { Difference } from './difference.ts';

interface LoggedClaim {
  readonly key: string;
  readonly first:
    { readonly stream: string; readonly revision: bigint; readonly eventId: string } | undefined;
}

/** A log that holds the claims themselves, so that all of them can be followed instead of being asked for one by one. */
export interface ClaimLog {
  claimKey(claim: KeyClaim): string;
  /** Claims in the order of the log up to its end; of two with the same key the later one counts. */
  claims(options: { readonly from: LogPosition | 'start'; readonly signal: AbortSignal }): AsyncIterable<{
    readonly claims: readonly LoggedClaim[];
    readonly checkpoint: LogPosition;
  }>;
}

/** Keys that are unique beyond their operation, so that the store holds them as well. */
const CLAIMED: ReadonlySet<string> = new Set([
  ENDPOINTS.settleInstallment,
  ENDPOINTS.processPrepayment,
  ENDPOINTS.requestRepurchase,
  ENDPOINTS.decideInSandbox,
  DECISION_KEYS,
]);

const claimOf = ({ metadata }: RecordedEvent): KeyClaim | undefined => {
  const { idempotency, applicationId } = metadata;
  if (!idempotency || !CLAIMED.has(idempotency.endpoint)) return undefined;
  const { endpoint, key } = idempotency;
  return { applicationId: endpoint === DECISION_KEYS ? ALL_APPLICATIONS : applicationId, endpoint, key };
};

export interface ClaimCheck {
  check(stream: string, events: readonly RecordedEvent[]): Promise<readonly Difference[]>;
  /** Where a check that goes on later has to begin; what was checked before is certain by then. */
  readonly at: LogPosition | 'start';
  end(): AsyncIterable<readonly Difference[]>;
  stop(): Promise<void>;
}

type Claims = Pick<EventStore, 'findClaim'>;

const checkEach = async (store: Claims, events: readonly RecordedEvent[]): Promise<readonly Difference[]> => {
  const checked = events.map(async (event): Promise<readonly Difference[]> => {
    const claim = claimOf(event);
    if (!claim) return [];
    const found = await store.findClaim(claim);
    const { stream } = event;
    if (found === stream) return [];
    const place = { stream, revision: Number(event.revision), what: `key of ${claim.endpoint}` };
    return [{ kind: 'claim', ...place, expected: stream, found: found ?? '(nobody)' }];
  });
  return (await Promise.all(checked)).flat();
};

export const askedClaims = (store: Claims): ClaimCheck => ({
  at: 'start',
  check: (_, events) => checkEach(store, events),
  async *end() {},
  stop: async () => undefined,
});

/** Of what a digest is taken never leaves this file, so half of it is enough to tell billions apart. */
const DIGEST_BYTES = 16;
const digest = (text: string): Uint8Array =>
  createHash('sha256').update(text).digest().subarray(0, DIGEST_BYTES);
const NO_PLACE = new Uint8Array();

const placeOf = (first: LoggedClaim['first']): Uint8Array =>
  first ? digest(`${first.stream} ${first.revision} ${first.eventId}`) : NO_PLACE;

interface PairingDependencies {
  readonly store: Pick<EventStore, 'findClaim' | 'read'>;
  readonly log: ClaimLog;
  readonly notes: AuditNotes;
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * For a log that keeps the claims itself: one pass over them beside the one over the events, and both sides are paired at the end. Where
 * an event is not what the last claim of its key was for, the store is asked, so that only its answer is ever reported.
 */
export class PairedClaims implements ClaimCheck {
  readonly #deps: PairingDependencies;
  readonly #stopping = new AbortController();
  readonly #following: Promise<void>;
  #failure: { readonly error: unknown } | undefined;
  #at: LogPosition | 'start';

  constructor(dependencies: PairingDependencies, from: LogPosition | 'start') {
    this.#deps = dependencies;
    this.#at = from;
    this.#following = this.#follow().catch((error: unknown) => {
      this.#failure = { error };
    });
  }

  get at(): LogPosition | 'start' {
    return this.#at;
  }

  async check(stream: string, events: readonly RecordedEvent[]): Promise<readonly Difference[]> {
    this.#throwFailure();
    const used = events.flatMap((event): readonly ClaimNote[] => {
      const claim = claimOf(event);
      if (!claim) return [];
      const { revision, id: eventId } = event;
      const key = digest(this.#deps.log.claimKey(claim));
      return [{ key, place: placeOf({ stream, revision, eventId }) }];
    });
    this.#deps.notes.noteUsed(stream, used);
    return [];
  }

  async *end(): AsyncGenerator<readonly Difference[]> {
    const { store, notes, sleep } = this.#deps;
    await this.#following;
    this.#throwFailure();
    // Pairing takes this process long enough for its connections to be given up: the first question after it may find none.
    for (const stream of notes.unpaired())
      yield await retryUntilAvailable(async () => checkEach(store, (await store.read(stream)).events), sleep);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#following;
  }

  async #follow(): Promise<void> {
    const { log, notes } = this.#deps;
    const { signal } = this.#stopping;
    for await (const { claims, checkpoint } of log.claims({ from: this.#at, signal })) {
      notes.noteClaims(claims.map(({ key, first }) => ({ key: digest(key), place: placeOf(first) })));
      this.#at = checkpoint;
    }
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }
}

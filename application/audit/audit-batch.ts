import { messageOf } from '../support/failures.ts';
import {
  DECISION_STREAM_PREFIX,
  LOAN_STREAM_PREFIX,
  decidedStreamOf,
  decisionStreamOf,
} from '../command-handling/operation.ts';
import type { SqlAuditedRows } from './audited-rows.ts';
import type { SqlFrozenEvents } from './frozen-events.ts';
import { BusyError } from '../ports/busy-error.ts';
import { DamagedStoreError, StoreUnavailableError } from '../ports/event-store.ts';
import type { EventStore, RecordedEvent } from '../ports/event-store.ts';
import { retryUntilAvailable } from '../support/retry.ts';
import { compareDelivery, compareTable } from './compare-derived.ts';
import { collecting } from './difference.ts';
import type { Difference, Report } from './difference.ts';
import { auditBesideOperations } from './beside-operations.ts';
import { auditOperation } from './operation-audit.ts';
import type { OperationAudit } from './operation-audit.ts';
import { auditRenegotiation, renegotiationsOf } from './renegotiation-audit.ts';
import { RuleHistory, auditDecisions, auditEyes, eyesOf } from './two-people-audit.ts';
import { checkStream } from './stored-events.ts';

export interface AuditStores {
  readonly events: Pick<EventStore, 'read' | 'head' | 'findClaim'>;
  readonly rows: SqlAuditedRows;
  readonly frozen: SqlFrozenEvents;
  readonly auditing: Parameters<typeof auditOperation>[2] & {
    readonly sandbox: boolean;
  };
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface AuditedStream {
  readonly stream: string;
  readonly events: readonly RecordedEvent[];
  readonly fundId: string | undefined;
  readonly differences: readonly Difference[];
  readonly operation?: OperationAudit;
}

type Contents = Pick<AuditedStream, 'stream' | 'events'>;

const unreadable = (stream: string, error: unknown): AuditedStream => {
  const found = messageOf(error);
  const place = { kind: 'event', stream, revision: null, what: 'stream' } as const;
  const expected = 'a stream that can be read';
  return { stream, events: [], fundId: undefined, differences: [{ ...place, expected, found }] };
};

/** Nothing can be read, so that nothing can be verified: no difference, but the end of an audit. */
class StoreAwayError extends Error {
  override readonly name = 'StoreAwayError';
}

/** What cannot be read now says nothing of what stands there. */
export const isAway = (error: unknown): boolean =>
  (error instanceof StoreUnavailableError && !(error instanceof DamagedStoreError)) ||
  error instanceof BusyError;

const orUnreadable = async <Result>(
  stream: string,
  work: () => Promise<Result>,
): Promise<Result | AuditedStream> => {
  try {
    return await work();
  } catch (error) {
    // A damaged file says nothing of what it holds elsewhere either.
    if (error instanceof StoreAwayError || error instanceof DamagedStoreError) throw error;
    return unreadable(stream, error);
  }
};

/** A store that answers of a stream that does not exist is there: then it is the other one that cannot be read. */
const NO_STREAM_OF_OURS = 'audit-probe';
const MOST_TRIES = 10;
const PAUSE_MS = 20;

export class AuditBatch {
  readonly #stores: AuditStores;

  constructor(stores: AuditStores) {
    this.#stores = stores;
  }

  /** Read first and judged then, all at a stretch: between the answers of a server the same work takes twice as long. */
  async audit(streams: readonly string[]): Promise<readonly AuditedStream[]> {
    const contents = await Promise.all(streams.map((stream) => this.#contentsOf(stream)));
    // Read after the decisions, so that it knows whatever they were made by.
    const rules = await this.#rules();
    return Promise.all(
      contents.map(async (one) => ('differences' in one ? one : this.#auditOne(one, rules))),
    );
  }

  /** None where they cannot be read, which is told of their own stream. */
  async #rules(): Promise<RuleHistory> {
    try {
      return await RuleHistory.read({ read: (name) => this.#read(name) });
    } catch (error) {
      if (error instanceof StoreAwayError || error instanceof DamagedStoreError) throw error;
      return new RuleHistory([]);
    }
  }

  async #contentsOf(stream: string): Promise<Contents | AuditedStream> {
    return orUnreadable(stream, async () => ({ stream, events: (await this.#read(stream)).events }));
  }

  async #auditOne({ stream, events }: Contents, rules: RuleHistory): Promise<AuditedStream> {
    const store = { read: (name: string) => this.#read(name) };
    return orUnreadable(stream, async () => {
      const { differences, report } = collecting();
      checkStream(stream, events, report);
      const audited = { stream, events, differences };
      if (stream.startsWith(LOAN_STREAM_PREFIX)) {
        const records = await renegotiationsOf(store, events);
        const operation = auditOperation({ stream, events }, records, this.#stores.auditing, report);
        await this.#auditEyes(store, operation, rules, report);
        return { ...audited, fundId: operation.fundId, operation };
      }
      if (auditBesideOperations(stream, events, report)) return { ...audited, fundId: undefined };
      if (stream.startsWith(DECISION_STREAM_PREFIX)) {
        const { events: operation } = await store.read(decidedStreamOf(stream));
        return { ...audited, fundId: auditDecisions(stream, events, { operation, rules }, report) };
      }
      return { ...audited, fundId: await auditRenegotiation(store, stream, events, report) };
    });
  }

  /** @throws StoreAwayError no stream can be read now, which says nothing about this one */
  async #read(stream: string): ReturnType<EventStore['read']> {
    const { events: store, sleep } = this.#stores;
    for (let tries = 1; ; tries++) {
      try {
        return await store.read(stream);
      } catch (error) {
        if (!isAway(error) || tries === MOST_TRIES) throw error;
        await retryUntilAvailable(() => store.head(NO_STREAM_OF_OURS), sleep).catch((away: unknown) => {
          throw new StoreAwayError(`the event store cannot be read: ${messageOf(away)}`, { cause: away });
        });
        await sleep(tries * PAUSE_MS);
      }
    }
  }

  /** Reads nothing more where no fund ever asked for two people. */
  async #auditEyes(
    store: Pick<EventStore, 'read'>,
    { stream, events: operation, decoded }: OperationAudit,
    rules: RuleHistory,
    report: Report,
  ): Promise<void> {
    const told = decoded.some(({ event }) => eyesOf(event) !== undefined);
    if (!told && rules.isEmpty) return;
    const decisions = told ? (await store.read(decisionStreamOf(stream))).events : [];
    const { sandbox } = this.#stores.auditing;
    auditEyes(decoded, { operation, rules }, { decisions, sandbox }, report);
  }

  /** What the read models show otherwise, by stream; streams that agree are left out. */
  async compareRows(
    audited: readonly OperationAudit[],
    tables: readonly string[],
  ): Promise<ReadonlyMap<string, readonly Difference[]>> {
    const streams = audited.map(({ stream }) => stream);
    const stored = await this.#stores.rows.rowsOf(
      streams,
      audited.map(({ rows }) => rows),
    );
    const differing = new Map<string, readonly Difference[]>();
    for (const { stream, rows } of audited) {
      const { differences, report } = collecting();
      for (const table of tables) {
        const found = stored.get(table)?.get(stream) ?? [];
        compareTable(stream, table, { expected: rows, found, report });
      }
      if (differences.length > 0) differing.set(stream, differences);
    }
    return differing;
  }

  /** Frozen bodies that are not what the log gives; `matched` are the times of those that were found at all. */
  async compareDeliveries(
    audited: readonly OperationAudit[],
  ): Promise<{ readonly differences: readonly Difference[]; readonly matched: readonly string[] }> {
    const made = audited.flatMap(({ stream, publicEvents }) =>
      publicEvents.map((event) => ({ stream, event })),
    );
    const frozen = await this.#stores.frozen.find(made.map(({ event }) => event.eventId));
    const { differences, report } = collecting();
    for (const { stream, event } of made) {
      const found = frozen.get(event.eventId);
      if (found) compareDelivery(stream, event, found, report);
    }
    return { differences, matched: [...frozen.values()].map(({ timestamp }) => timestamp) };
  }
}

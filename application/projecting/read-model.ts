import { LRUCache } from 'lru-cache';
import type { ProjectedEvent, Projection, TableWrite } from '../../projections/projection.ts';
import { LOAN_STREAM_PREFIX, isBesideOperations } from '../command-handling/operation.ts';
import type { EventSubscription, RecordedEvent } from '../ports/event-store.ts';
import type { ProjectionStore } from './projection-store.ts';
import { PoisonEventError } from '../processors/processor.ts';
import type { Processor, ProcessorStore } from '../processors/processor.ts';
import { Runner } from '../processors/runner.ts';
import type { RunnerDependencies } from '../processors/runner.ts';
import { holdWrite, readModelHolding } from './quarantine.ts';

interface ReadModelParts {
  readonly projection: Projection;
  readonly log: EventSubscription;
  readonly store: ProjectionStore;
  readonly decode: (event: RecordedEvent) => ProjectedEvent | undefined;
  readonly batchSize?: number;
}

const storeOf = (projection: Projection, store: ProjectionStore): ProcessorStore<TableWrite> => ({
  load: async () => ({
    place: await store.checkpoint(projection),
    held: await store.quarantined(projection),
  }),
  commit: async ({ from, to, writes, holds }) => {
    if (to === 'start') return from === to;
    const kept = holds.map((change) => holdWrite(projection, change));
    return store.apply(projection, [...writes, ...kept], from, to);
  },
});

const passesBy = ({ stream }: RecordedEvent): boolean => isBesideOperations(stream);

/** What a projector passes by costs no write: the place behind it is stored with what comes next, or behind so many of them. */
const PASSED_BY = { events: 500, lazily: true } as const;

/** What of the log is read for one projection alone. */
export const readingOf = ({ ofOperationsAlone }: Projection) => ({
  ...(ofOperationsAlone && { streamPrefix: LOAN_STREAM_PREFIX }),
});

/** Events to rows: pure, so what fails once fails always. */
export const readModelProcessor = (parts: ReadModelParts): Processor<TableWrite> => {
  const { projection, log, store, decode, batchSize } = parts;
  const writesOf = (event: RecordedEvent): readonly TableWrite[] => {
    if (passesBy(event)) return [];
    if (projection.ofOperationsAlone && !event.stream.startsWith(LOAN_STREAM_PREFIX)) return [];
    try {
      const projected = decode(event);
      return projected ? projection.project(projected) : [];
    } catch (error) {
      throw new PoisonEventError(event, error);
    }
  };
  return {
    what: 'projection',
    fields: { projection: projection.name },
    source: log,
    store: storeOf(projection, store),
    holding: readModelHolding,
    ...readingOf(projection),
    ...(batchSize !== undefined && { batchSize }),
    handle: (events) => ({ writes: events.flatMap(writesOf), mayWait: events.every(passesBy) }),
  };
};

interface Waiter {
  readonly revision: bigint;
  answer(applied: boolean): void;
}

const REMEMBERED_STREAMS = 50_000;

class AppliedRevisions {
  // By size, because a cache with a count takes the memory for all of them at once.
  readonly #revisions = new LRUCache<string, bigint>({
    maxSize: REMEMBERED_STREAMS,
    sizeCalculation: () => 1,
  });
  readonly #waiters = new Map<string, Set<Waiter>>();

  note(stream: string, revision: bigint): void {
    this.#revisions.set(stream, revision);
    for (const waiter of this.#waiters.get(stream) ?? [])
      if (waiter.revision <= revision) waiter.answer(true);
  }

  has(stream: string, revision: bigint): boolean {
    const applied = this.#revisions.peek(stream);
    return applied !== undefined && applied >= revision;
  }

  /** False when it did not happen within the time. */
  wait(stream: string, revision: bigint, timeoutMs: number): Promise<boolean> {
    if (this.has(stream, revision)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(stream) ?? new Set();
      this.#waiters.set(stream, waiters);
      const answer = (applied: boolean): void => {
        clearTimeout(timer);
        waiters.delete(waiter);
        if (waiters.size === 0) this.#waiters.delete(stream);
        resolve(applied);
      };
      const waiter = { revision, answer };
      const timer = setTimeout(answer, timeoutMs, false);
      waiters.add(waiter);
    });
  }

  /** Rows may have been taken back: what was applied before says nothing any more. */
  forget(): void {
    this.#revisions.clear();
  }

  /** Nothing will be applied for now: callers are answered before their time is up. */
  dismiss(): void {
    for (const waiters of [...this.#waiters.values()])
      for (const waiter of [...waiters]) waiter.answer(false);
  }
}

/** Each batch and its place commit together: rows are always those of exactly the events up to the place. */
export class ReadModelFollower extends Runner<TableWrite> {
  readonly #projection: Projection;
  readonly #applied: AppliedRevisions;

  constructor(parts: ReadModelParts & RunnerDependencies) {
    const applied = new AppliedRevisions();
    const processor: Processor<TableWrite> = {
      ...readModelProcessor(parts),
      // With a prefix nothing comes that it would pass by.
      ...(!parts.projection.ofOperationsAlone && { gather: PASSED_BY }),
      watch: {
        committed: ({ events }) => {
          for (const { stream, revision } of events) applied.note(stream, revision);
        },
        lost: () => {
          applied.forget();
          // Another process may have applied what they wait for, and this one would never learn of it.
          applied.dismiss();
        },
        ended: () => applied.dismiss(),
      },
    };
    super(processor, parts);
    this.#projection = parts.projection;
    this.#applied = applied;
  }

  override get name(): string {
    return this.#projection.name;
  }

  /** Resolves as soon as the read model holds that revision: true; false when it does not in time, or cannot. */
  waitForVersion(stream: string, revision: bigint, timeoutMs: number): Promise<boolean> {
    if (this.isStuck() || this.held.has(stream)) return Promise.resolve(this.#applied.has(stream, revision));
    return this.#applied.wait(stream, revision, timeoutMs);
  }
}

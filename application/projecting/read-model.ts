import type { ProjectedEvent, Projection, TableWrite } from '../../projections/projection.ts';
import { LOAN_STREAM_PREFIX, isBesideOperations } from '../command-handling/operation.ts';
import type { EventSubscription, RecordedEvent } from '../ports/event-store.ts';
import type { ProjectionStore } from './projection-store.ts';
import { PoisonEventError } from '../processors/processor.ts';
import type { Processor, ProcessorStore, ProcessorWatch } from '../processors/processor.ts';
import { Runner } from '../processors/runner.ts';
import type { RunnerDependencies } from '../processors/runner.ts';
import { AppliedRevisions } from './applied-revisions.ts';
import { holdWrite, readModelHolding } from './quarantine.ts';

interface ReadModelParts {
  readonly projection: Projection;
  readonly log: EventSubscription;
  readonly store: ProjectionStore;
  /** Undefined for events that no projection sees. */
  readonly decode: (event: RecordedEvent) => ProjectedEvent | undefined;
  readonly watch?: ProcessorWatch<TableWrite>;
  /** Only streams whose name starts so; default: all. */
  readonly streamPrefix?: string;
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

/** Events to rows: pure, so what fails once fails always. */
export const readModelProcessor = (parts: ReadModelParts): Processor<TableWrite> => {
  const { projection, log, store, decode, watch, streamPrefix, batchSize } = parts;
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
    ...(watch && { watch }),
    ...(streamPrefix !== undefined && { streamPrefix }),
    ...(batchSize !== undefined && { batchSize }),
    handle: (events) => ({ writes: events.flatMap(writesOf), mayWait: events.every(passesBy) }),
  };
};

/**
 * A read model that follows the log: each batch and its place commit together, so rows are always those of exactly the events up to the
 * place, wherever the process dies.
 */
export class ReadModelFollower extends Runner<TableWrite> {
  readonly #projection: Projection;
  readonly #applied: AppliedRevisions;

  constructor(parts: Omit<ReadModelParts, 'watch'> & RunnerDependencies) {
    const applied = new AppliedRevisions();
    const watch: ProcessorWatch<TableWrite> = {
      committed: ({ events }) => {
        for (const { stream, revision } of events) applied.note(stream, revision);
      },
      lost: () => {
        applied.forget();
        // Another process may have applied what they wait for, and this one would never learn of it.
        applied.dismiss();
      },
      ended: () => applied.dismiss(),
    };
    const processor = readModelProcessor({ ...parts, watch });
    // With a prefix nothing comes that it would pass by.
    super(parts.streamPrefix === undefined ? { ...processor, gather: PASSED_BY } : processor, parts);
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

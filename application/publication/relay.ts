import { LOAN_STREAM_PREFIX, ownerOf } from '../command-handling/operation.ts';
import type { CheckpointStore } from '../coordination/stored-places.ts';
import { MessageTooLargeError } from '../ports/event-bus.ts';
import type { EventBus, PublicEvent } from '../ports/event-bus.ts';
import type { EventStore, EventSubscription, RecordedEvent } from '../ports/event-store.ts';
import type { PublicationWatch } from '../ports/observation.ts';
import { PlaceMovedError } from '../processors/consumer-offsets.ts';
import type { EventDelivery } from '../processors/consumer-offsets.ts';
import { PoisonEventError } from '../processors/processor.ts';
import type { Commit, Holding, Processor, ProcessorStore } from '../processors/processor.ts';
import type { Statement, SqlDatabase } from '../sql/sql-database.ts';
import { isOfTheEvent } from './public-events.ts';
import type { Translator } from './public-events.ts';
import { changeRow, guarded } from '../sql/compare-and-set.ts';

/** An operation with an event that cannot be published: from that event on, its events wait. */
interface HeldBack {
  readonly stream: string;
  readonly revision: bigint;
  readonly eventType: string;
  readonly reason: string;
}

/** What the relay holds back. Durable when a call resolves. */
export class RelayQuarantine {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async list(): Promise<readonly (HeldBack & { readonly released: boolean })[]> {
    const query = this.#database.builder
      .selectFrom('relay_quarantine')
      .select(['stream', 'revision', 'event_type as eventType', 'reason', 'released'])
      .orderBy('stream');
    const rows = await this.#database.read(query);
    return rows.map((row) => ({
      ...row,
      revision: BigInt(row.revision),
      released: Number(row.released) === 1,
    }));
  }

  async waits(stream: string): Promise<boolean> {
    const query = this.#database.builder
      .selectFrom('relay_quarantine')
      .select('stream')
      .where('stream', '=', stream);
    return (await this.#database.read(query)).length > 0;
  }

  async release(stream: string): Promise<boolean> {
    const query = this.#database.builder
      .updateTable('relay_quarantine')
      .set({ released: 1 })
      .where('stream', '=', stream);
    return guarded(this.#database.transaction([{ query: query.compile(), expectChanges: 1 }]));
  }

  /** Belongs into the transaction of the place that passes the event. Keeps what is there for the operation, but for the reason, and takes a release back. */
  holding({ stream, revision, eventType, reason }: HeldBack): Statement {
    const query = this.#database.builder
      .insertInto('relay_quarantine')
      .values({ stream, revision: Number(revision), event_type: eventType, reason, released: 0 })
      .onConflict((conflict) => conflict.column('stream').doUpdateSet({ reason, released: 0 }));
    return { query: query.compile() };
  }

  /** What was released cannot be published after all, or everything that waited is: false where another process has seen to it. */
  settle({ stream, revision }: Pick<HeldBack, 'stream' | 'revision'>, reason?: string): Promise<boolean> {
    const from = { revision: Number(revision), released: 1 };
    const to = reason === undefined ? undefined : { reason, released: 0 };
    return changeRow(this.#database, 'relay_quarantine', { key: { stream }, from, to });
  }
}

/** Name of the place up to which everything is on the bus or, without one, in the lanes. */
export const RELAY_CHECKPOINT = 'outbox-relay';

export interface PublishingParts {
  readonly subscription: EventSubscription;
  readonly checkpoints: CheckpointStore;
  readonly quarantine: RelayQuarantine;
  readonly events: Pick<EventStore, 'read'>;
  readonly translator: Translator;
  readonly watch?: Pick<PublicationWatch, 'translated' | 'published'> | undefined;
}

const translated = async (
  { translator, watch }: PublishingParts,
  recorded: readonly RecordedEvent[],
): Promise<readonly PublicEvent[]> => {
  try {
    const events = await translator.translate(recorded);
    watch?.translated(recorded, events);
    return events;
  } catch (error) {
    throw isOfTheEvent(error) ? new PoisonEventError(recorded[0]!, error) : error;
  }
};

/** An operation with an event that cannot be translated, or that the bus can never take, waits, with all that follow it; the others go on. */
const holdingOf = <W>({ events }: PublishingParts): Holding<W> => ({
  mayWait: () => true,
  ownerOf,
  says: () => 'an operation waits in quarantine, unpublished',
  waiting: async ({ stream, revision: since }) =>
    (await events.read(stream)).events.filter(({ revision }) => revision >= since),
});

/**
 * What waits and the place that passes it are one transaction, so a relay that was frozen meanwhile holds back nothing that another has
 * published. What was released is let go after it is published; that changes no place.
 */
const storeOf = <W>(
  { quarantine, checkpoints }: PublishingParts,
  commitWrites: (commit: Commit<W>, holding: readonly Statement[]) => Promise<boolean>,
): ProcessorStore<W> => ({
  load: async () => ({ place: await checkpoints.load(RELAY_CHECKPOINT), held: await quarantine.list() }),
  commit: async (commit) => {
    const isReleased = commit.from === commit.to;
    const holding = commit.holds.flatMap((one) => (one.kind === 'hold' ? quarantine.holding(one.hold) : []));
    if (!(await commitWrites(commit, isReleased ? [] : holding))) return false;
    for (const change of isReleased ? commit.holds : []) {
      if (change.kind === 'remove' && !(await quarantine.settle(change))) return false;
      if (change.kind === 'hold' && !(await quarantine.settle(change.hold, change.hold.reason))) return false;
    }
    return true;
  },
});

const common = <W>(parts: PublishingParts) => ({
  what: 'outbox relay',
  source: parts.subscription,
  streamPrefix: LOAN_STREAM_PREFIX,
  holding: holdingOf<W>(parts),
});

/**
 * Carries every stored event to the bus, in the order of the log and at least once: the place is stored after the bus has taken a batch. A
 * relay that was frozen while another took over may repeat what that one sent. Each begins at or before the stored place and leaves nothing
 * out, so what comes first of each event still comes in order; and it cannot set the place back.
 */
export const relayToBus = (parts: PublishingParts, bus: Pick<EventBus, 'publish'>): Processor<never> => ({
  ...common<never>(parts),
  store: storeOf(
    parts,
    async ({ from, to }, holding) =>
      from === to || parts.checkpoints.move(RELAY_CHECKPOINT, from, to, holding),
  ),
  handle: async (recorded) => {
    const events = await translated(parts, recorded);
    const startedAt = Date.now();
    try {
      if (events.length > 0) await bus.publish(events);
    } catch (error) {
      throw error instanceof MessageTooLargeError ? new PoisonEventError(recorded[0]!, error) : error;
    }
    parts.watch?.published(events, startedAt);
    return { writes: [] };
  },
});

/** Without a bus: what an event gives for the webhooks and the place behind it are one transaction. */
export const relayToLanes = (parts: PublishingParts, deliver: EventDelivery): Processor<PublicEvent> => ({
  ...common<PublicEvent>(parts),
  store: storeOf(parts, async ({ from, to, writes }, holding) => {
    const startedAt = Date.now();
    const moves = from !== to && to !== 'start';
    try {
      if (moves) await deliver(writes, { name: RELAY_CHECKPOINT, from, to, effects: holding });
      else if (writes.length > 0) await deliver(writes);
      parts.watch?.published(writes, startedAt);
      return true;
    } catch (error) {
      if (error instanceof PlaceMovedError) return false;
      throw error;
    }
  }),
  handle: async (recorded) => ({ writes: await translated(parts, recorded) }),
});

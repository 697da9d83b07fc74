import { LOAN_STREAM_PREFIX, ownerOf } from '../command-handling/operation.ts';
import { UnreadableEventError } from '../event-codec/fields.ts';
import type { CheckpointStore } from '../coordination/stored-places.ts';
import { MessageTooLargeError, PlaceMovedError } from '../ports/event-bus.ts';
import type { EventBus, EventDelivery, PublicEvent } from '../ports/event-bus.ts';
import type { RelayQuarantine } from './relay-quarantine.ts';
import type { EventStore, EventSubscription, RecordedEvent } from '../ports/event-store.ts';
import type { PublicationWatch } from '../ports/observation.ts';
import { PoisonEventError, placeAlone } from '../processors/processor.ts';
import type { Commit, Holding, Processor, ProcessorStore } from '../processors/processor.ts';
import type { Translator } from './public-event-translator.ts';

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

const isOfTheEvent = (error: unknown): boolean =>
  error instanceof UnreadableEventError || error instanceof TypeError || error instanceof RangeError;

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

/** What waits is durable before the place passes it, and is let go after what waited is published. */
const storeOf = <W>(
  { quarantine, checkpoints }: PublishingParts,
  commitWrites: (commit: Commit<W>) => Promise<boolean>,
): ProcessorStore<W> => ({
  load: async () => ({ place: await checkpoints.load(RELAY_CHECKPOINT), held: await quarantine.list() }),
  commit: async (commit) => {
    for (const change of commit.holds) {
      if (change.kind !== 'hold') continue;
      const { stream, revision, eventType, reason } = change.hold;
      await quarantine.put({ stream, revision, eventType, reason });
    }
    if (!(await commitWrites(commit))) return false;
    for (const change of commit.holds) if (change.kind === 'remove') await quarantine.remove(change.stream);
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
  store: storeOf(parts, (commit) => placeAlone(parts.checkpoints, RELAY_CHECKPOINT).commit(commit)),
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
  store: storeOf(parts, async ({ from, to, writes }) => {
    const startedAt = Date.now();
    const moves = from !== to && to !== 'start';
    try {
      if (moves) await deliver(writes, { name: RELAY_CHECKPOINT, from, to });
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

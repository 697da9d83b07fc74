import type { LoanEvent } from '../../domain/loan/events.ts';
import { loanStream, ownerOf } from '../command-handling/operation.ts';
import type { CheckpointStore } from '../coordination/stored-places.ts';
import type { EventBus, PublicEvent, Topics } from '../ports/event-bus.ts';
import type {
  EventStore,
  EventSubscription,
  PlacedEvents,
  RecordedEvent,
  StoredEvents,
} from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';
import type { EventDelivery } from '../processors/consumer-offsets.ts';
import { Runner } from '../processors/runner.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { sizedCache } from '../support/sized-cache.ts';
import { streamEvents } from './event-stream.ts';
import type { EventStreamQuery, StreamedEvent } from './event-stream.ts';
import { Feed, SqlFeedRows } from './feed.ts';
import { PublicEventTranslator } from './public-events.ts';
import type { Translator } from './public-events.ts';
import { relayToBus, relayToLanes } from './relay.ts';
import type { RelayQuarantine, PublishingParts } from './relay.ts';

interface Dependencies {
  readonly log: EventSubscription & PlacedEvents & Partial<StoredEvents>;
  readonly events: EventStore;
  readonly readModel: SqlDatabase;
  readonly decode: (recorded: RecordedEvent) => LoanEvent;
  readonly apiVersion: string;
  readonly cacheBytes: number;
  readonly checkpoints: CheckpointStore;
  readonly quarantine: RelayQuarantine;
  /** Resolves when the read model has what was answered to an application. @throws ReadModelBehindError */
  readonly written: (applicationId: string) => Promise<void>;
  readonly logger: Logger;
  readonly sleep: (ms: number) => Promise<void>;
  /** @throws Error where events travel inside the process */
  readonly topics: () => Promise<Topics>;
}

interface RelayOptions {
  readonly subscription: EventSubscription;
  readonly watch: PublishingParts['watch'];
  /** Undefined where events go straight into the lanes. */
  readonly bus: EventBus | undefined;
  readonly deliver: () => EventDelivery;
  readonly logger: Logger;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Bytes of the id of a fund. */
const FUND_BYTES = 60;

export class Publication {
  readonly #deps: Dependencies;
  /** Remembers the funds of operations, for everything here. */
  readonly translator: Translator;
  readonly stream: (query: EventStreamQuery, signal: AbortSignal) => AsyncGenerator<StreamedEvent>;
  readonly feed: Feed;
  readonly topics: Dependencies['topics'];

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    const { log, readModel, written, logger, sleep, events, decode, apiVersion } = dependencies;
    const funds = sizedCache<string>(dependencies.cacheBytes, () => FUND_BYTES);
    const translator = new PublicEventTranslator({ events, decode, funds, apiVersion });
    this.translator = translator;
    const byId = log.byId?.bind(log);
    this.stream = streamEvents.bind(undefined, { subscription: log, translator, ...(byId && { byId }) });
    this.feed = new Feed({
      rows: new SqlFeedRows(readModel),
      events: log,
      translator,
      byId: (eventId) => this.#byId(eventId),
      indexFollows: log.byId === undefined,
      ...{ written, logger, sleep },
    });
    this.topics = dependencies.topics;
  }

  relay(options: RelayOptions): Runner<never> | Runner<PublicEvent> {
    const { checkpoints, quarantine, events } = this.#deps;
    const { subscription, watch, bus, deliver, ...running } = options;
    const parts = { subscription, watch, translator: this.translator, checkpoints, quarantine, events };
    return bus
      ? new Runner(relayToBus(parts, bus), running)
      : new Runner(relayToLanes(parts, deliver()), running);
  }

  async find(applicationId: string, eventId: string): Promise<PublicEvent | undefined> {
    const recorded = await this.#byId(eventId);
    if (!recorded || ownerOf(recorded.stream) !== applicationId) return undefined;
    return (await this.translator.translate([recorded]))[0];
  }

  /** Ids of what may be told of an operation, oldest first; none where there is no such operation. */
  async idsOf(applicationId: string, code: string): Promise<readonly string[]> {
    const { events } = await this.#deps.events.read(loanStream(applicationId, code));
    return events.map(({ id }) => id);
  }

  #byId(eventId: string): Promise<RecordedEvent | undefined> {
    const { log } = this.#deps;
    return log.byId ? log.byId(eventId) : this.#indexed(eventId);
  }

  /** Where the log has no index of ids, a read model says where events stand, as soon as it has come so far. */
  async #indexed(id: string): Promise<RecordedEvent | undefined> {
    const { readModel } = this.#deps;
    const [place] = await readModel.read(
      readModel.builder
        .selectFrom('published_event')
        .select(['stream', 'revision'])
        .where('event_id', '=', id)
        .limit(1),
    );
    if (!place) return undefined;
    const event = await this.#deps.log.at(place.stream, BigInt(place.revision));
    return event?.id === id ? event : undefined;
  }
}

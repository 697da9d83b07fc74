import { LRUCache } from 'lru-cache';
import { LOAN_STREAM_PREFIX, parseLoanStream } from '../../../application/command-handling/operation.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import { EventStream } from '../../../application/publishing/event-stream.ts';
import { HeldOperations, OutboxRelay } from '../../../application/publishing/outbox-relay.ts';
import {
  PublicEventTranslator,
  PublishedEvents,
  StreamFundLookup,
} from '../../../application/publishing/public-event-translator.ts';
import { API_VERSION } from '../../http/openapi/version.ts';
import { IndexedEvents } from '../../sql/read-models/indexed-events.ts';
import { pause, throttled } from '../../support/time.ts';
import type { Foundations } from '../foundations.ts';
import { decodeRecorded, findsById } from '../projections.ts';
import type { Adapters } from './adapters.ts';

/** Funds remembered by what translates the whole log, and by what translates single events. */
const FUNDS_OF_THE_LOG = 100_000;
const FUNDS_OF_SINGLE_EVENTS = 1_000;
const RELAY_PAUSE_MS = 20;

const translatorOf = (events: EventStore, rememberedFunds: number): PublicEventTranslator =>
  new PublicEventTranslator({
    decode: decodeRecorded,
    parseStream: parseLoanStream,
    funds: new StreamFundLookup(events, decodeRecorded, new LRUCache({ max: rememberedFunds })),
    apiVersion: API_VERSION,
  });

export const relayOf = (
  { engines, logger, observability }: Foundations,
  { events, checkpoints, relayQuarantine }: Adapters,
): OutboxRelay => {
  const { eventStore, eventBus } = engines;
  const translator = translatorOf(events, FUNDS_OF_THE_LOG);
  return new OutboxRelay({
    subscription: observability.follower('relay', throttled(eventStore, RELAY_PAUSE_MS)),
    checkpoints,
    bus: eventBus,
    held: new HeldOperations({
      quarantine: relayQuarantine,
      events,
      bus: eventBus,
      translator: observability.translation(translator),
      logger,
    }),
    logger,
    streamPrefix: LOAN_STREAM_PREFIX,
    sleep: pause,
  });
};

/** The public events as commands read them, from the log itself. */
export const eventStreamOf = ({ engines }: Foundations, { events }: Adapters): EventStream => {
  return new EventStream({
    subscription: engines.eventStore,
    translator: translatorOf(events, FUNDS_OF_THE_LOG),
  });
};

/** What is published of events that are already at hand. */
export const translatorOfEvents = ({ events }: Adapters): PublicEventTranslator =>
  translatorOf(events, FUNDS_OF_SINGLE_EVENTS);

/** EventStoreDB finds no event by its id: there, a read model knows where it stands. */
export const publishedEvents = ({ engines }: Foundations, adapters: Adapters): PublishedEvents => {
  const log = engines.eventStore;
  const stored = findsById(log) ? log : new IndexedEvents(engines.readModelDatabase, adapters.events);
  return new PublishedEvents(stored, translatorOfEvents(adapters));
};

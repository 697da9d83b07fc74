import { ContainerModule } from 'inversify';
import { LRUCache } from 'lru-cache';
import { parseLoanStream } from '../../application/command-handling/stream-names.ts';
import type { EventStore, EventSubscription, StoredEvents } from '../../application/ports/event-store.ts';
import { StreamFundLookup } from '../../application/publishing/fund-lookup.ts';
import { PublicEventTranslator } from '../../application/publishing/public-event-translator.ts';
import { PublishedEvents } from '../../application/publishing/published-event.ts';
import { decodeRecorded } from './read-side.ts';
import { WebhookManagement } from '../../application/webhooks/webhook-management.ts';
import type { Sealer } from '../../application/ports/webhook-subscriptions.ts';
import { API_VERSION } from '../http/openapi/version.ts';
import type { MasterKeys } from '../security/master-keys.ts';
import { SqlDeliveryLog } from '../sql/webhooks/delivery-log.ts';
import { SqlDeliveryQueue } from '../sql/webhooks/delivery-queue.ts';
import { SqlWebhookSubscriptions } from '../sql/webhooks/subscriptions.ts';
import { DnsAddressGuard } from '../webhooks/addresses/address-guard.ts';
import { SystemRandom } from '../webhooks/sending/signing-keys.ts';
import { WebhookWorker } from '../webhooks/webhook-worker.ts';
import { sharesStores } from './engines.ts';
import { TOKENS } from './tokens.ts';

const CACHED_FUNDS = 1_000;
/** What a subscription just made may get too much of, rather than miss, because the clocks of two processes disagree. */
const CLOCKS_APART_MS = 1_000;

const RECEIVER_ON_THIS_MACHINE =
  'for a receiver on the machine of this sandbox, set WEBHOOK_ALLOW_PRIVATE_NETWORK=true and WEBHOOK_CA_FILE';

/** Secrets are made rarely: each looks which master key wraps, so that it is refused only in the moment of a rotation. */
const sealerOf = (masterKeys: MasterKeys): Sealer => ({
  seal: async (text, context) => {
    await masterKeys.refresh();
    return masterKeys.wrap('webhook-secrets', text, context);
  },
  open: (sealed, context) => masterKeys.unwrap('webhook-secrets', sealed, context),
});

const NO_INDEX: StoredEvents = { byId: () => Promise.resolve(undefined) };

/** EventStoreDB finds no event by its id: there, an event is known as long as a delivery keeps it. */
const publishedEvents = (events: EventStore, log: EventSubscription): PublishedEvents => {
  const stored = 'byId' in log ? (log as EventSubscription & StoredEvents) : NO_INDEX;
  const funds = new StreamFundLookup(events, decodeRecorded, new LRUCache({ max: CACHED_FUNDS }));
  const translator = new PublicEventTranslator({
    decode: decodeRecorded,
    parseStream: parseLoanStream,
    funds,
    apiVersion: API_VERSION,
  });
  return new PublishedEvents(stored, translator);
};

export const webhookModule = new ContainerModule(({ bind }) => {
  bind(TOKENS.webhookSide).toResolvedValue(
    (
      configuration,
      db,
      bus,
      { masterKeys },
      clock,
      realClock,
      logger,
      observability,
      onQueued,
      events,
      log,
    ) => {
      const { environment, webhooks } = configuration;
      const subscriptions = new SqlWebhookSubscriptions(db);
      const queue = new SqlDeliveryQueue(db);
      const guard = new DnsAddressGuard({
        allowPrivateNetwork: webhooks.allowPrivateNetwork,
        ...(environment === 'sandbox' && { hint: RECEIVER_ON_THIS_MACHINE }),
      });
      const sealer = sealerOf(masterKeys);
      const worker = new WebhookWorker({
        queue,
        subscriptions,
        bus,
        guard,
        sealer,
        clock: realClock,
        logger,
        schedule: webhooks.retrySchedule,
        timeoutMs: webhooks.timeout,
        extraRoots: webhooks.extraRoots,
        metrics: observability.webhooks,
        attempts: observability.attempts,
        clockToleranceMs: sharesStores(configuration) ? CLOCKS_APART_MS : 0,
      });
      const management = new WebhookManagement({
        subscriptions,
        queue,
        log: new SqlDeliveryLog(db),
        published: publishedEvents(events, log),
        guard,
        sealer,
        random: new SystemRandom(),
        clock,
        realClock,
        apiVersion: API_VERSION,
        pingsOnCreation: environment === 'sandbox',
        onQueued: onQueued ?? ((webhookIds) => worker.wake(webhookIds)),
      });
      return { management, worker };
    },
    [
      TOKENS.configuration,
      TOKENS.serviceDatabase,
      TOKENS.eventBus,
      TOKENS.keys,
      TOKENS.clock,
      TOKENS.realClock,
      TOKENS.logger,
      TOKENS.observability,
      TOKENS.onQueued,
      TOKENS.eventStore,
      TOKENS.eventSubscription,
    ],
  );
});

import { TOPICS } from '../../application/publication/catalogue.ts';
import { RELAY_CHECKPOINT } from '../../application/publication/relay.ts';
import { FAN_OUT_GROUP } from '../../application/webhooks/fan-out.ts';
import { Webhooks } from '../../application/webhooks/webhooks.ts';
import type { Forwarder } from '../../application/webhooks/webhooks.ts';
import { NotAllowedError } from '../cli/command-line.ts';
import { API_VERSION } from '../http/openapi/version.ts';
import type { MasterKeys } from '../security/master-keys.ts';
import { SystemClock, pause } from '../support/time.ts';
import { DnsAddressGuard } from '../webhooks/addresses/address-guard.ts';
import { RETENTION } from '../webhooks/retention-sweeper.ts';
import { WebhookForwarder } from '../webhooks/sending/forwarder.ts';
import { newSecret } from '../webhooks/sending/webhook-sender.ts';
import { WebhookWorker } from '../webhooks/webhook-worker.ts';
import { cacheBytes } from './cache-shares.ts';
import type { Configuration } from './configuration.ts';
import { newHolder, sharesStores } from './engines.ts';
import type { Parts } from './parts.ts';
import { logOrder } from './read-models.ts';
import { requireKafka } from './publication.ts';

/** What a subscription just made may get too much of, rather than miss, because the clocks of two processes disagree. */
const CLOCKS_APART_MS = 1_000;

/** To a database across a network a transaction of one row costs as much as one of ten. */
const GATHER_MS = 10;

const DAY_MS = 86_400_000;
const HANDLED_WITHIN_MS = 60_000;

const RECEIVER_ON_THIS_MACHINE =
  'for a receiver on the machine of this sandbox, set WEBHOOK_ALLOW_PRIVATE_NETWORK=true and WEBHOOK_CA_FILE';

const guardOf = ({ environment, webhooks }: Configuration): DnsAddressGuard =>
  new DnsAddressGuard({
    allowPrivateNetwork: webhooks.allowPrivateNetwork,
    ...(environment === 'sandbox' && { hint: RECEIVER_ON_THIS_MACHINE }),
  });

/** Secrets are made rarely: each looks which master key wraps, so that it is refused only in the moment of a rotation. */
const sealingWith =
  (masterKeys: MasterKeys) =>
  async (secret: string, context: string): Promise<string> => {
    await masterKeys.refresh();
    return masterKeys.wrap('webhook-secrets', secret, context);
  };

/** Without a topic, what the relay has passed is in the lanes; a topic may still hold it. */
const fannedOut =
  ({ configuration, checkpoints, publication }: Parts) =>
  async () => {
    const { kafka } = configuration;
    const position = await checkpoints.load(RELAY_CHECKPOINT);
    if (kafka) {
      const topics = await publication.topics();
      const { topicPrefix } = kafka;
      await topics.untilHandled(topicPrefix + TOPICS.events, topicPrefix + FAN_OUT_GROUP, HANDLED_WITHIN_MS);
    }
    return position;
  };

const putAside = (parts: Parts) => async () => {
  const kafka = requireKafka(parts);
  const { KafkaDeadLetters } = await import('../kafka/dead-letters.ts');
  return { letters: new KafkaDeadLetters(kafka), group: kafka.topicPrefix + FAN_OUT_GROUP };
};

/** Production has receivers of its own, with secrets of their own. */
const forwarding =
  ({ environment, webhooks }: Configuration) =>
  (url: string): Forwarder => {
    if (environment === 'production')
      throw new NotAllowedError('events are forwarded by a sandbox only: in production register a webhook');
    return new WebhookForwarder({
      url,
      secret: newSecret(),
      timeoutMs: webhooks.timeout,
      now: () => Date.now(),
    });
  };

const workerOf = (parts: Parts, { queue, ranges, subscriptions }: Webhooks): WebhookWorker => {
  const { configuration, keys, logger, sharedNow } = parts;
  const { webhooks } = configuration;
  return new WebhookWorker({
    queue,
    ranges,
    subscriptions,
    bus: parts.eventBus,
    order: logOrder,
    guard: guardOf(configuration),
    openSecret: (sealed, context) => keys.masterKeys.unwrap('webhook-secrets', sealed, context),
    clock: new SystemClock(sharedNow),
    now: sharedNow,
    logger,
    schedule: webhooks.retrySchedule,
    timeoutMs: webhooks.timeout,
    extraRoots: webhooks.extraRoots,
    metrics: parts.observability.metrics?.webhooks,
    watch: parts.tracedEvents,
    ...(sharesStores(configuration) && {
      retentionLease: { leases: parts.leases, name: 'webhook-retention', holder: newHolder() },
      clockToleranceMs: CLOCKS_APART_MS,
      limits: { gatherMs: GATHER_MS },
    }),
  });
};

export const sendingOf = (parts: Parts): Parts['sending'] => {
  const { configuration, clock, eventStore, keys, onQueued, publication } = parts;
  let worker: WebhookWorker | undefined;
  const webhooks = new Webhooks({
    database: parts.serviceDatabase,
    cacheBytes: cacheBytes(configuration, 'deliveredEvents'),
    events: eventStore,
    publication,
    clock,
    // Leases of lanes and times of deliveries mean the same in every process.
    realClock: new SystemClock(parts.sharedNow),
    order: logOrder,
    clockToleranceMs: CLOCKS_APART_MS,
    apiVersion: API_VERSION,
    pingsOnCreation: configuration.environment === 'sandbox',
    onQueued: onQueued ?? ((ids) => worker?.wake(ids)),
    checkUrl: (url) => guardOf(configuration).check(url),
    newSecret,
    seal: sealingWith(keys.masterKeys),
    verification: {
      subscription: eventStore,
      quarantine: parts.relayQuarantine,
      fannedOut: fannedOut(parts),
      keptForMs: RETENTION.deliveredDays * DAY_MS,
      sleep: pause,
      clockToleranceMs: sharesStores(configuration) ? CLOCKS_APART_MS : 0,
    },
    putAside: putAside(parts),
    forwarder: forwarding(configuration),
  });
  return {
    webhooks,
    get worker() {
      return (worker ??= workerOf(parts, webhooks));
    },
  };
};

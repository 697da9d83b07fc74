import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Sealer, WebhookSubscription } from '../../../application/ports/webhook-subscriptions.ts';
import type { RequestContext } from '../../../application/ports/clients.ts';
import { WebhookManagement } from '../../../application/webhooks/webhook-management.ts';
import { WebhookRecovery } from '../../../application/webhooks/webhook-recovery.ts';
import type { Forwarder } from '../../cli/cli-services.ts';
import { NotAllowedError } from '../../cli/command-line.ts';
import type { WebhookPages } from '../../console/report-services.ts';
import { API_VERSION } from '../../http/openapi/version.ts';
import type { MasterKeys } from '../../security/master-keys.ts';
import { SqlDeliveryLog } from '../../sql/webhooks/delivery-log.ts';
import { SqlDeliveryQueue } from '../../sql/webhooks/delivery-queue.ts';
import { SqlWebhookSubscriptions } from '../../sql/webhooks/subscriptions.ts';
import { SqlWebhookDesk } from '../../sql/webhooks/webhook-desk.ts';
import { DnsAddressGuard } from '../../webhooks/addresses/address-guard.ts';
import { WebhookForwarder } from '../../webhooks/sending/forwarder.ts';
import { SystemRandom } from '../../webhooks/sending/webhook-sender.ts';
import type { LeasePlace } from '../../webhooks/retention-sweeper.ts';
import { SystemClock } from '../../support/time.ts';
import { WebhookWorker } from '../../webhooks/webhook-worker.ts';
import type { Configuration } from '../configuration.ts';
import { sharesStores } from '../engines.ts';
import type { Engines } from '../engines.ts';
import type { Foundations } from '../foundations.ts';
import type { Adapters } from './adapters.ts';
import { publishedEvents } from './publishing.ts';

/** What a subscription just made may get too much of, rather than miss, because the clocks of two processes disagree. */
export const CLOCKS_APART_MS = 1_000;

/** To a database across a network a transaction of one row costs as much as one of ten. */
const GATHER_MS = 10;

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

/** Leases of lanes and times of deliveries mean the same in every process. */
export const deliveryClock = ({ sharedNow }: Engines): SystemClock => new SystemClock(sharedNow);

const retentionLease = ({ leases }: Adapters): LeasePlace => ({
  leases,
  name: 'webhook-retention',
  holder: `${hostname()} ${process.pid} ${randomUUID()}`,
});

const guardOf = ({ environment, webhooks }: Configuration): DnsAddressGuard =>
  new DnsAddressGuard({
    allowPrivateNetwork: webhooks.allowPrivateNetwork,
    ...(environment === 'sandbox' && { hint: RECEIVER_ON_THIS_MACHINE }),
  });

const managementOf = (
  foundations: Foundations,
  adapters: Adapters,
  onQueued: (webhookIds: readonly string[]) => void,
): WebhookManagement => {
  const { configuration, engines, keys, clock } = foundations;
  return new WebhookManagement({
    subscriptions: new SqlWebhookSubscriptions(engines.serviceDatabase),
    queue: new SqlDeliveryQueue(engines.serviceDatabase),
    log: new SqlDeliveryLog(engines.serviceDatabase),
    published: publishedEvents(foundations, adapters),
    guard: guardOf(configuration),
    sealer: sealerOf(keys.masterKeys),
    random: new SystemRandom(),
    clock,
    realClock: deliveryClock(engines),
    apiVersion: API_VERSION,
    pingsOnCreation: configuration.environment === 'sandbox',
    onQueued,
  });
};

/** What requests manage, and what sends beside them. */
export const webhookArea = (foundations: Foundations, adapters: Adapters) => {
  const { configuration, engines, keys, logger, observability, onQueued } = foundations;
  const { webhooks } = configuration;
  const subscriptions = new SqlWebhookSubscriptions(engines.serviceDatabase);
  const queue = new SqlDeliveryQueue(engines.serviceDatabase);
  const guard = guardOf(configuration);
  const sealer = sealerOf(keys.masterKeys);
  const worker = new WebhookWorker({
    queue,
    subscriptions,
    bus: engines.eventBus,
    guard,
    sealer,
    clock: deliveryClock(engines),
    now: engines.sharedNow,
    ...(sharesStores(configuration) && { retentionLease: retentionLease(adapters) }),
    logger,
    schedule: webhooks.retrySchedule,
    timeoutMs: webhooks.timeout,
    extraRoots: webhooks.extraRoots,
    metrics: observability.webhooks,
    attempts: observability.attempts,
    ...(sharesStores(configuration) && {
      clockToleranceMs: CLOCKS_APART_MS,
      limits: { gatherMs: GATHER_MS },
    }),
  });
  const management = managementOf(foundations, adapters, onQueued ?? ((ids) => worker.wake(ids)));
  return { management, worker };
};

export type Webhooks = ReturnType<typeof webhookArea>;

/** What the command line does with webhooks. */
export const webhookRecovery = ({ engines }: Foundations): WebhookRecovery =>
  new WebhookRecovery({
    subscriptions: new SqlWebhookSubscriptions(engines.serviceDatabase),
    log: new SqlDeliveryLog(engines.serviceDatabase),
    queue: new SqlDeliveryQueue(engines.serviceDatabase),
    clock: deliveryClock(engines),
  });

/** What the console does with webhooks of any application; a running service finds by itself what is queued here. */
export const webhookPages = (foundations: Foundations, adapters: Adapters): WebhookPages => {
  const { engines, realClock } = foundations;
  const recovery = webhookRecovery(foundations);
  const management = managementOf(foundations, adapters, () => undefined);
  const inNameOf = (operator: string, { applicationId }: WebhookSubscription): RequestContext => ({
    requestId: randomUUID(),
    clientId: `console/${operator}`,
    applicationId,
    fundIds: [],
  });
  return {
    desk: new SqlWebhookDesk(engines.serviceDatabase),
    find: (webhookId) => recovery.find(webhookId),
    deliveries: (query) => recovery.page(query),
    event: async (webhookId, eventId, operator) =>
      management.event(inNameOf(operator, await recovery.find(webhookId)), eventId),
    resend: (webhookId, eventId) => recovery.resend(webhookId, eventId),
    ping: async (webhookId, operator) =>
      management.ping(inNameOf(operator, await recovery.find(webhookId)), webhookId),
    now: () => realClock.realNow(),
  };
};

/** Production has receivers of its own, with secrets of their own. @throws NotAllowedError */
export const forwarderTo = (url: string, { environment, webhooks }: Configuration): Forwarder => {
  if (environment === 'production')
    throw new NotAllowedError('events are forwarded by a sandbox only: in production register a webhook');
  const secret = new SystemRandom().secret();
  return new WebhookForwarder({ url, secret, timeoutMs: webhooks.timeout, now: () => Date.now() });
};

import type { Sealer } from '../../../application/ports/webhook-subscriptions.ts';
import { WebhookManagement } from '../../../application/webhooks/webhook-management.ts';
import { WebhookRecovery } from '../../../application/webhooks/webhook-recovery.ts';
import type { Forwarder } from '../../cli/cli-services.ts';
import { NotAllowedError } from '../../cli/command-line.ts';
import { API_VERSION } from '../../http/openapi/version.ts';
import type { MasterKeys } from '../../security/master-keys.ts';
import { SqlDeliveryLog } from '../../sql/webhooks/delivery-log.ts';
import { SqlDeliveryQueue } from '../../sql/webhooks/delivery-queue.ts';
import { SqlWebhookSubscriptions } from '../../sql/webhooks/subscriptions.ts';
import { DnsAddressGuard } from '../../webhooks/addresses/address-guard.ts';
import { WebhookForwarder } from '../../webhooks/sending/forwarder.ts';
import { SystemRandom } from '../../webhooks/sending/webhook-sender.ts';
import { WebhookWorker } from '../../webhooks/webhook-worker.ts';
import type { Configuration } from '../configuration.ts';
import { sharesStores } from '../engines.ts';
import type { Foundations } from '../foundations.ts';
import type { Adapters } from './adapters.ts';
import { publishedEvents } from './publishing.ts';

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

/** What requests manage, and what sends beside them. */
export const webhookArea = (foundations: Foundations, adapters: Adapters) => {
  const { configuration, engines, keys, clock, realClock, logger, observability, onQueued } = foundations;
  const { environment, webhooks } = configuration;
  const subscriptions = new SqlWebhookSubscriptions(engines.serviceDatabase);
  const queue = new SqlDeliveryQueue(engines.serviceDatabase);
  const guard = new DnsAddressGuard({
    allowPrivateNetwork: webhooks.allowPrivateNetwork,
    ...(environment === 'sandbox' && { hint: RECEIVER_ON_THIS_MACHINE }),
  });
  const sealer = sealerOf(keys.masterKeys);
  const worker = new WebhookWorker({
    queue,
    subscriptions,
    bus: engines.eventBus,
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
    log: new SqlDeliveryLog(engines.serviceDatabase),
    published: publishedEvents(foundations, adapters),
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
};

export type Webhooks = ReturnType<typeof webhookArea>;

/** What the command line does with webhooks. */
export const webhookRecovery = ({ engines, realClock }: Foundations): WebhookRecovery =>
  new WebhookRecovery({
    subscriptions: new SqlWebhookSubscriptions(engines.serviceDatabase),
    log: new SqlDeliveryLog(engines.serviceDatabase),
    queue: new SqlDeliveryQueue(engines.serviceDatabase),
    clock: realClock,
  });

/** Production has receivers of its own, with secrets of their own. @throws NotAllowedError */
export const forwarderTo = (url: string, { environment, webhooks }: Configuration): Forwarder => {
  if (environment === 'production')
    throw new NotAllowedError('events are forwarded by a sandbox only: in production register a webhook');
  const secret = new SystemRandom().secret();
  return new WebhookForwarder({ url, secret, timeoutMs: webhooks.timeout, now: () => Date.now() });
};

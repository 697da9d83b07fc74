import { ContainerModule } from 'inversify';
import { WebhookManagement } from '../../application/webhooks/webhook-management.ts';
import type { Sealer } from '../../application/ports/webhook-secrets.ts';
import { API_VERSION } from '../http/openapi/version.ts';
import type { MasterKeys } from '../security/master-keys.ts';
import { SqlDeliveryLog } from '../sql/webhooks/sql-delivery-log.ts';
import { SqlDeliveryQueue } from '../sql/webhooks/sql-delivery-queue.ts';
import { SqlWebhookSubscriptions } from '../sql/webhooks/sql-webhook-subscriptions.ts';
import { DnsAddressGuard } from '../webhooks/addresses/address-guard.ts';
import { SystemRandom } from '../webhooks/sending/signing-keys.ts';
import { WebhookWorker } from '../webhooks/webhook-worker.ts';
import { sharesStores } from './engines.ts';
import { TOKENS } from './tokens.ts';

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

export const webhookModule = new ContainerModule(({ bind }) => {
  bind(TOKENS.webhookSide).toResolvedValue(
    (configuration, db, bus, { masterKeys }, clock, logger, observability, onQueued) => {
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
        clock,
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
        guard,
        sealer,
        random: new SystemRandom(),
        clock,
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
      TOKENS.logger,
      TOKENS.observability,
      TOKENS.onQueued,
    ],
  );
});

import { ContainerModule } from 'inversify';
import { WebhookManagement } from '../../application/webhooks/webhook-management.ts';
import { API_VERSION } from '../http/openapi/version.ts';
import { Sealer } from '../security/sealer.ts';
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

export const webhookModule = new ContainerModule(({ bind }) => {
  bind(TOKENS.webhookSide).toResolvedValue(
    (configuration, db, bus, masterKey, clock, logger, observability) => {
      const { environment, webhooks } = configuration;
      const subscriptions = new SqlWebhookSubscriptions(db);
      const queue = new SqlDeliveryQueue(db);
      const sealer = new Sealer(masterKey.derive('webhook-secrets'));
      const guard = new DnsAddressGuard({ allowPrivateNetwork: webhooks.allowPrivateNetwork });
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
        onQueued: (webhookIds) => worker.wake(webhookIds),
      });
      return { management, worker };
    },
    [
      TOKENS.configuration,
      TOKENS.serviceDatabase,
      TOKENS.eventBus,
      TOKENS.masterKey,
      TOKENS.clock,
      TOKENS.logger,
      TOKENS.observability,
    ],
  );
});

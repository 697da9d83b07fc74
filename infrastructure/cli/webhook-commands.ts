import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { DELIVERY_STATES } from '../../application/ports/delivery-log.ts';
import type { DeliveryRecord, DeliveryState } from '../../application/ports/delivery-log.ts';
import type { WebhookSubscription } from '../../application/ports/webhook-subscriptions.ts';
import type { Recoverable, RecoveryQuery } from '../../application/webhooks/webhook-recovery.ts';
import { answerLines } from './cli-services.ts';
import type { CliDependencies, CliServices } from './cli-services.ts';

const EXAMPLE_ID = '0198c1de-7a00-7c1f-9b1e-2f6d3a4b5c6d';
const MOST_LISTED = 1_000_000;

interface DeliveriesOptions {
  readonly status?: DeliveryState;
  readonly since?: string;
  readonly limit: number;
}

interface RedeliverOptions {
  readonly since: string;
  readonly until?: string;
  readonly status: DeliveryState;
  readonly dryRun?: boolean;
}

/** `webhook list`, `webhook deliveries`, `webhook redeliver`. */
export const addWebhookCommands = (program: Command, dependencies: CliDependencies): void => {
  const webhook = program
    .command('webhook')
    .description('webhooks of any application: what became of their deliveries, and sending them again')
    .addHelpText('after', `\nExample:\n  receivables webhook deliveries ${EXAMPLE_ID} --status failed`);
  addList(webhook, dependencies);
  addDeliveries(webhook, dependencies);
  addRedeliver(webhook, dependencies);
};

const addList = (webhook: Command, dependencies: CliDependencies): void => {
  webhook
    .command('list')
    .description('webhooks of an application, without their secrets, oldest first')
    .requiredOption('--application <id>', 'whose webhooks')
    .addHelpText(
      'after',
      '\nPrints one webhook a line.\n\nExample:\n  receivables webhook list --application acme',
    )
    .action(({ application }: { readonly application: string }) =>
      answerLines(dependencies, async function* ({ webhooks }) {
        for (const one of await webhooks.list(application)) yield presentWebhook(one);
      }),
    );
};

const addDeliveries = (webhook: Command, dependencies: CliDependencies): void => {
  webhook
    .command('deliveries')
    .description('what became of the deliveries of a webhook, newest first')
    .argument('<webhook_id>', 'as printed by webhook list')
    .addOption(new Option('--status <status>', 'only these').choices(DELIVERY_STATES))
    .option('--since <time>', 'created at or after, such as 2026-01-15T12:00:00Z')
    .option('--limit <n>', 'at most so many', count, 100)
    .addHelpText(
      'after',
      '\nPrints one delivery with its attempts a line.\n\nExample:\n' +
        `  receivables webhook deliveries ${EXAMPLE_ID} --status failed --since 2026-01-15T12:00:00Z`,
    )
    .action((webhookId: string, options: DeliveriesOptions) =>
      answerLines(dependencies, async function* ({ webhooks }) {
        for await (const record of webhooks.deliveries(webhookId, options)) yield presentDelivery(record);
      }),
    );
};

const addRedeliver = (webhook: Command, dependencies: CliDependencies): void => {
  webhook
    .command('redeliver')
    .description('send the events of a time span once more, oldest first; a running service picks them up')
    .argument('<webhook_id>', 'as printed by webhook list; it must not be paused')
    .requiredOption('--since <time>', 'created at or after, such as 2026-01-15T12:00:00Z')
    .option('--until <time>', 'created before (default: now)')
    .addOption(
      new Option('--status <status>', 'only these').choices(DELIVERY_STATES).default('failed' as const),
    )
    .option('--dry-run', 'print what would be sent, send nothing')
    .addHelpText(
      'after',
      '\nPrints one delivery a line, then {queued, gone, dry_run}: gone counts events removed by retention.\n\n' +
        `Example:\n  receivables webhook redeliver ${EXAMPLE_ID} --since 2026-01-15T12:00:00Z --dry-run`,
    )
    .action((webhookId: string, { dryRun = false, ...span }: RedeliverOptions) =>
      answerLines(dependencies, (services) =>
        redelivering(services, { webhookId, ...span }, { dryRun, dependencies }),
      ),
    );
};

async function* redelivering(
  { webhooks }: CliServices,
  query: RecoveryQuery,
  { dryRun, dependencies }: { readonly dryRun: boolean; readonly dependencies: CliDependencies },
): AsyncGenerator<object> {
  const { webhook, deliveries } = await webhooks.plan(query);
  const progress = dependencies.startProgress(dryRun ? 0 : deliveries.length);
  let [queued, gone] = [0, 0];
  try {
    for (const delivery of deliveries) {
      const attempt = dryRun ? undefined : await webhooks.repeat(webhook, delivery);
      progress.advance();
      if (attempt === undefined && !dryRun) gone += 1;
      else yield presentRepeated(delivery, attempt);
      if (attempt !== undefined) queued += 1;
    }
  } finally {
    progress.end();
  }
  yield { queued, gone, dry_run: dryRun };
}

const count = (text: string): number => {
  const value = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= MOST_LISTED) return value;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MOST_LISTED}.`);
};

const presentWebhook = (one: WebhookSubscription): object => ({
  webhook_id: one.webhookId,
  application_id: one.applicationId,
  url: one.url,
  events: one.events,
  fund_ids: one.fundIds,
  description: one.description,
  status: one.status,
  created_at: one.createdAt,
  last_success_at: one.lastSuccessAt,
  last_failure_at: one.lastFailureAt,
  failing_since: one.failingSince,
});

const presentDelivery = (one: DeliveryRecord): object => ({
  delivery_id: one.deliveryId,
  event_id: one.eventId,
  event: one.event,
  originator_proposal_code: one.code,
  fund_id: one.fundId,
  status: one.status,
  attempts: one.attempts,
  created_at: one.createdAt,
  last_attempt_at: one.lastAttemptAt,
  next_attempt_at: one.nextAttemptAt,
  delivered_at: one.deliveredAt,
  last_response_status: one.lastResponseStatus,
  last_error: one.lastError,
  attempt_log: one.attemptLog.map(({ attempt, at, durationMs, responseStatus, error }) => ({
    attempt,
    at,
    duration_ms: durationMs,
    response_status: responseStatus,
    error,
  })),
});

const presentRepeated = (one: Recoverable, attempt: number | undefined): object => ({
  delivery_id: one.deliveryId,
  event_id: one.eventId,
  event: one.event,
  originator_proposal_code: one.code,
  created_at: one.createdAt,
  ...(attempt !== undefined && { attempt }),
});

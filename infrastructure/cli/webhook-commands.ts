import { Option } from 'commander';
import type { Command } from 'commander';
import { DELIVERY_STATES } from '../../application/ports/delivery-log.ts';
import type { DeliveryRecord, DeliveryState } from '../../application/ports/delivery-log.ts';
import type { WebhookSubscription } from '../../application/ports/webhook-subscriptions.ts';
import type { Recoverable, RecoveryQuery } from '../../application/webhooks/webhook-recovery.ts';
import type { CliServices } from './cli-services.ts';
import type { Column } from './columns.ts';
import { answerLines } from './command-line.ts';
import type { CliDependencies } from './command-line.ts';
import { countOption } from './report-options.ts';
import { listRows, withReportOptions } from './report-output.ts';
import type { ReportOptions } from './report-output.ts';
import { applicationOf } from './scope.ts';

const EXAMPLE_ID = '0198c1de-7a00-7c1f-9b1e-2f6d3a4b5c6d';

interface ListOptions extends ReportOptions {
  readonly application?: string;
}

interface DeliveriesOptions extends ReportOptions {
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
  const list = webhook
    .command('list')
    .description('webhooks without their secrets, of each application the oldest first')
    .option('--application <id|name>', 'only of this application (an id, or the name of one of its clients)');
  withReportOptions(list, dependencies)
    .addHelpText(
      'after',
      '\nExamples:\n  receivables webhook list\n  receivables webhook list --application "Acme Originator"',
    )
    .action((options: ListOptions) =>
      listRows(dependencies, options, WEBHOOK_COLUMNS, async function* (services) {
        const { application } = options;
        const applicationIds =
          application === undefined
            ? new Set((await services.listClients.execute()).map(({ applicationId }) => applicationId))
            : [await applicationOf(services, application)];
        for (const applicationId of applicationIds) yield* await services.webhooks.list(applicationId);
      }),
    );
};

const addDeliveries = (webhook: Command, dependencies: CliDependencies): void => {
  const deliveries = webhook
    .command('deliveries')
    .description('what became of the deliveries of a webhook, newest first')
    .argument('<webhook_id>', 'as printed by webhook list')
    .addOption(new Option('--status <status>', 'only these').choices(DELIVERY_STATES))
    .option('--since <time>', 'created at or after, such as 2026-01-15T12:00:00Z')
    .option('--limit <n>', 'at most so many', countOption, 100);
  withReportOptions(deliveries, dependencies)
    .addHelpText(
      'after',
      '\nJSON and CSV hold every attempt.\n\nExample:\n' +
        `  receivables webhook deliveries ${EXAMPLE_ID} --status failed --since 2026-01-15T12:00:00Z`,
    )
    .action((webhookId: string, options: DeliveriesOptions) =>
      listRows(dependencies, options, DELIVERY_COLUMNS, ({ webhooks }) =>
        webhooks.deliveries(webhookId, options),
      ),
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

const WEBHOOK_COLUMNS: readonly Column<WebhookSubscription>[] = [
  { name: 'webhook_id', of: (one) => one.webhookId },
  { name: 'application_id', of: (one) => one.applicationId },
  { name: 'url', of: (one) => one.url },
  { name: 'events', of: (one) => one.events, table: false },
  { name: 'fund_ids', of: (one) => one.fundIds, table: false },
  { name: 'description', of: (one) => one.description, table: false },
  { name: 'status', of: (one) => one.status },
  { name: 'created_at', of: (one) => one.createdAt, table: false },
  { name: 'last_success_at', of: (one) => one.lastSuccessAt },
  { name: 'last_failure_at', of: (one) => one.lastFailureAt },
  { name: 'failing_since', of: (one) => one.failingSince },
];

const DELIVERY_COLUMNS: readonly Column<DeliveryRecord>[] = [
  { name: 'delivery_id', of: (one) => one.deliveryId, table: false },
  { name: 'event_id', of: (one) => one.eventId },
  { name: 'event', of: (one) => one.event },
  { name: 'originator_proposal_code', of: (one) => one.code },
  { name: 'fund_id', of: (one) => one.fundId, table: false },
  { name: 'status', of: (one) => one.status },
  { name: 'attempts', of: (one) => one.attempts },
  { name: 'created_at', of: (one) => one.createdAt },
  { name: 'last_attempt_at', of: (one) => one.lastAttemptAt, table: false },
  { name: 'next_attempt_at', of: (one) => one.nextAttemptAt },
  { name: 'delivered_at', of: (one) => one.deliveredAt, table: false },
  { name: 'last_response_status', of: (one) => one.lastResponseStatus },
  { name: 'last_error', of: (one) => one.lastError },
  {
    name: 'attempt_log',
    of: (one) =>
      one.attemptLog.map(({ attempt, at, durationMs, responseStatus, error }) => ({
        attempt,
        at,
        duration_ms: durationMs,
        response_status: responseStatus,
        error,
      })),
    table: false,
  },
];

const presentRepeated = (one: Recoverable, attempt: number | undefined): object => ({
  delivery_id: one.deliveryId,
  event_id: one.eventId,
  event: one.event,
  originator_proposal_code: one.code,
  created_at: one.createdAt,
  ...(attempt !== undefined && { attempt }),
});

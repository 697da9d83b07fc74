import { Option } from 'commander';
import type { CliCommand } from './cli-command.ts';
import { DELIVERY_STATES } from '../../application/webhooks/delivery-states.ts';
import type { DeliveryState } from '../../application/webhooks/delivery-states.ts';
import { EVENT_NAMES } from '../../application/publication/catalogue.ts';
import type { EventName } from '../../application/publication/catalogue.ts';
import type { WebhookSubscription } from '../../application/webhooks/subscriptions.ts';
import type { Recoverable, WaitingDelivery } from '../../application/webhooks/deliveries.ts';
import type { App } from '../../application/app.ts';
import { asColumns } from '../presenting/columns.ts';
import { withNamesBeside } from '../presenting/fund-names.ts';
import { DifferencesFoundError } from './command-line.ts';
import { recordLines } from './desk-lines.ts';
import { collectOf, limitOption, ONLY_APPLICATION, scopeOf } from './options.ts';
import type { Scope } from './options.ts';
import type { DeliveryDifference } from '../../application/webhooks/delivery-comparison.ts';
import type { VerifyDeliveriesSummary } from '../../application/webhooks/verify-deliveries.ts';
import { inOneLine } from '../presenting/terminal-text.ts';

const USUALLY_LISTED = 100;
const EXAMPLE_ID = '0198c1de-7a00-7c1f-9b1e-2f6d3a4b5c6d';

interface DeliveriesOptions {
  readonly status?: DeliveryState;
  readonly since?: string;
  readonly name?: readonly EventName[];
  readonly code?: string;
  readonly eventId?: string;
}

interface RedeliverOptions {
  readonly since: string;
  readonly until?: string;
  readonly status: DeliveryState;
  readonly dryRun?: boolean;
}

export const addWebhookCommands = (program: CliCommand): void => {
  const webhook = program
    .command('webhook')
    .description('webhooks of any application: what became of their deliveries, and sending them again')
    .told('', `webhook deliveries ${EXAMPLE_ID} --status failed`);
  webhook
    .command('list')
    .description('webhooks without their secrets, of each application the oldest first')
    .option(...ONLY_APPLICATION)
    .told('', 'webhook list', 'webhook list --application "Acme Originator"')
    .listing(WEBHOOK_COLUMNS, async function* (services, given: Pick<Scope, 'application'>) {
      const { applicationId } = await scopeOf(services, given);
      const applicationIds =
        applicationId === undefined ? await services.clients.applications() : [applicationId];
      for (const one of applicationIds) yield* await services.webhooks.list([one]);
    });
  webhook
    .command('deliveries')
    .description('what became of the deliveries of a webhook, newest first')
    .argument('<webhook_id>', 'as printed by webhook list')
    .addOption(new Option('--status <status>', 'only these').choices(DELIVERY_STATES))
    .option('--since <time>', 'created at or after, such as 2026-01-15T12:00:00Z')
    .option('--name <event>', 'only of events of this name; repeat for more', collectOf(EVENT_NAMES))
    .option('--code <code>', 'only of the operation with this originator_proposal_code')
    .option('--event-id <uuid>', 'only of this event')
    .option('--limit <n>', 'at most so many (default: 100; all of them with --output or -o csv)', limitOption)
    .told(
      'JSON and CSV hold every attempt.',
      `webhook deliveries ${EXAMPLE_ID} --status failed --since 2026-01-15T12:00:00Z`,
    )
    .listing(deliveryColumns, deliveriesOf);
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
    .told(
      'Prints one delivery a line, then {queued, gone, dry_run}: gone counts events removed by retention. With --dry-run\n' +
        'the last line is {would_queue, dry_run}.',
      `webhook redeliver ${EXAMPLE_ID} --since 2026-01-15T12:00:00Z --dry-run`,
    )
    .answeringLines(redelivering);
  webhook
    .command('verify')
    .description(
      'compare the log with the deliveries of each webhook: every event once, in order, none missing',
    )
    .option(...ONLY_APPLICATION)
    .option('--since <time>', 'only events of this time or later, such as 2026-01-15T12:00:00Z')
    .option('--repair', 'send what is missing now, outside the order; a paused webhook gets nothing')
    .reporting()
    .told(
      'Of each webhook, events since its choice of events and funds was last changed, as far back as deliveries are kept.\n' +
        'Beside the running service: what is still on its way is no difference.\n' +
        'Exit code 4 when there are differences, also with --repair: give the command again to see what is left.',
      'webhook verify',
      'webhook verify --application "Acme Originator" --repair',
    )
    .serving(verifyDeliveries);
};

async function* deliveriesOf(
  { loans, webhooks }: App,
  webhookId: string,
  { name, ...options }: DeliveriesOptions,
  command: CliCommand,
): AsyncGenerator<WaitingDelivery> {
  if (options.code !== undefined) await loans.requireKnown(options.code);
  yield* command.limited(USUALLY_LISTED, (limit) =>
    webhooks.deliveries.search(webhookId, { ...options, ...(name && { events: name }), limit }),
  );
}

async function* redelivering(
  services: App,
  webhookId: string,
  { dryRun = false, ...span }: RedeliverOptions,
  { dependencies }: CliCommand,
): AsyncGenerator<object> {
  const { webhooks } = services;
  const { webhook, deliveries } = await webhooks.deliveries.plan({ webhookId, ...span });
  if (dryRun) {
    for (const delivery of deliveries) yield presentRepeated(delivery);
    yield { would_queue: deliveries.length, dry_run: true };
    return;
  }
  using progress = dependencies.startProgress(deliveries.length);
  let [queued, gone] = [0, 0];
  for (const delivery of deliveries) {
    const attempt = await webhooks.deliveries.repeat(webhook, delivery);
    progress.advance();
    if (attempt === undefined) gone += 1;
    else {
      queued += 1;
      yield presentRepeated(delivery, attempt);
    }
  }
  await recordLines(services, [{ action: 'configured', decision: 'send_webhook', count: queued }]);
  yield { queued, gone, dry_run: false };
}

const WEBHOOK_COLUMNS = asColumns<WebhookSubscription>([
  'webhook_id',
  'application_id',
  'url',
  { name: 'events', table: false },
  { name: 'fund_ids', table: false },
  { name: 'description', table: false },
  'status',
  { name: 'created_at', table: false },
  'last_success_at',
  'last_failure_at',
  'failing_since',
]);

const waitsFor = ({ waitsFor: waits }: WaitingDelivery): string | null => {
  if (waits === null) return null;
  return waits.kind === 'webhook_resumed'
    ? 'until the webhook is resumed'
    : `behind event ${waits.eventId} (${waits.event}), which is tried again at ${waits.triedAt}`;
};

const DELIVERY_COLUMNS = asColumns<WaitingDelivery>([
  { name: 'delivery_id', table: false },
  'event_id',
  'event',
  { name: 'originator_proposal_code', of: (one) => one.code },
  { name: 'fund_id', table: false },
  'status',
  'attempts',
  'created_at',
  { name: 'last_attempt_at', table: false },
  'next_attempt_at',
  { name: 'waits_for', of: waitsFor },
  { name: 'delivered_at', table: false },
  'last_response_status',
  'last_error',
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
]);

const deliveryColumns = async ({ funds }: App) => withNamesBeside(DELIVERY_COLUMNS, await funds.names());

const presentRepeated = (one: Recoverable, attempt?: number): object => ({
  delivery_id: one.deliveryId,
  event_id: one.eventId,
  event: one.event,
  originator_proposal_code: one.code,
  created_at: one.createdAt,
  ...(attempt !== undefined && { attempt }),
});

interface VerifyOptions {
  readonly application?: string;
  readonly since?: string;
  readonly repair?: boolean;
}

const DIFFERENCE_COLUMNS = asColumns<DeliveryDifference>([
  'kind',
  'webhook_id',
  'application_id',
  { name: 'originator_proposal_code', of: (one) => one.code },
  'event',
  'event_id',
  'sequence',
  'timestamp',
  'detail',
  'repaired',
]);

const inText = ({ kind, webhookId, code, event, eventId, detail, repaired }: DeliveryDifference): string =>
  `${inOneLine(`${kind}  ${webhookId}  ${code ?? ''} ${event ?? ''} ${eventId}: ${detail}${repaired ? '; it is being sent' : ''}`)}\n`;

const summaryText = ({
  webhooks,
  events,
  deliveries,
  differences,
  ...rest
}: VerifyDeliveriesSummary): string => {
  const held = rest.heldBack > 0 ? `, ${rest.heldBack} events are held back or cannot be read` : '';
  const found =
    differences === 0 ? 'no difference' : `${differences} difference(s), ${rest.repaired} being sent`;
  return `${webhooks} webhooks, ${events} events, ${deliveries} deliveries${held}: ${found}\n`;
};

const summaryJson = ({ heldBack, ...summary }: VerifyDeliveriesSummary): string =>
  `${JSON.stringify({ ...summary, held_back: heldBack })}\n`;

const WORDING = { columns: DIFFERENCE_COLUMNS, text: inText, summaryText, summaryJson };

const verifyDeliveries = async (
  services: App,
  { application, since, repair = false }: VerifyOptions,
  command: CliCommand,
): Promise<void> => {
  const request = {
    ...(await scopeOf(services, { application })),
    ...(since !== undefined && { since }),
    repair,
  };
  const summary = await command.deliverDifferences(services.webhooks.verify(request), WORDING);
  if (repair)
    await recordLines(services, [
      { action: 'configured', decision: 'send_webhook', count: summary.repaired },
    ]);
  if (summary.differences > 0) throw new DifferencesFoundError(`${summary.differences} difference(s) found`);
};

import type { CliCommand } from './cli-command.ts';
import type { DeliveryDifference } from '../../application/webhooks/delivery-comparison.ts';
import type { VerifyDeliveriesSummary } from '../../application/webhooks/verify-deliveries.ts';
import type { Column } from '../presenting/columns.ts';
import { DifferencesFoundError, withService } from './command-line.ts';
import type { CliDependencies } from './command-line.ts';
import { recordLines } from './desk-lines.ts';
import { deliverDifferences } from './difference-report.ts';
import type { ReportOptions } from './report-output.ts';
import { applicationOf } from './scope.ts';
import { inOneLine } from '../presenting/terminal-text.ts';

interface VerifyOptions extends ReportOptions {
  readonly application?: string;
  readonly since?: string;
  readonly repair?: boolean;
}

export const addVerify = (webhook: CliCommand, dependencies: CliDependencies): void => {
  webhook
    .command('verify')
    .description(
      'compare the log with the deliveries of each webhook: every event once, in order, none missing',
    )
    .option('--application <id|name>', 'only of this application (an id, or the name of one of its clients)')
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
    .action((options: VerifyOptions) => verifyDeliveries(options, dependencies));
};

const COLUMNS: readonly Column<DeliveryDifference>[] = [
  { name: 'kind', of: (one) => one.kind },
  { name: 'webhook_id', of: (one) => one.webhookId },
  { name: 'application_id', of: (one) => one.applicationId },
  { name: 'originator_proposal_code', of: (one) => one.code },
  { name: 'event', of: (one) => one.event },
  { name: 'event_id', of: (one) => one.eventId },
  { name: 'sequence', of: (one) => one.sequence },
  { name: 'timestamp', of: (one) => one.timestamp },
  { name: 'detail', of: (one) => one.detail },
  { name: 'repaired', of: (one) => one.repaired },
];

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

const WORDING = { columns: COLUMNS, text: inText, summaryText, summaryJson };

/** @throws DifferencesFoundError when there is a difference */
const verifyDeliveries = (options: VerifyOptions, dependencies: CliDependencies): Promise<void> =>
  withService(dependencies, async (services) => {
    const { application, since, repair = false } = options;
    const request = {
      ...(application !== undefined && { applicationId: await applicationOf(services, application) }),
      ...(since !== undefined && { since }),
      repair,
    };
    const found = services.webhooks.verify(request);
    const summary = await deliverDifferences(found, WORDING, options, dependencies);
    if (repair)
      await recordLines(services, [
        { action: 'configured', decision: 'send_webhook', ...(summary && { count: summary.repaired }) },
      ]);
    if (summary && summary.differences > 0)
      throw new DifferencesFoundError(`${summary.differences} difference(s) found`);
  });

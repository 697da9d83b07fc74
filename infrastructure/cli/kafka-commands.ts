import type { App } from '../../application/app.ts';
import type { ListedTopic } from '../../application/ports/event-bus.ts';
import type { LateEvent } from '../../application/webhooks/late-events.ts';
import { asColumns } from '../presenting/columns.ts';
import type { CliCommand } from './cli-command.ts';
import { NotAllowedError, WrongUseError } from './command-line.ts';
import { configuring } from './desk-lines.ts';
import { scopeOf } from './options.ts';

const TOPIC_COLUMNS = asColumns<ListedTopic>([
  'topic',
  'partitions',
  'spread_over',
  'waiting',
  'copies',
  'min_insync_replicas',
  'retention_ms',
  { name: 'problems', of: ({ problems }) => problems.map(({ problem }) => problem) },
  { name: 'mend', of: ({ problems }) => problems.map(({ command }) => command), table: false },
]);

export const addTopicCommands = (program: CliCommand): void => {
  const topics = program
    .command('topics')
    .description('the Kafka topics of events and decisions: copies, retention, partitions')
    .told('', 'topics list');
  topics
    .command('list')
    .description('each topic as it is, what it lacks, and (in JSON) the command that mends it')
    .told(
      'spread_over is the number of partitions that operations are spread over; waiting counts the messages in them that are not\n' +
        'handled yet.',
      'topics list -o json',
    )
    .listing(TOPIC_COLUMNS, async ({ publication }) => (await publication.topics()).list());
  topics
    .command('accept-partitions')
    .description('spread operations over all partitions of a topic that got more of them')
    .argument('<topic>', 'name of the topic, with its prefix')
    .told(
      'Until then nothing is published to the topic, and its new partitions are not read. Takes 15 seconds. Ends with 3 and changes\n' +
        'nothing while messages of before wait, or while something is published. Prints {topic, before, partitions}.',
      'topics accept-partitions receivables.events',
    )
    .answering(async (services, topic: string) => {
      const topics = await services.publication.topics();
      const accept = () => topics.acceptPartitions(topic);
      return { topic, ...(await configuring(services, { decision: 'accept_partitions' }, accept)) };
    });
};

const EXAMPLE_ID = '6b0f2d51-3c0e-5a53-9f0e-0d9d5f6a7b10';

interface Selection {
  readonly code?: string;
  readonly application?: string;
}

const LATE_COLUMNS = asColumns<LateEvent>([
  'event_id',
  { name: 'event', of: (one) => one.name },
  'application_id',
  { name: 'originator_proposal_code', of: (one) => one.code },
  'put_aside_at',
  { name: 'state', of: stateOf },
  'reason',
  { name: 'topic', table: false },
  { name: 'partition', table: false },
  { name: 'offset', table: false },
]);

function stateOf({ handled, event }: LateEvent): string {
  if (handled) return 'sent';
  return event ? 'waiting' : 'unknown';
}

export const addDeadLetterCommands = (program: CliCommand): void => {
  const noun = program
    .command('dead-letter')
    .description(
      'events that Kafka carried and no webhooks were made of, because they came too late or could not be read',
    )
    .told('', 'dead-letter list');
  noun
    .command('list')
    .description('each event that was put aside, with the reason and what became of it')
    .told(
      'state is waiting, sent, or unknown: the log holds no such event that this program can read.',
      'dead-letter list -o json',
    )
    .listing(LATE_COLUMNS, async ({ webhooks }) => (await webhooks.lateEvents()).list());
  noun
    .command('send')
    .description(
      'make the webhooks of an event, or of all events of an operation, that were put aside: out of order',
    )
    .argument('[event_id]', 'as printed by dead-letter list')
    .option('--code <code>', 'all events of the operation with this originator_proposal_code, oldest first')
    .option('--application <id|name>', 'whose operation; needed when several applications have the code')
    .told(
      'Subscribers get them after later events of the operation: `sequence` in the body tells. Prints one line for each event,\n' +
        '{event_id, outcome, webhook_ids}, with the outcome queued, already or unknown. An event is sent once, however often the\n' +
        'command is given. Nothing that was put aside fits: ends with 3.',
      `dead-letter send ${EXAMPLE_ID}`,
      'dead-letter send --code OP-2026-000123',
    )
    .refusing((eventId: string | undefined, { code }: Selection) =>
      (eventId === undefined) === (code === undefined) ? 'name either an event_id or --code' : undefined,
    )
    .answeringLines(sending);
};

type Sendable = LateEvent & { readonly eventId: string };
const isSendable = (late: LateEvent): late is Sendable => late.eventId !== undefined;

async function* sending(
  services: App,
  eventId: string | undefined,
  { code, application }: Selection,
  { dependencies }: CliCommand,
): AsyncGenerator<object> {
  const { applicationId: own } = await scopeOf(services, { application });
  const lateEvents = await services.webhooks.lateEvents();
  const chosen = chosenOf(await lateEvents.list(), eventId, code, own);
  if (chosen.some(({ handled, event }) => event && !handled))
    dependencies.writeError(
      'subscribers get these events out of order: after later ones of their operation\n',
    );
  for (const late of chosen) {
    const { applicationId, code } = late;
    const line = { decision: 'send_webhook', ...(applicationId && code && { applicationId, code }) };
    const { outcome, webhookIds } = await configuring(services, line, () => lateEvents.send(late));
    yield { event_id: late.eventId, outcome, webhook_ids: webhookIds };
  }
}

/** Oldest first. @throws NotAllowedError none @throws WrongUseError the operations of several applications have the code */
const chosenOf = (
  late: readonly LateEvent[],
  eventId: string | undefined,
  code: string | undefined,
  own: string | undefined,
): readonly Sendable[] => {
  const chosen = late
    .filter(isSendable)
    .filter((one) => (eventId === undefined ? one.code === code : one.eventId === eventId))
    .filter(({ applicationId }) => own === undefined || applicationId === own);
  if (chosen.length === 0)
    throw new NotAllowedError(`no event ${eventId === undefined ? `of ${code!}` : eventId} was put aside`);
  const applications = [...new Set(chosen.map(({ applicationId }) => applicationId))];
  if (applications.length > 1)
    throw new WrongUseError(
      `operations ${code!} of several applications have such events: name one of ${applications.join(', ')}`,
    );
  return chosen.toSorted((one, other) => (one.event?.sequence ?? 0) - (other.event?.sequence ?? 0));
};

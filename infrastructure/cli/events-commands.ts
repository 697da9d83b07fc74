import { InvalidArgumentError } from 'commander';
import type { App } from '../../application/app.ts';
import type { PublicEvent } from '../../application/ports/event-bus.ts';
import type { LogPosition } from '../../application/ports/event-store.ts';
import { LOAN_EVENT_NAMES } from '../../application/publication/catalogue.ts';
import type { LoanEventName } from '../../application/publication/catalogue.ts';
import type {
  EventStreamQuery,
  StreamBound,
  StreamedEvent,
} from '../../application/publication/event-stream.ts';
import { instantOf } from '../../application/schemas/values.ts';
import type { Forwarder } from '../../application/webhooks/webhooks.ts';
import { printedRows, asColumns, lineByLine } from '../presenting/columns.ts';
import type { Column } from '../presenting/columns.ts';
import { withNamesBeside } from '../presenting/fund-names.ts';
import type { CliCommand } from './cli-command.ts';
import { collectOf, FUND_OPTION, ONLY_APPLICATION, scopeOf } from './options.ts';
import type { Scope } from './options.ts';

interface EventsOptions extends Scope {
  readonly from?: EventStreamQuery['from'];
  readonly to?: StreamBound;
  readonly follow?: boolean;
  readonly code?: string;
  readonly name?: readonly LoanEventName[];
}

export const addEventsCommand = (program: CliCommand): void => {
  program
    .command('events')
    .description('the public events of all operations in the order of the log, as they go out')
    .option(
      '--from <position|event_id|time>',
      'after this position or event, or at this instant and later (default: the start)',
      (text) =>
        EVENT_ID.test(text)
          ? { kind: 'event', id: text.toLowerCase() }
          : boundOf(text, 'a printed position, an event_id'),
    )
    .option('--to <position|time>', 'up to this position, or before this instant', (text) =>
      boundOf(text, 'a printed position'),
    )
    .option('--follow', 'go on with what comes, until interrupted')
    .option(...ONLY_APPLICATION)
    .option(FUND_OPTION, 'only of this fund')
    .option('--code <code>', 'only of operations with this originator_proposal_code')
    .option('--name <event>', 'only events of this name; repeat for more', collectOf(LOAN_EVENT_NAMES))
    .reporting()
    .told(
      'JSON is what every subscriber gets, after the fields position and application_id. To go on where a run\n' +
        'ended, give the last position that was printed, or its event_id, which is refused where the event is gone with a\n' +
        'restored backup. A --code that no operation has ends with 3, but with --follow, where it may come yet.',
      'events --from 2026-01-15T12:00:00Z --follow',
    )
    .serving(print);
};

const print = async (services: App, options: EventsOptions, command: CliCommand): Promise<void> => {
  const signal = command.dependencies.untilInterrupted();
  const query = { ...queryOf(options), ...(await scopeOf(services, options)) };
  // One that is waited for may come yet.
  if (query.code !== undefined && !query.follow)
    await services.loans.requireKnown(query.code, query.applicationId);
  const columns = withNamesBeside(EVENT_COLUMNS, await services.funds.names());
  const streamed = services.publication.stream(query, signal);
  const events = query.follow ? streamed : toTheEnd(streamed, signal, command.dependencies);
  await command.deliver((printing) =>
    printing.format === 'json'
      ? mapped(events, (streamed) => `${lineOf(streamed)}\n`)
      : printedRows(columns, events, { ...printing, follow: query.follow }),
  );
};

/** Half of what was asked for is not passed off as all of it. */
async function* toTheEnd<Item>(
  items: AsyncIterable<Item>,
  signal: AbortSignal,
  dependencies: CliCommand['dependencies'],
): AsyncGenerator<Item> {
  yield* items;
  if (!signal.aborted) return;
  // Where it was the reader that left, this says so.
  await dependencies.write('');
  throw new Error('interrupted before all events were read: give the command again');
}

async function* mapped<From, To>(items: AsyncIterable<From>, to: (item: From) => To): AsyncGenerator<To> {
  for await (const item of items) yield to(item);
}

const EVENT_COLUMNS: readonly Column<StreamedEvent>[] = [
  { name: 'position', of: ({ position }) => position },
  { name: 'application_id', of: ({ event }) => event.applicationId },
  { name: 'created_at', of: ({ event }) => event.timestamp },
  { name: 'event', of: ({ event }) => event.name },
  { name: 'originator_proposal_code', of: ({ event }) => event.code },
  { name: 'fund_id', of: ({ event }) => event.fundId, table: false },
  { name: 'event_id', of: ({ event }) => event.eventId, table: false },
  { name: 'body', of: ({ event }) => event.body, table: false },
];

const queryOf = ({ from, to, follow = false, code, name }: EventsOptions) => ({
  follow,
  ...(from && { from }),
  ...(to && { to }),
  ...(code !== undefined && { code }),
  ...(name && { names: name }),
});

/** The body's own bytes, so that amounts keep their two decimals; two fields stand before its own. */
const lineOf = ({ position, event }: StreamedEvent): string => {
  const added = JSON.stringify({ position, application_id: event.applicationId });
  return `${added.slice(0, -1)},${event.body.slice(1)}`;
};

const EVENT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What does not begin like a calendar date is a position: only the store knows what those look like, but that they begin with a digit. */
const boundOf = (text: string, forms: string): StreamBound => {
  const refused = new InvalidArgumentError(`It must be ${forms} or an instant such as 2026-01-15T12:00:00Z.`);
  if (!/^\d/.test(text)) throw refused;
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return { kind: 'position', position: text as LogPosition };
  try {
    return { kind: 'instant', instant: instantOf('time', text) };
  } catch {
    throw refused;
  }
};

interface ListenOptions {
  readonly forwardTo: string;
  readonly events?: readonly LoanEventName[];
  readonly application?: string;
}

interface Sent {
  readonly event: PublicEvent;
  readonly attempt: number;
  readonly outcome: string;
}

const RESEND = 'r';

const SENT_COLUMNS = asColumns<Sent>([
  { name: 'timestamp', of: ({ event }) => event.timestamp },
  { name: 'event', of: ({ event }) => event.name },
  { name: 'originator_proposal_code', of: ({ event }) => event.code },
  { name: 'event_id', of: ({ event }) => event.eventId },
  { name: 'attempt', align: 'left' },
  'outcome',
]);

export const addListenCommand = (program: CliCommand): void => {
  program
    .command('listen')
    .description('post the events of a sandbox to a receiver on your machine, signed, as they happen')
    .requiredOption('--forward-to <url>', 'where the receiver listens; plain http will do', addressOption)
    .option('--events <names>', 'only these, with commas between them (default: all)', eventsOption)
    .option(
      '--application <id|name>',
      'only of this application: an id, or the name of one of its clients (default: of all)',
    )
    .reporting()
    .told(
      'Prints the secret that signs, then each event with the answer of the receiver. Signatures are those of webhooks. Nothing is\n' +
        'tried again by itself: r sends the last event once more. Ends when it is interrupted. In production exit code 3.',
      'listen --forward-to http://localhost:4000/hook --events loan_received,disbursement_completed',
    )
    .serving(follow);
};

const follow = async (services: App, options: ListenOptions, command: CliCommand): Promise<void> => {
  const forwarder = services.webhooks.forwarder(options.forwardTo);
  const { applicationId } = await scopeOf(services, options);
  const signal = command.dependencies.untilInterrupted();
  const { printing } = command;
  const line = lineByLine(SENT_COLUMNS, printing);
  await command.print(firstLine(forwarder, options, printing.format));
  let last: { event: PublicEvent; attempt: number } | undefined;
  const send = async (event: PublicEvent, attempt: number): Promise<void> => {
    last = { event, attempt };
    await command.print(line({ event, attempt, outcome: await forwarder.send(event, attempt, signal) }));
  };
  const queue = new OneAfterAnother();
  command.dependencies.onKey((key) => {
    if (key === RESEND && last) void queue.add(() => send(last!.event, last!.attempt + 1));
  }, signal);
  const query = {
    follow: true,
    from: { kind: 'instant', instant: services.loans.now() } as const,
    ...(applicationId !== undefined && { applicationId }),
    ...(options.events && { names: options.events }),
  };
  for await (const { event } of services.publication.stream(query, signal))
    await queue.add(() => send(event, 1));
  await queue.idle;
};

/** An event and one that is sent again never overtake each other. */
class OneAfterAnother {
  #last: Promise<unknown> = Promise.resolve();

  add(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  get idle(): Promise<unknown> {
    return this.#last;
  }
}

const firstLine = ({ secret }: Forwarder, { forwardTo }: ListenOptions, format: string): string =>
  format === 'table'
    ? `Events go to ${forwardTo}, signed with ${secret}\nr sends the last one again; Ctrl-C ends.\n\n`
    : format === 'json'
      ? `${JSON.stringify({ forward_to: forwardTo, signing_secret: secret })}\n`
      : `# signed with ${secret}\n`;

const addressOption = (text: string): string => {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url.href;
  throw new InvalidArgumentError('It must be an http or https address, such as http://localhost:4000/hook.');
};

const eventsOption = (text: string): readonly LoanEventName[] =>
  text.split(',').map((given) => {
    const name = LOAN_EVENT_NAMES.find((one) => one === given.trim());
    if (name === undefined) throw new InvalidArgumentError(`They must be of ${LOAN_EVENT_NAMES.join(', ')}.`);
    return name;
  });

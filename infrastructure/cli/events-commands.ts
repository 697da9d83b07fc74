import { InvalidArgumentError } from 'commander';
import type { CliCommand } from './cli-command.ts';
import type { App } from '../../application/app.ts';
import type { LogPosition } from '../../application/ports/event-store.ts';
import { LOAN_EVENT_NAMES } from '../../application/publication/catalogue.ts';
import type { LoanEventName } from '../../application/publication/catalogue.ts';
import type {
  EventStreamQuery,
  StreamBound,
  StreamedEvent,
} from '../../application/publication/event-stream.ts';
import { instantOf } from '../../application/schemas/values.ts';
import { printedRows } from '../presenting/columns.ts';
import type { Column } from '../presenting/columns.ts';
import { withNamesBeside } from '../presenting/fund-names.ts';
import { collectOf } from './options.ts';
import { FUND_OPTION, ONLY_APPLICATION, scopeOf } from './scope.ts';
import type { Scope } from './scope.ts';

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

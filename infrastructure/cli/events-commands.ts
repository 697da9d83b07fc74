import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import type { LogPosition } from '../../application/ports/event-store.ts';
import { LOAN_EVENT_NAMES } from '../../application/publishing/event-names.ts';
import type { LoanEventName } from '../../application/publishing/event-names.ts';
import type { StreamBound, StreamedEvent } from '../../application/publishing/event-stream.ts';
import { instantOf } from '../../application/schemas/instant.ts';
import { answerLines } from './cli-services.ts';
import type { CliDependencies } from './cli-services.ts';
import { fundOption } from './report-options.ts';

interface EventsOptions {
  readonly from?: StreamBound;
  readonly to?: StreamBound;
  readonly follow?: boolean;
  readonly application?: string;
  readonly fund?: string;
  readonly code?: string;
  readonly name?: readonly LoanEventName[];
}

/** `events`. */
export const addEventsCommand = (program: Command, dependencies: CliDependencies): void => {
  program
    .command('events')
    .description('the public events of all operations in the order of the log, as they go out')
    .option(
      '--from <position|time>',
      'after this position, or at this instant and later (default: the start)',
      bound,
    )
    .option('--to <position|time>', 'up to this position, or before this instant', bound)
    .option('--follow', 'go on with what comes, until interrupted')
    .option('--application <id>', 'only of this application')
    .option('--fund <uuid>', 'only of this fund', fundOption)
    .option('--code <code>', 'only of operations with this originator_proposal_code')
    .option('--name <event>', 'only events of this name; repeat for more', collectName)
    .addHelpText(
      'after',
      '\nPrints one event a line: what every subscriber gets, after the fields position and application_id. To go on where a run\n' +
        'ended, give the last position that was printed.\n\nExample:\n  receivables events --from 2026-01-15T12:00:00Z --follow',
    )
    .action((options: EventsOptions) =>
      answerLines(dependencies, async function* ({ events }) {
        const signal = dependencies.untilInterrupted?.() ?? new AbortController().signal;
        for await (const streamed of events.read(queryOf(options), signal)) yield lineOf(streamed);
      }),
    );
};

const queryOf = ({ from, to, follow = false, application, fund, code, name }: EventsOptions) => ({
  follow,
  ...(from && { from }),
  ...(to && { to }),
  ...(application !== undefined && { applicationId: application }),
  ...(fund !== undefined && { fundId: fund }),
  ...(code !== undefined && { code }),
  ...(name && { names: name }),
});

/** The body's own bytes, so that amounts keep their two decimals; two fields stand before its own. */
const lineOf = ({ position, event }: StreamedEvent): string => {
  const added = JSON.stringify({ position, application_id: event.applicationId });
  return `${added.slice(0, -1)},${event.body.slice(1)}`;
};

/** What does not begin like a calendar date is a position: only the store knows what those look like. */
const bound = (text: string): StreamBound => {
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return { kind: 'position', position: text as LogPosition };
  try {
    return { kind: 'instant', instant: instantOf('time', text) };
  } catch {
    throw new InvalidArgumentError(
      'It must be a printed position or an instant such as 2026-01-15T12:00:00Z.',
    );
  }
};

const collectName = (text: string, previous: readonly LoanEventName[] = []): readonly LoanEventName[] => {
  const name = LOAN_EVENT_NAMES.find((candidate) => candidate === text);
  if (name) return [...previous, name];
  throw new InvalidArgumentError(`It must be one of ${LOAN_EVENT_NAMES.join(', ')}.`);
};

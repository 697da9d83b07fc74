import { InvalidArgumentError } from 'commander';
import type { CliCommand } from './cli-command.ts';
import type { App } from '../../application/app.ts';
import type { PublicEvent } from '../../application/ports/event-bus.ts';
import { LOAN_EVENT_NAMES } from '../../application/publication/catalogue.ts';
import type { LoanEventName } from '../../application/publication/catalogue.ts';
import type { Forwarder } from '../../application/webhooks/webhooks.ts';
import { asColumns, lineByLine } from '../presenting/columns.ts';
import { scopeOf } from './scope.ts';

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

const COLUMNS = asColumns<Sent>([
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
  const line = lineByLine(COLUMNS, printing);
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

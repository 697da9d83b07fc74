import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { CliCommand } from './cli-command.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { printShown } from '../presenting/shown-operation.ts';
import { DifferencesFoundError } from './command-line.ts';
import { fileToRead, fileToWrite, requireApart, writeWhole } from './files.ts';
import {
  dateOption,
  instantOption,
  FUND_OPTION,
  WHOSE_OPERATION,
  applicationWith,
  scopeOf,
} from './options.ts';
import { anchorLines, readAnchor } from '../../application/audit/anchor.ts';
import type { Difference } from '../../application/audit/difference.ts';
import type { AuditNotes } from '../../application/audit/audit-notes.ts';
import type { VerifyRequest, VerifySummary } from '../../application/audit/verify-log.ts';
import type { App } from '../../application/app.ts';
import { asColumns } from '../presenting/columns.ts';
import { inOneLine } from '../presenting/terminal-text.ts';

const PRIVATE_OUTPUT = [
  '--output <file>',
  'write it to this file, readable by its owner only, instead of standard output',
  fileToWrite('--output'),
] as const;

interface ShowOptions {
  readonly application?: string;
  readonly asOf?: CalendarDate;
  readonly knownAt?: string;
}

export const addAuditCommands = (program: CliCommand): void => {
  const audit = program
    .command('audit')
    .description('history of operations, and proof that it was not changed')
    .told('', 'audit verify');
  audit
    .command('show')
    .description('an operation with all that happened to it, who caused it and how each price came about')
    .argument('<code>', 'originator_proposal_code')
    .option(...WHOSE_OPERATION)
    .option('--as-of <date>', 'as it was on this day, such as 2026-06-30', dateOption)
    .option(
      '--known-at <time>',
      'as it was known at this instant: leaves out what was recorded later',
      instantOption,
    )
    .reporting()
    .told(
      'All events are listed; those that do not count on that day, or were not known, say so. Nothing of the borrower is shown.\n' +
        'CSV holds one event a line.',
      'audit show OP-1',
      'audit show OP-1 --as-of 2026-06-30 --known-at 2026-07-01T12:00:00Z -o json',
    )
    .serving(show);
  audit
    .command('verify')
    .description('check the whole log and everything that was made of it')
    .option(FUND_OPTION, 'only operations of this fund')
    .option('--anchor <file>', 'compare with what this file kept', fileToRead('--anchor'))
    .option(
      '--write-anchor <file>',
      'keep the end of the seal book and the heads of all streams in this file when there is no difference',
      fileToWrite('--write-anchor'),
    )
    .option('--documents', 'read every stored file as well: takes as long as reading them does')
    .option(
      '--resume <file>',
      'keep in this file how far the audit has come; given again after a stop, it goes on from there',
      fileToWrite('--resume'),
    )
    .reporting()
    .told(
      'Seals, hash chains, revisions, every decision and price, keys, public events, read models and the delivery log. Each\n' +
        'difference is a line: kind, stream, revision, what, expected, found; the last line sums up (CSV: on standard error). Exit code 4 when there is one. Works while the service runs.\n' +
        'Keep anchors where nobody who can write the database can write: with one, a log that was put back to an earlier state is found.',
      'audit verify',
      'audit verify --anchor heads-june.jsonl --write-anchor heads-july.jsonl',
      'audit verify --resume /var/tmp/audit-2026-07.db',
    )
    .refusing((options: VerifyOptions) => {
      const written = { '--output': options.output, '--resume': options.resume };
      requireApart({ ...written, '--write-anchor': options.writeAnchor });
      // An anchor may be replaced by the next one.
      requireApart({ ...written, '--anchor': options.anchor });
      return undefined;
    })
    .serving(verify);
  audit
    .command('anchor')
    .description('seal the log up to now and print, signed, where it ends: for a timer, to be kept elsewhere')
    .option(...PRIVATE_OUTPUT)
    .told(
      'Hand it to `audit verify --anchor`: a log, or a whole directory, that was put back to an earlier state is found.',
      'audit anchor',
      'audit anchor --output /mnt/elsewhere/anchor-2026-07-01.jsonl',
    )
    .serving(anchor);
  audit
    .command('export')
    .description('every event as it is stored, for an auditor who verifies it with a program of their own')
    .option(...PRIVATE_OUTPUT)
    .told(
      'A line of JSON for each event, with all that its hash covers; docs/audit.md has the format and a program that verifies it together\n' +
        'with an anchor of `audit verify --write-anchor`, which is to be taken before. Borrowers stay sealed. Works while the service runs.',
      'audit export --output export-2026-07-01.jsonl',
    )
    .serving(({ audit: log }, given: { readonly output?: string }, command: CliCommand) =>
      writeLines(log.export(), given, command),
    );
};

const show = async (
  services: App,
  code: string,
  { application, asOf, knownAt }: ShowOptions,
  command: CliCommand,
): Promise<void> => {
  const applicationId = await applicationWith(services, code, application);
  const request = { applicationId, code, asOf, knownAt };
  const shown = await services.audit.show(request);
  const names = await services.funds.names();
  await command.deliver((printing) => printShown(shown, request, { ...printing, names }));
};

interface VerifyOptions {
  readonly fund?: string;
  readonly output?: string;
  readonly anchor?: string;
  readonly writeAnchor?: string;
  readonly resume?: string;
  readonly documents?: boolean;
}

const DIFFERENCE_COLUMNS = asColumns<Difference>(['kind', 'stream', 'revision', 'what', 'expected', 'found']);

const inText = ({ kind, stream, revision, what, expected, found }: Difference): string => {
  const place = `${stream === '' ? 'log' : stream}${revision === null ? '' : ` @${revision}`}`;
  return `${inOneLine(`${kind}  ${place}  ${what}: expected ${expected}, found ${found}`)}\n`;
};

const sealText = ({ sealed, found, since, unsealed }: VerifySummary['seals']): string => {
  if (since === null) return `nothing is sealed (${unsealed} events)`;
  const asFound = found > 0 ? `, ${found} of them as they were found on ${since}` : '';
  return `${sealed} events sealed${asFound}, ${unsealed} not yet`;
};

const summaryText = (summary: VerifySummary): string =>
  `${summary.events} events in ${summary.streams} streams, ${summary.publicEvents} public events (${summary.frozenEvents} of them in ` +
  `the delivery log)${summary.documents > 0 ? `, ${summary.documents} documents` : ''}; ${sealText(summary.seals)}: ${summary.differences === 0 ? 'no difference' : `${summary.differences} difference(s)`}\n`;

const inJson = ({
  events,
  streams,
  publicEvents,
  frozenEvents,
  documents,
  ...rest
}: VerifySummary): string => {
  const { seals, differences } = rest;
  const read = documents > 0 && { documents };
  const counts = { events, streams, public_events: publicEvents, frozen_events: frozenEvents, ...read };
  return `${JSON.stringify({ ...counts, seals, differences })}\n`;
};

const WORDING = { columns: DIFFERENCE_COLUMNS, text: inText, summaryText, summaryJson: inJson };

const linesOf = (file: string): AsyncIterable<string> =>
  createInterface({ input: createReadStream(file), crlfDelay: Infinity });

const OWNER_ONLY = 0o600;

const writeLines = async (
  lines: Iterable<string> | AsyncIterable<string>,
  { output }: { readonly output?: string },
  { dependencies }: CliCommand,
): Promise<void> => {
  if (output === undefined) for await (const line of lines) await dependencies.write(line);
  else await writeWhole(output, lines, OWNER_ONLY);
};

/** `audit anchor`: the end of the seal book, which stands for everything before it. */
const anchor = async (
  { audit }: App,
  given: { readonly output?: string },
  command: CliCommand,
): Promise<void> => {
  const { takenAt, seal, lines } = await audit.anchor();
  await writeLines(lines, given, command);
  if (given.output === undefined) return;
  const told = { anchor: given.output, taken_at: takenAt, seal: seal.number };
  await command.dependencies.write(`${JSON.stringify(told)}\n`);
};

/** `audit verify`. @throws DifferencesFoundError when there is a difference */
const verify = async (services: App, options: VerifyOptions, command: CliCommand): Promise<void> => {
  const { fund, resume } = options;
  const { fundId } = await scopeOf(services, { fund });
  const notes = services.audit.openNotes(resume);
  const audited = verifyWith(notes, services, { ...options, fundId }, command);
  const { differences } = await audited.finally(() => notes.close());
  // Done: given again, the name begins a new audit.
  if (resume !== undefined) await removeNotes(resume);
  if (differences > 0) throw new DifferencesFoundError(`${differences} difference(s) found`);
};

const removeNotes = async (file: string): Promise<void> => {
  for (const end of ['', '-wal', '-shm']) await rm(`${file}${end}`, { force: true });
};

const verifyWith = async (
  notes: AuditNotes,
  services: App,
  {
    fundId,
    anchor: anchorFile,
    writeAnchor,
    documents = false,
  }: VerifyOptions & { readonly fundId: string | undefined },
  command: CliCommand,
): Promise<VerifySummary> => {
  const { signer } = services.audit;
  notes.forgetHeads();
  const earlier =
    anchorFile === undefined
      ? undefined
      : await readAnchor(linesOf(anchorFile), signer, (head) => notes.noteHead(head));
  if (earlier?.signed === false)
    command.dependencies.writeError('this anchor is of an earlier version and not signed: take a new one\n');
  const takenAt = services.audit.now();
  const request = {
    notes,
    documents,
    ...(fundId !== undefined && { fundId }),
    ...(earlier && { anchor: earlier }),
  };
  const found = verifying(services, request, command);
  const summary = await command.deliverDifferences(found, WORDING);
  if (summary.differences === 0 && writeAnchor !== undefined) {
    const contents = { takenAt, seal: summary.seal, heads: summary.heads() };
    await writeWhole(writeAnchor, anchorLines(contents, signer), OWNER_ONLY);
  }
  return summary;
};

async function* verifying(
  { audit }: App,
  request: Omit<VerifyRequest, 'progress'>,
  { dependencies }: CliCommand,
): AsyncGenerator<Difference, VerifySummary> {
  using bar = dependencies.startProgress(await audit.expectedEvents());
  return yield* audit.verify({ ...request, progress: (events) => bar.advance(events) });
}

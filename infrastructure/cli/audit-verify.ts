import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { anchorLines, readAnchor } from '../../application/audit/anchor.ts';
import type { Difference } from '../../application/audit/difference.ts';
import type { AuditNotes } from '../../application/audit/audit-notes.ts';
import type { VerifyRequest, VerifySummary } from '../../application/audit/verify-log.ts';
import type { App } from '../../application/app.ts';
import type { Column } from '../presenting/columns.ts';
import { DifferencesFoundError, withService } from './command-line.ts';
import type { CliDependencies } from './command-line.ts';
import { deliverDifferences } from './difference-report.ts';
import { writeWhole } from './report-output.ts';
import type { ReportOptions } from './report-output.ts';
import { fundOf } from './scope.ts';
import { inOneLine } from '../presenting/terminal-text.ts';

export interface VerifyOptions extends ReportOptions {
  readonly fund?: string;
  readonly anchor?: string;
  readonly writeAnchor?: string;
  readonly resume?: string;
  readonly documents?: boolean;
}

const COLUMNS: readonly Column<Difference>[] = (
  ['kind', 'stream', 'revision', 'what', 'expected', 'found'] as const
).map((name) => ({ name, of: (difference) => difference[name] }));

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

const WORDING = { columns: COLUMNS, text: inText, summaryText, summaryJson: inJson };

const linesOf = (file: string): AsyncIterable<string> =>
  createInterface({ input: createReadStream(file), crlfDelay: Infinity });

/** Of an anchor. */
const OWNER_ONLY = 0o600;

/** `audit anchor`: the end of the seal book, which stands for everything before it. */
export const anchor = (output: string | undefined, dependencies: CliDependencies): Promise<void> =>
  withService(dependencies, async (services) => {
    const { takenAt, seal, lines } = await services.audit.anchor();
    if (output === undefined) for await (const line of lines) await dependencies.write(line);
    else {
      await writeWhole(output, lines, OWNER_ONLY);
      await dependencies.write(
        `${JSON.stringify({ anchor: output, taken_at: takenAt, seal: seal.number })}\n`,
      );
    }
  });

/** `audit verify`. @throws DifferencesFoundError when there is a difference */
export const verify = (options: VerifyOptions, dependencies: CliDependencies): Promise<void> =>
  withService(dependencies, async (services) => {
    const { fund, resume } = options;
    const fundId = fund === undefined ? undefined : await fundOf(services, fund);
    const notes = services.audit.openNotes(resume);
    try {
      const summary = await verifyWith(notes, { ...options, fundId }, { services, dependencies });
      if (summary === undefined) return;
      notes.close();
      // Done: given again, the name begins a new audit.
      if (resume !== undefined) await removeNotes(resume);
      if (summary.differences > 0)
        throw new DifferencesFoundError(`${summary.differences} difference(s) found`);
    } finally {
      notes.close();
    }
  });

const removeNotes = async (file: string): Promise<void> => {
  for (const end of ['', '-wal', '-shm']) await rm(`${file}${end}`, { force: true });
};

/** Undefined when the report was not read to its end. */
const verifyWith = async (
  notes: AuditNotes,
  options: VerifyOptions & { readonly fundId: string | undefined },
  { services, dependencies }: { readonly services: App; readonly dependencies: CliDependencies },
): Promise<VerifySummary | undefined> => {
  const { fundId, anchor: anchorFile, writeAnchor, documents = false } = options;
  const { signer } = services.audit;
  notes.forgetHeads();
  const earlier =
    anchorFile === undefined
      ? undefined
      : await readAnchor(linesOf(anchorFile), signer, (head) => notes.noteHead(head));
  if (earlier?.signed === false)
    dependencies.writeError('this anchor is of an earlier version and not signed: take a new one\n');
  const takenAt = services.audit.now();
  const request = {
    notes,
    documents,
    ...(fundId !== undefined && { fundId }),
    ...(earlier && { anchor: earlier }),
  };
  const found = verifying(services, request, dependencies);
  const summary = await deliverDifferences(found, WORDING, options, dependencies);
  if (summary?.differences === 0 && writeAnchor !== undefined) {
    const contents = { takenAt, seal: summary.seal, heads: summary.heads() };
    await writeWhole(writeAnchor, anchorLines(contents, signer), OWNER_ONLY);
  }
  return summary;
};

/** Tells meanwhile how far it is. */
async function* verifying(
  { audit }: App,
  request: Omit<VerifyRequest, 'progress'>,
  dependencies: CliDependencies,
): AsyncGenerator<Difference, VerifySummary> {
  const { verification } = audit;
  const bar = dependencies.startProgress(await verification.expectedEvents());
  try {
    return yield* verification.execute({ ...request, progress: (events) => bar.advance(events) });
  } finally {
    bar.end();
  }
}

import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { anchorLines, readAnchor } from '../../application/audit/anchor.ts';
import type { Head } from '../../application/audit/anchor.ts';
import type { Difference } from '../../application/audit/difference.ts';
import type { VerifySummary } from '../../application/audit/verify-log.ts';
import { CommandFailedError } from './cli-services.ts';
import type { CliDependencies } from './cli-services.ts';

export interface VerifyOptions {
  readonly fund?: string;
  readonly anchor?: string;
  readonly writeAnchor?: string;
  readonly format: 'text' | 'json';
}

const inText = ({ kind, stream, revision, what, expected, found }: Difference): string => {
  const place = `${stream === '' ? 'log' : stream}${revision === null ? '' : ` @${revision}`}`;
  return `${kind}  ${place}  ${what}: expected ${expected}, found ${found}\n`;
};

const summaryText = (summary: VerifySummary): string =>
  `${summary.events} events in ${summary.streams} streams, ${summary.publicEvents} public events (${summary.frozenEvents} of them in ` +
  `the delivery log): ${summary.differences === 0 ? 'no difference' : `${summary.differences} difference(s)`}\n`;

const inJson = ({ events, streams, publicEvents, frozenEvents, differences }: VerifySummary): string =>
  `${JSON.stringify({ events, streams, public_events: publicEvents, frozen_events: frozenEvents, differences })}\n`;

const readHeads = (file: string): Promise<ReadonlyMap<string, Head>> =>
  readAnchor(createInterface({ input: createReadStream(file), crlfDelay: Infinity }));

/** There as a whole or not at all; an anchor that is there already stays. */
const writeHeads = async (file: string, lines: Iterable<string>): Promise<void> => {
  const unfinished = `${file}.unfinished`;
  const handle = await open(unfinished, 'w');
  try {
    for (const line of lines) await handle.write(line);
    await handle.sync();
    await handle.close();
    await rename(unfinished, file);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(unfinished, { force: true });
    throw error;
  }
};

/** `audit verify`. @throws CommandFailedError when there is a difference */
export const verify = async (options: VerifyOptions, dependencies: CliDependencies): Promise<void> => {
  const { fund: fundId, anchor: anchorFile, writeAnchor, format } = options;
  const anchor = anchorFile === undefined ? undefined : await readHeads(anchorFile);
  const services = await dependencies.open();
  try {
    const { verification } = services.audit;
    const takenAt = services.audit.now();
    const bar = dependencies.startProgress(await verification.expectedEvents());
    const differences = verification.execute({
      ...(fundId !== undefined && { fundId }),
      ...(anchor && { anchor }),
      progress: (events) => bar.advance(events),
    });
    let summary: VerifySummary;
    try {
      for (;;) {
        const next = await differences.next();
        if (next.done) {
          summary = next.value;
          break;
        }
        await dependencies.write(format === 'json' ? `${JSON.stringify(next.value)}\n` : inText(next.value));
      }
    } finally {
      bar.end();
    }
    await dependencies.write(format === 'json' ? inJson(summary) : summaryText(summary));
    if (summary.differences > 0) throw new CommandFailedError(`${summary.differences} difference(s) found`);
    if (writeAnchor !== undefined) await writeHeads(writeAnchor, anchorLines(takenAt, summary.heads()));
  } finally {
    await services.close();
  }
};

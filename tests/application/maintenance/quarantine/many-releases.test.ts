import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { loanStream } from '../../../../application/command-handling/operation.ts';
import { encodeEvent } from '../../../../application/event-codec/event-codec.ts';
import { QuarantinedOperations } from '../../../../application/maintenance/quarantine/quarantined-operations.ts';
import type { JsonText, RecordedEvent } from '../../../../application/ports/event-store.ts';
import { loanProjection } from '../../../../projections/loan/loan-projection.ts';
import { sampleMetadata } from '../../../contracts/event-store-samples.ts';
import { InMemoryTables } from '../../../projections/in-memory-tables.ts';
import { receivedLoan, second } from '../../../projections/loan/projected-events.ts';
import { caughtUp, projectorOf } from '../../projecting/running-projector.ts';
import { StoryLog, decode } from '../../projecting/story-log.ts';

const APPLICATIONS = ['app-1', 'app-2', 'app-3'];
const OPERATIONS = 40;

/** Operations of several applications, and a renegotiation of two of them, that this program cannot read until it learns to. */
const manyThatWait = async () => {
  const log = new StoryLog();
  const tables = new InMemoryTables();
  const counts = { lists: 0, reads: 0 };
  let readable = false;
  const forgotten = encodeEvent({ type: 'BorrowerForgotten', forgottenAt: second(200) });
  const tell = async (stream: string, ...events: readonly { type: string; data: JsonText }[]) => {
    const applicationId = stream.slice('loan-'.length, 'loan-app-1'.length);
    const metadata = sampleMetadata({ applicationId });
    const stored = events.map((event) => ({ ...event, id: randomUUID(), metadata }));
    await log.append(stream, 'no_stream', stored);
  };
  const codes = Array.from({ length: OPERATIONS }, (_, n) => `OP-${n}`);
  for (const applicationId of APPLICATIONS)
    for (const code of codes)
      await tell(
        loanStream(applicationId, code),
        encodeEvent(receivedLoan({ applicationId, code }, 3)),
        forgotten,
      );
  const named = JSON.stringify({ original_proposal_codes: codes.slice(0, 2) }) as JsonText;
  const renegotiation = `renegotiation-${randomUUID()}`;
  await log.append(renegotiation, 'no_stream', [
    {
      id: randomUUID(),
      type: 'renegotiation.something_new.v1',
      data: named,
      metadata: sampleMetadata({ applicationId: 'app-1' }),
    },
  ]);
  const decoding = (recorded: RecordedEvent) => {
    const ofRenegotiation = recorded.stream === renegotiation;
    if (!readable && (ofRenegotiation || recorded.type === forgotten.type)) throw new Error('unknown');
    return ofRenegotiation ? undefined : decode(recorded);
  };
  const { projector } = projectorOf(log, tables, { decode: decoding, batchSize: 500 });
  projector.start();
  await caughtUp(projector);
  await projector.stop();
  const quarantine = new QuarantinedOperations({
    projections: [loanProjection],
    store: {
      checkpoint: (...parameters) => tables.checkpoint(...parameters),
      apply: (...parameters) => tables.apply(...parameters),
      quarantined: (...parameters) => {
        counts.lists += 1;
        return tables.quarantined(...parameters);
      },
    },
    relay: { list: async () => [], waits: async () => false, release: async () => false },
    events: {
      read: (...parameters) => {
        counts.reads += 1;
        return log.read(...parameters);
      },
    },
    decode: decoding,
    order: { compare: (one, other) => parseInt(one, 10) - parseInt(other, 10) },
    renegotiation: { resolve: async () => undefined },
    actors: [],
  });
  const waiting = [
    ...APPLICATIONS.flatMap((one) => codes.map((code) => loanStream(one, code))),
    renegotiation,
  ];
  return { tables, quarantine, counts, waiting, renegotiation, learns: () => void (readable = true) };
};

test('many of several applications are released one after another, and what waits is read once for all of them', async () => {
  const { tables, quarantine, counts, waiting, renegotiation, learns } = await manyThatWait();
  expect((await quarantine.list()).map(({ stream }) => stream).toSorted()).toEqual(waiting.toSorted());
  expect(await quarantine.release(waiting[0]!)).toMatchObject([
    { outcome: 'still_waits', together: [renegotiation, waiting[1]] },
  ]);
  learns();
  [counts.lists, counts.reads] = [0, 0];
  for (const stream of waiting) {
    const came = waiting.slice(1, 2).includes(stream) || stream === renegotiation;
    const together = stream === waiting[0] ? { together: [renegotiation, waiting[1]] } : {};
    const released = { waitsFor: 'loan', outcome: 'released', ...together };
    expect([stream, await quarantine.release(stream)]).toEqual([stream, came ? [] : [released]]);
  }
  expect(await quarantine.list()).toEqual([]);
  expect(tables.rows('loan')).toHaveLength(APPLICATIONS.length * OPERATIONS);
  expect(counts.lists).toBeLessThanOrEqual(2);
  expect(counts.reads).toBeLessThanOrEqual(3 * waiting.length);
});

import { expect, test } from '@jest/globals';
import { loanDecider } from '../../../domain/loan/index.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { cents } from '../../../domain/shared/money.ts';
import { findBrokenLink } from '../../../application/event-codec/event-codec.ts';
import { claimStream } from '../../../infrastructure/eventstoredb/key-claims.ts';
import { NOW, installmentCode } from '../../domain/support/loan-story.ts';
import { openAtStandIn } from '../../support/eventstoredb/open-store.ts';
import { MAX_APPEND_SIZE } from '../../support/eventstoredb/appends.ts';
import {
  APPLICATION,
  MemoryDocuments,
  activeLoan,
  startProcess,
  streamOf,
} from '../../support/renegotiation-world.ts';

const MOST_INSTALLMENTS = 480;

/** As many as an operation may have, with long codes. */
const installments = Array.from({ length: MOST_INSTALLMENTS }, (_, n) => ({
  code: installmentCode(`${n}-${'x'.repeat(59)}`),
  dueDate: calendarDate(`${2027 + Math.floor(n / 12)}-${String((n % 12) + 1).padStart(2, '0')}-15`),
  faceValue: cents(100_000),
}));

test('the largest operation fits, and so does paying all of it ahead with a key', async () => {
  await using at = await openAtStandIn();
  const documents = new MemoryDocuments();
  const process = startProcess(at.store, { documents });
  await activeLoan(process, documents, 'BIG', { installments, acquisitionValue: cents(20_000_000) });
  const stream = streamOf('BIG');
  const key = { endpoint: 'POST /loan/prepayment', key: 'all' };
  const { events } = await process.commands.handle({
    stream,
    applicationId: APPLICATION,
    actor: 'test',
    correlationId: 'test',
    idempotency: { ...key, fingerprint: 'ab'.repeat(32), claimedIn: APPLICATION },
    decide: (state) =>
      loanDecider.decide(
        {
          type: 'ProcessPrepayment',
          prepaymentValue: cents(40_000_000),
          prepaymentDate: calendarDate('2026-06-20'),
          paymentMethod: 'pix',
          now: NOW,
        },
        state,
      ),
  });
  expect(events.map(({ type }) => type)).toContain('PrepaymentProcessed');
  const stored = await at.store.read(stream);
  expect(findBrokenLink(stream, stored.events)).toBe(-1);
  const intent = at.server.log.stream(claimStream({ applicationId: APPLICATION, ...key }));
  const largest = Math.max(...at.server.log.events.map(({ data }) => data.length));
  expect(intent).toHaveLength(1);
  expect(largest).toBeLessThan(MAX_APPEND_SIZE / 2);
});

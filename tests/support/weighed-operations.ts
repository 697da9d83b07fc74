/**
 * Prints, by kind of operation, the bytes of heap that one takes, and those that the cache of operations counts for it. Takes the length of codes of installments and that of keys.
 */
import { bytesOf } from '../../application/command-handling/kept-operations.ts';
import { advance, replay } from '../../application/command-handling/operation.ts';
import type { Operation } from '../../application/command-handling/operation.ts';
import { encodeEvent } from '../../application/event-codec/event-codec.ts';
import type { LoanEvent } from '../../domain/loan/index.ts';
import { addDays } from '../../domain/shared/calendar-date.ts';
import { cents } from '../../domain/shared/money.ts';
import {
  NOW,
  activated,
  installmentCode,
  paid,
  prepay,
  received,
  repurchaseRequested,
} from '../domain/support/loan-story.ts';
import { retainedBytes } from './retained-bytes.ts';

const times = <Item>(count: number, make: (index: number) => Item): readonly Item[] =>
  Array.from({ length: count }, (_, index) => make(index));
const [ofCodes = 0, ofKeys = 0] = process.argv.slice(2).map(Number);
const codeOf = (index: number) => installmentCode(String(index + 1).padStart(ofCodes, '0'));

const scheduled = (count: number): readonly LoanEvent[] => {
  const installments = times(count, (index) => ({
    code: codeOf(index),
    dueDate: addDays(received.dateIssued, 30 * (index + 1)),
    faceValue: cents(95_000),
  }));
  return [{ ...received, installments }, ...activated.slice(1)];
};
const credited = (index: number): LoanEvent => ({
  ...{ ...prepay('1.00'), type: 'PrepaymentProcessed', settledInstallments: [] },
  ...{ payoffValue: cents(9), remainingBalance: cents(9), excessValue: cents(0), pricing: received.pricing },
  ...{ lines: [], processedAt: NOW },
  partial: {
    installmentCode: codeOf(index),
    credit: { value: `${index}.123456789012345678901234567890`, date: prepay('1.00').prepaymentDate },
    outstandingAtDue: cents(9),
  },
});
const document = (index: number) => ({
  ...{ documentId: `${index}`.padStart(36, '0'), type: 'invoice', size: 9, receivedAt: NOW },
  ...{ value: `${index}`.padStart(250, 'v') as never, sha256: `${index}`.padStart(64, '0') },
});
const line = (index: number) => ({ installmentCode: codeOf(index), presentValue: cents(index) });

const KINDS: Readonly<Record<string, readonly LoanEvent[]>> = {
  'of one installment': scheduled(1),
  'of 480 installments': scheduled(480),
  paid: [...scheduled(480), ...times(480, (index) => ({ ...paid('001'), installmentCode: codeOf(index) }))],
  'with credits': [...scheduled(12), ...times(400, (index) => credited(index % 12))],
  'with documents': [
    ...scheduled(1),
    { type: 'DocumentsAdded', documents: times(40, document), addedAt: NOW },
  ],
  'bought back': [...scheduled(480), { ...repurchaseRequested('resolution'), lines: times(480, line) }],
};

/** Made of texts, as from the log. */
const operationOf = (events: readonly LoanEvent[], keys: number): Operation => {
  const metadata = {
    correlationId: 'c',
    causationId: 'c',
    actor: 'a',
    applicationId: 'app-1',
    recordedAt: NOW,
  };
  const recorded = events.map((event, index) => ({
    ...{ ...encodeEvent(event), id: `${index}`, revision: BigInt(index), position: BigInt(index) },
    metadata: { ...metadata, hash: 'a'.repeat(64) },
  }));
  const revision = BigInt(events.length - 1);
  const asked = times(keys, (index) => {
    const fingerprint = Buffer.from(`${index}`.padStart(32)).toString('hex');
    const key = `${index}`.padStart(ofKeys, '0');
    return {
      metadata: { ...metadata, idempotency: { endpoint: 'POST /installment/settle', key, fingerprint } },
    };
  });
  return advance(replay(recorded as never, revision), [], asked as never, revision);
};

const COUNT = 10;
const several = (events: readonly LoanEvent[], keys = 0) => times(COUNT, () => operationOf(events, keys));

const kept: Readonly<Record<string, readonly Operation[]>> = {
  ...Object.fromEntries(Object.entries(KINDS).map(([kind, events]) => [kind, several(events)])),
  'with keys': several(scheduled(1), 400),
};
const retained = await retainedBytes(kept);
const weighed = Object.entries(kept).map(([kind, operations]) => [
  kind,
  { measured: Math.round(retained[kind]! / COUNT), counted: Math.max(...operations.map(bytesOf)) },
]);
console.log(JSON.stringify(weighed));

import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { loanStream } from '../../../application/command-handling/operation.ts';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import type {
  LogPosition,
  RecordedEvent,
  SubscriptionMessage,
} from '../../../application/ports/event-store.ts';
import type {
  ComparedDelivery,
  ComparedSubscription,
} from '../../../application/webhooks/delivery-comparison.ts';
import { verifyDeliveries } from '../../../application/webhooks/verify-deliveries.ts';
import type { VerificationDependencies } from '../../../application/webhooks/verify-deliveries.ts';
import type { Timestamp } from '../../../domain/shared/identifiers.ts';
import { logOrder } from '../../../infrastructure/composition/read-models.ts';
import { fixedClock } from '../../support/application-parts.ts';

const NOW = '2026-06-20T12:00:00.000Z' as Timestamp;
const applicationId = randomUUID();
const webhookId = randomUUID();
const clock = fixedClock(NOW);
const at = (ms: number): string => new Date(Date.parse(NOW) + ms).toISOString();

const recorded = (place: number) =>
  ({
    id: `event-${place}`,
    stream: loanStream(applicationId, 'OP'),
    revision: BigInt(place - 1),
    position: String(place) as LogPosition,
    metadata: { recordedAt: NOW },
  }) as unknown as RecordedEvent;

const publicEvent = ({ id, revision, position }: RecordedEvent): PublicEvent => ({
  ...{ eventId: id, name: 'loan_received', applicationId, fundId: randomUUID(), code: 'OP' },
  ...{ sequence: Number(revision), timestamp: NOW, body: '{}', position },
});

const subscription: ComparedSubscription = {
  ...{ webhookId, applicationId, url: 'https://hooks.example.com', events: ['*'], fundIds: null },
  ...{ description: null, status: 'active', createdAt: NOW, updatedAt: NOW, beginsAt: 'start' },
  ...{ eventsFrom: NOW, lastSuccessAt: null, lastFailureAt: null, failingSince: null, filterFrom: 'start' },
};

const delivery = (place: number, endedAt: string | null): ComparedDelivery => ({
  ...{ webhookId, eventId: `event-${place}`, deliveryId: randomUUID(), sequence: place - 1 },
  ...{ waits: endedAt === null, attempted: endedAt !== null, endedAt },
});

/** A log in two batches. @param readings what the store holds of the deliveries at one look after the other, the last from then on */
const differences = async (...readings: readonly (readonly ComparedDelivery[])[]) => {
  let looks = 0;
  const subscribe = async function* (): AsyncGenerator<SubscriptionMessage> {
    for (const place of [1, 2]) {
      const one = recorded(place);
      yield { kind: 'events', events: [one], checkpoint: one.position };
    }
    yield { kind: 'caught_up' };
  };
  const comparison = {
    subscriptions: async () => [subscription],
    ofEvents: async (ids: readonly string[]) =>
      (readings[looks++] ?? readings.at(-1)!).filter(({ eventId }) => ids.includes(eventId)),
    counts: async () => [],
  };
  const dependencies = {
    ...{ comparison, order: logOrder, clock, realClock: clock, keptForMs: 86_400_000 },
    ...{ subscription: { subscribe }, quarantine: { list: async () => [] }, clockToleranceMs: 1_000 },
    book: { lastBegin: async () => 0, head: async () => undefined },
    translator: { translate: async (some: readonly RecordedEvent[]) => some.map(publicEvent) },
    fannedOut: async () => '2',
    sleep: () => new Promise<void>(() => undefined),
  } as unknown as VerificationDependencies;
  const found = [];
  for await (const one of verifyDeliveries(dependencies, { repair: false })) found.push(one);
  return found;
};

test('what went out while the log was read is in order, although it waited when the one before it was looked at', async () => {
  const [first, second] = [delivery(1, at(-20)), delivery(2, at(-10))];
  expect(await differences([delivery(1, null), delivery(2, null)], [first, second])).toEqual([]);
});

test('an event that went out before one that still waits is told', async () => {
  const found = await differences([delivery(1, null), delivery(2, at(-10))]);
  expect(found).toMatchObject([
    {
      kind: 'out_of_order',
      eventId: 'event-2',
      detail: 'was sent while event event-1 still waits before it',
    },
  ]);
});

test('times less apart than the clocks of two processes say nothing of the order, others do', async () => {
  expect(await differences([delivery(1, at(-1_000)), delivery(2, at(-2_000))])).toEqual([]);
  expect(await differences([delivery(1, at(-1_000)), delivery(2, at(-2_001))])).toMatchObject([
    { kind: 'out_of_order', detail: `ended at ${at(-2_001)}, before event event-1 did` },
  ]);
});

import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { appendCases } from './event-store-append-cases.ts';
import { claimCases } from './event-store-claim-cases.ts';
import { modelCase } from './event-store-model-case.ts';
import type { EventStoreCase, EventStoreUnderTest } from './event-store-samples.ts';
import { subscriptionCases } from './event-store-subscription-cases.ts';

export type { EventStoreCase, EventStoreUnderTest } from './event-store-samples.ts';

interface EventStoreFixture {
  readonly store: EventStoreUnderTest;
  close(): Promise<void>;
}

export const eventStoreCases: readonly EventStoreCase[] = [
  ...appendCases,
  ...claimCases,
  ...subscriptionCases,
  modelCase,
];

/** Registers every promise of the port as a test of this adapter; there is no way to leave one out. */
export const describeEventStoreContract = (
  adapter: string,
  open: () => Promise<EventStoreFixture>,
  patienceMs = 60_000,
): void => {
  describe(`${adapter} keeps the promises of the event store`, () => {
    let fixture: EventStoreFixture;
    beforeAll(async () => {
      fixture = await open();
    });
    afterAll(() => fixture.close());
    test.each(eventStoreCases)('$name', ({ check }) => check(fixture.store, patienceMs));
  });
};

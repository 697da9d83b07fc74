import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { filterCases } from './delivery-queue-filter-cases.ts';
import { laneCases } from './delivery-queue-lane-cases.ts';
import { leaseCases } from './delivery-queue-lease-cases.ts';
import { logCases } from './delivery-queue-log-cases.ts';
import { redeliveryCases } from './delivery-queue-redelivery-cases.ts';
import type { DeliveryQueueCase, QueueUnderTest } from './delivery-queue-samples.ts';

export type { DeliveryQueueCase, QueueUnderTest } from './delivery-queue-samples.ts';

export interface QueueFixture {
  readonly adapter: QueueUnderTest;
  close(): Promise<void>;
}

export const deliveryQueueCases: readonly DeliveryQueueCase[] = [
  ...laneCases,
  ...leaseCases,
  ...redeliveryCases,
  ...logCases,
  ...filterCases,
];

/** Registers every promise of the port as a test of this adapter; there is no way to leave one out. */
export const describeDeliveryQueueContract = (adapter: string, open: () => Promise<QueueFixture>): void => {
  describe(`${adapter} keeps the promises of the delivery queue`, () => {
    let fixture: QueueFixture;
    beforeAll(async () => {
      fixture = await open();
    });
    afterAll(() => fixture.close());
    test.each(deliveryQueueCases)('$name', ({ check }) => check(fixture.adapter));
  });
};

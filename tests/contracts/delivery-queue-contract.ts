import { filterCases } from './delivery-queue-filter-cases.ts';
import { laneCases } from './delivery-queue-lane-cases.ts';
import { leaseCases } from './delivery-queue-lease-cases.ts';
import { logCases } from './delivery-queue-log-cases.ts';
import { redeliveryCases } from './delivery-queue-redelivery-cases.ts';
import { Story } from './delivery-queue-samples.ts';
import type { QueueUnderTest } from './delivery-queue-samples.ts';
import type { Promised } from './promises.ts';

export const deliveryQueueCases: readonly Promised<QueueUnderTest>[] = [
  ...laneCases,
  ...leaseCases,
  ...redeliveryCases,
  ...logCases,
  ...filterCases,
].map(({ name, check }) => ({
  name,
  check: async (adapter) => {
    const story = new Story(adapter);
    await check(story, await story.subscribe());
  },
}));

import { expect } from '@jest/globals';
import type { DeliveryRecord } from '../../application/webhooks/delivery-log.ts';
import { DELIVERED, FAILED, at } from './delivery-queue-samples.ts';
import type { QueueUnderTest, StoryCase } from './delivery-queue-samples.ts';

type Query = Parameters<QueueUnderTest['log']['list']>[0];

/** Every page, following the cursors. */
const pagesOf = async (
  { log }: QueueUnderTest,
  query: Query,
): Promise<readonly (readonly DeliveryRecord[])[]> => {
  const pages: (readonly DeliveryRecord[])[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await log.list({ ...query, ...(cursor !== undefined && { cursor }) });
    pages.push(page.deliveries);
    cursor = page.nextCursor;
  }
  return pages;
};

const codesOf = async (adapter: QueueUnderTest, query: Query) =>
  (await pagesOf(adapter, query)).map((page) => page.map(({ code }) => code));

const NAMES = ['loan_received', 'installment_settled', 'installment_underpaid'] as const;
const MORE_THAN_ARE_LOOKED_AT = 5_002;

export const filterCases: readonly StoryCase[] = [
  {
    name: 'a list of some names is newest first, and its pages join without gap or overlap',
    check: async (story) => {
      const [webhookId, other] = [await story.subscribe(), await story.subscribe()];
      for (let index = 0; index < 9; index++) {
        const event = story.event(`OP-${index}`, {
          name: NAMES[index % 3]!,
          fundId: index < 6 ? 'fund-1' : 'fund-2',
        });
        await story.enqueue(webhookId, [event], index);
        await story.enqueue(other, [event], index);
        const verdict = index % 2 === 0 ? DELIVERED : FAILED;
        await story.record(await story.leaseOne(webhookId, index), verdict, index);
      }
      const events = ['loan_received', 'installment_underpaid'];
      expect(await codesOf(story.adapter, { webhookId, events, limit: 4 })).toEqual([
        ['OP-8', 'OP-6', 'OP-5', 'OP-3'],
        ['OP-2', 'OP-0'],
      ]);
      expect(await codesOf(story.adapter, { webhookId, events, status: 'failed', limit: 9 })).toEqual([
        ['OP-5', 'OP-3'],
      ]);
      const some = { webhookId, events: ['loan_received'], limit: 9 };
      expect(await codesOf(story.adapter, { ...some, status: 'delivered', since: at(3) })).toEqual([
        ['OP-6'],
      ]);
      expect(await codesOf(story.adapter, { ...some, onlyFundIds: ['fund-1'] })).toEqual([['OP-3', 'OP-0']]);
      expect(await codesOf(story.adapter, { ...some, events: ['loan_rejected'] })).toEqual([[]]);
    },
  },
  {
    name: 'a list of some events has them alone, of this subscription, with every other filter',
    check: async (story) => {
      const [webhookId, other] = [await story.subscribe(), await story.subscribe()];
      const events = NAMES.map((name) => story.event('OP-1', { name }));
      for (const [index, event] of events.entries()) {
        await story.enqueue(webhookId, [event, story.event(`OTHER-${index}`)], index);
        await story.enqueue(other, [event], index);
      }
      const eventIds = events.map(({ eventId }) => eventId);
      const named = async (query: Omit<Query, 'webhookId'>) =>
        (await pagesOf(story.adapter, { webhookId, ...query })).map((page) => page.map(({ event }) => event));
      expect(await named({ eventIds, limit: 2 })).toEqual([
        ['installment_underpaid', 'installment_settled'],
        ['loan_received'],
      ]);
      expect(await named({ eventIds, limit: 9, since: at(1), events: ['installment_settled'] })).toEqual([
        ['installment_settled'],
      ]);
      expect(await named({ eventIds: eventIds.slice(0, 1), limit: 9 })).toEqual([['loan_received']]);
      expect(await named({ eventIds, limit: 9, status: 'failed' })).toEqual([[]]);
      expect(await named({ eventIds, limit: 9, onlyFundIds: ['fund-2'] })).toEqual([[]]);
      expect(await named({ eventIds: [], limit: 9 })).toEqual([[]]);
      expect(await named({ eventIds: ['no such event'], limit: 9 })).toEqual([[]]);
    },
  },
  {
    name: 'a rare name or fund is found behind many others, with bounded work for a page',
    check: async (story, webhookId) => {
      const its = { name: 'loan_rejected', fundId: 'a rare fund' };
      await story.enqueue(webhookId, [story.event('RARE', its)]);
      const many = Array.from({ length: MORE_THAN_ARE_LOOKED_AT }, (_, index) => story.event(`OP-${index}`));
      await story.enqueue(webhookId, many, 1);
      await story.enqueue(webhookId, [story.event('NEW', its)], 2);
      for (const rare of [{ events: [its.name] }, { onlyFundIds: [its.fundId] }])
        for (const limit of [5, 1])
          expect(await codesOf(story.adapter, { webhookId, ...rare, limit })).toEqual([['NEW'], ['RARE']]);
    },
  },
];

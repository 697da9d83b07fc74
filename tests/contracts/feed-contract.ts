import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { loanStream } from '../../application/command-handling/operation.ts';
import { FeedStoppedError } from '../../application/publication/feed.ts';
import type { FeedQuery } from '../../application/publication/feed.ts';
import { NOW } from '../support/application-parts.ts';
import {
  Counts,
  FUNDS,
  assigned,
  counting,
  fieldOf,
  idOf,
  printed,
  serviceOn,
  walked,
} from './feed-world.ts';
import type { FeedStores, Service } from './feed-world.ts';

/** What the feed promises on any engine. */
export const describeFeedContract = (name: string, open: () => Promise<FeedStores>): void => {
  describe(`the feed on ${name}`, () => {
    let stores: FeedStores;
    let service: Service;
    beforeAll(async () => {
      stores = await open();
      service = serviceOn(stores);
    });
    afterAll(() => stores.close());

    test('is what the command line prints of the application, whatever is left out and however long its pages are', async () => {
      const [own, other] = [randomUUID(), randomUUID()];
      for (let n = 0; n < 6; n++) {
        await assigned(service, own, { code: `OP-${n}`, fund: FUNDS[n % 2]!, steps: n % 4 });
        await assigned(service, other, { code: `OP-${n}`, steps: 1 });
      }
      await service.project();
      const all = await printed(service, own);
      expect(all).toHaveLength(6 + 0 + 1 + 2 + 3 + 0 + 1);
      const filter = fc.record(
        {
          fundId: fc.constantFrom(...FUNDS, randomUUID()),
          code: fc.constantFrom('OP-1', 'OP-2', 'NONE'),
          names: fc.subarray(['loan_received', 'loan_approved', 'loan_rejected'] as const, { minLength: 1 }),
        },
        { requiredKeys: [] },
      );
      const asked = fc.record({
        filter,
        limit: fc.integer({ min: 1, max: 8 }),
        from: fc.integer({ min: -1, max: all.length - 1 }),
        limited: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(asked, async ({ filter: { fundId, code, names }, limit, from, limited }) => {
          const seen = limited ? all.filter((body) => fieldOf(body, 'fund_id') === FUNDS[0]) : all;
          const start = seen[from];
          const query: FeedQuery = {
            ...{ limit, ...(start !== undefined && { after: idOf(start) }) },
            ...{ ...(fundId && { fundId }), ...(code && { code }), ...(names && { names }) },
          };
          const wanted = seen
            .slice(start === undefined ? 0 : from + 1)
            .filter(
              (body) =>
                (fundId === undefined || fieldOf(body, 'fund_id') === fundId) &&
                (code === undefined || fieldOf(body, 'originator_proposal_code') === code) &&
                (names === undefined || (names as unknown[]).includes(fieldOf(body, 'event'))),
            );
          const reader = { applicationId: own, ...(limited && { onlyFundIds: [FUNDS[0]] }) };
          const { bodies, last } = await walked(service, reader, query);
          expect(bodies).toEqual(wanted);
          expect(last).toBe(idOf(seen.at(-1)!));
        }),
        { numRuns: 60 },
      );
    });

    test('an application without events has nothing to go on from; what comes later follows what was asked last', async () => {
      const own = randomUUID();
      const page = (after?: string) =>
        service.publication.feed.page({ applicationId: own }, { limit: 50, ...(after && { after }) });
      expect(await page()).toEqual({ events: [], nextAfter: null, hasMore: false });
      await assigned(service, own, { code: 'OP' });
      await service.project();
      const [first] = await printed(service, own);
      expect(await page()).toMatchObject({ nextAfter: idOf(first!), hasMore: false });
      expect(await page(idOf(first!))).toEqual({ events: [], nextAfter: idOf(first!), hasMore: false });
      await service.tell(own, 'OP', { type: 'ApproveLoan', now: NOW });
      await service.project();
      expect((await page(idOf(first!))).events).toMatchObject([{ name: 'loan_approved' }]);
    });

    test('after names an event that the client may see, or is refused', async () => {
      const [own, other] = [randomUUID(), randomUUID()];
      await assigned(service, own, { code: 'OP', fund: FUNDS[1] });
      await assigned(service, other, { code: 'OP' });
      await service.project();
      const [[hidden], [foreign]] = [await printed(service, own), await printed(service, other)];
      const page = (after: string, onlyFundIds?: readonly string[]) =>
        service.publication.feed.page(
          { applicationId: own, ...(onlyFundIds && { onlyFundIds }) },
          { limit: 1, after },
        );
      const refused = { code: 'invalid_query_parameter', details: [{ field: 'after' }] };
      await expect(page(idOf(foreign!))).rejects.toMatchObject(refused);
      await expect(page(randomUUID())).rejects.toMatchObject(refused);
      await expect(page(idOf(hidden!), [FUNDS[0]])).rejects.toMatchObject(refused);
      expect(await page(idOf(hidden!))).toMatchObject({ events: [], hasMore: false });
    });

    test('an unreadable event holds back itself and what follows of its application, and nothing of others, until it is mended', async () => {
      const [own, other] = [randomUUID(), randomUUID()];
      const reader = { applicationId: own };
      await assigned(service, own, { code: 'A', steps: 1 });
      await service.project();
      const before = await printed(service, own);
      await service.tell(own, 'A', { type: 'SignLoanTerm', now: NOW });
      const { events } = await stores.log.read(loanStream(own, 'A'));
      service.unreadable.add(events.at(-1)!.id);
      await assigned(service, own, { code: 'B', fund: FUNDS[1] });
      await assigned(service, other, { code: 'A' });
      await service.project();
      const { feed } = service.publication;
      const page = await feed.page(reader, { limit: 50 });
      expect(page.events.map(({ body }) => body)).toEqual(before);
      expect(page).toMatchObject({ nextAfter: idOf(before.at(-1)!), hasMore: true });
      const next = { limit: 50, after: page.nextAfter! };
      await expect(feed.page(reader, next)).rejects.toThrow(FeedStoppedError);
      await expect(feed.page(reader, { ...next, code: 'B' })).rejects.toThrow(FeedStoppedError);
      expect((await walked(service, { applicationId: other }, { limit: 7 })).bodies).toHaveLength(1);

      service.unreadable.clear();
      expect(await service.release(loanStream(own, 'A'))).toMatchObject(
        Array.from({ length: stores.log.byId ? 1 : 2 }, () => ({ outcome: 'released' })),
      );
      const all = await printed(service, own);
      expect((await walked(service, reader, next)).bodies).toEqual(all.slice(before.length));
    });

    test('an event that was damaged after it had been read stops it too, and none is passed over', async () => {
      const own = randomUUID();
      const reader = { applicationId: own };
      await assigned(service, own, { code: 'A', steps: 3 });
      await service.project();
      const all = await printed(service, own);
      const { feed } = service.publication;
      service.unreadable.add(idOf(all[2]!));
      const page = await feed.page(reader, { limit: 50 });
      expect(page.events.map(({ body }) => body)).toEqual(all.slice(0, 2));
      expect(page).toMatchObject({ nextAfter: idOf(all[1]!), hasMore: true });
      for (const after of [1, 2])
        await expect(feed.page(reader, { limit: 50, after: idOf(all[after]!) })).rejects.toThrow(
          FeedStoppedError,
        );
      service.unreadable.clear();
      expect((await walked(service, reader, { limit: 1, after: idOf(all[1]!) })).bodies).toEqual(
        all.slice(2),
      );
    });

    test('a page costs what it returns, whatever else there is', async () => {
      const [own, other] = [randomUUID(), randomUUID()];
      for (let n = 0; n < 5; n++) await assigned(service, own, { code: `OP-${n}`, steps: 1 });
      await service.project();
      const costOf = async (query: FeedQuery) => {
        const counts = new Counts();
        const page = await serviceOn(counting(stores, counts)).publication.feed.page(
          { applicationId: own },
          query,
        );
        return { events: page.events.map(({ eventId }) => eventId), counts };
      };
      const before = await costOf({ limit: 3 });
      for (let n = 0; n < 40; n++) await assigned(service, other, { code: `OP-${n}`, steps: 3 });
      await service.project();
      const after = await costOf({ limit: 3 });
      expect(after).toEqual(before);
      expect(after.counts).toMatchObject({ queries: 2, rows: 4, events: 3 });
    });
  });
};

import { describe, expect, test } from '@jest/globals';
import { Feed } from '../../../application/publication/feed.ts';
import type { FeedQuery } from '../../../application/publication/feed.ts';
import type { SqlFeedRows } from '../../../application/publication/feed.ts';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import type { LogPosition, RecordedEvent } from '../../../application/ports/event-store.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const [OWN, HIDDEN] = ['own', 'hidden'];

interface Told {
  readonly fund?: string;
  readonly name?: string;
  readonly unreadable?: true;
}

/** A feed over rows in memory; event `n` is the n-th one, each in a stream of its own. */
const feedOf = (told: readonly Told[], { lag = 0 }: { readonly lag?: number } = {}) => {
  const counts = { read: 0, looks: 0, slept: 0 };
  const recorded = (n: number) =>
    ({
      ...{ id: String(n), stream: `loan-app.${n}`, revision: 0n, position: String(n + 1) as LogPosition },
      metadata: { applicationId: 'app' },
    }) as unknown as RecordedEvent;
  const rows: Pick<SqlFeedRows, 'after' | 'index'> = {
    after: async (_, place, limit) => {
      counts.looks += 1;
      const from = place?.position ?? 0;
      const next = told.slice(from, from + limit).map(({ fund = OWN }, i) => ({
        ...{ position: from + i + 1, revision: 0, stream: `loan-app.${from + i}`, fundId: fund },
      }));
      return { rows: next, stops: false };
    },
    index: async () => (counts.slept < lag ? 'behind' : 'whole'),
  };
  const feed = new Feed({
    rows: rows as SqlFeedRows,
    events: {
      at: async (stream) => {
        counts.read += 1;
        return recorded(Number(stream.split('.')[1]));
      },
    },
    translator: {
      translate: async ([one]) => {
        const { name = 'loan_received', fund: fundId = OWN, unreadable } = told[Number(one!.id)]!;
        if (unreadable) throw new RangeError('no date');
        return [{ eventId: one!.id, name, fundId, body: one!.id } as PublicEvent];
      },
    },
    byId: async (id) => (counts.slept >= lag && Number(id) < told.length ? recorded(Number(id)) : undefined),
    indexFollows: true,
    written: async () => undefined,
    logger: new RecordingLogger(),
    sleep: async () => void (counts.slept += 1),
  });
  const page = async (query: Partial<FeedQuery> = {}, onlyFundIds?: readonly string[]) => {
    const reader = { applicationId: 'app', ...(onlyFundIds && { onlyFundIds }) };
    const { events, ...rest } = await feed.page(reader, { limit: 50, ...query });
    return { ids: events.map(({ eventId }) => Number(eventId)), ...rest };
  };
  return { page, counts };
};

const many = (count: number, told: Told = {}): readonly Told[] => Array.from({ length: count }, () => told);

describe('a page of the feed', () => {
  test('of a client of few funds is found behind any number of events that are hidden from it', async () => {
    const told = [{}, ...many(25_000, { fund: HIDDEN }), {}, ...many(12_000, { fund: HIDDEN })];
    const { page, counts } = feedOf(told);
    expect(await page({}, [OWN])).toEqual({ ids: [0], nextAfter: '0', hasMore: true });
    expect(await page({ after: '0' }, [OWN])).toEqual({ ids: [25_001], nextAfter: '25001', hasMore: false });
    expect(await page({ after: '25001' }, [OWN])).toEqual({ ids: [], nextAfter: '25001', hasMore: false });
    expect(await page({}, ['none'])).toEqual({ ids: [], nextAfter: null, hasMore: false });
    expect(counts.read).toBe(2);
  });

  test('that is full tells a client of few funds whether more of theirs comes', async () => {
    const told = [...many(2), ...many(2_500, { fund: HIDDEN })];
    expect(await feedOf(told).page({ limit: 2 }, [OWN])).toMatchObject({ ids: [0, 1], hasMore: false });
    expect(await feedOf([...told, {}]).page({ limit: 2 }, [OWN])).toMatchObject({
      ids: [0, 1],
      hasMore: true,
    });
  });

  test('with a filter ends after a bounded look, at an event that was left out', async () => {
    const told = many(30_000, { fund: HIDDEN });
    const byFund = feedOf(told);
    expect(await byFund.page({ fundId: OWN })).toEqual({ ids: [], nextAfter: '9999', hasMore: true });
    expect(byFund.counts).toEqual({ read: 1, looks: 10, slept: 0 });
    expect(await byFund.page({ fundId: OWN, after: '29000' })).toMatchObject({
      nextAfter: '29999',
      hasMore: false,
    });
    const byName = feedOf(told);
    const page = await byName.page({ names: ['loan_approved'] });
    expect(page).toMatchObject({ ids: [], hasMore: true });
    expect(byName.counts.read).toBeLessThan(600);
    expect(Number(page.nextAfter)).toBe(549);
  });

  test('ends before what cannot be read, also where only its id was asked for', async () => {
    const told = [{ fund: HIDDEN }, { fund: HIDDEN }, { fund: HIDDEN, unreadable: true }] as const;
    expect(await feedOf(told).page({ fundId: OWN })).toMatchObject({ ids: [], nextAfter: '1' });
    expect(await feedOf(told).page()).toEqual({ ids: [0, 1], nextAfter: '1', hasMore: true });
    await expect(feedOf(told).page({ after: '1' })).rejects.toThrow('cannot be read');
  });

  test('waits for an index of ids that is behind it, and no longer than that', async () => {
    const behind = feedOf(many(3), { lag: 5 });
    expect(await behind.page({ after: '0' })).toMatchObject({ ids: [1, 2] });
    expect(behind.counts.slept).toBe(5);
    await expect(feedOf(many(3), { lag: 5 }).page({ after: '9' })).rejects.toMatchObject({
      code: 'invalid_query_parameter',
    });
    await expect(feedOf(many(3), { lag: 1_000 }).page({ after: '0' })).rejects.toMatchObject({
      name: 'ReadModelBehindError',
    });
  });
});

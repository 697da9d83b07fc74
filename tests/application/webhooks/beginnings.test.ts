import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from '@jest/globals';
import type { LogPosition } from '../../../application/ports/event-store.ts';
import { logOrder } from '../../../infrastructure/composition/read-models.ts';
import { beginWithin, WebhookSubscriptions } from '../../../application/webhooks/subscriptions.ts';
import { openServiceDatabase } from '../../support/sql/temporary-database.ts';

const store = await openServiceDatabase();
afterAll(() => store.close());

test('webhooks that begin behind the end of a log that was restored begin at its end; no other moves', async () => {
  const subscriptions = new WebhookSubscriptions(store.database);
  const places = ['start', '7', '100', '101', '9000', '500/500', undefined] as (LogPosition | undefined)[];
  const applicationId = randomUUID();
  for (const [n, beginsAt] of places.entries())
    await subscriptions.add(
      {
        webhookId: `w-${n}`,
        applicationId,
        url: 'https://r.example/',
        events: ['*'],
        fundIds: null,
        description: null,
        sealedSecret: 's',
        createdAt: '2026-01-15T12:00:00.000Z',
        ...(beginsAt !== undefined && { beginsAt }),
      },
      20,
    );
  expect(await beginWithin(store.database, logOrder, '100' as LogPosition)).toBe(2);
  const found = await subscriptions.ofApplications([applicationId]);
  expect(found.map(({ beginsAt }) => beginsAt)).toEqual(['start', '7', '100', '100', '100', '500/500', null]);
  expect(await beginWithin(store.database, logOrder, 'start')).toBe(5);
});

test('a filter noted behind the end of a log that was restored counts from its end, once for each webhook', async () => {
  const subscriptions = new WebhookSubscriptions(store.database);
  const [webhookId, events, fundIds] = [randomUUID(), ['*'], null];
  await subscriptions.add(
    {
      webhookId,
      applicationId: randomUUID(),
      url: 'https://r.example/',
      events,
      fundIds,
      description: null,
      sealedSecret: 's',
      createdAt: '2026-01-15T12:00:00.000Z',
      beginsAt: '900' as LogPosition,
    },
    20,
  );
  const noted = () =>
    store.database.read(
      store.database.builder
        .selectFrom('webhook_subscription')
        .select(['begins_at', 'filter_from'])
        .where('webhook_id', '=', webhookId),
    );
  await subscriptions.noteFilter({ webhookId, events, fundIds }, '901' as LogPosition);
  expect(await noted()).toEqual([{ begins_at: '900', filter_from: '901' }]);
  expect(await beginWithin(store.database, logOrder, '800' as LogPosition)).toBe(1);
  expect(await noted()).toEqual([{ begins_at: '800', filter_from: '800' }]);
});

import { describe, expect, test } from '@jest/globals';
import type { WebhookSubscription } from '../../../application/webhooks/subscriptions.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { written } from '../../../infrastructure/console/html.ts';
import { fundWeeks, weekOf } from '../../../infrastructure/console/pages/today/money.ts';
import { endpointsView, lagView } from '../../../infrastructure/console/pages/today/service.ts';

const NOW = '2026-11-22T15:00:00.000Z';

test.each([
  ['2026-11-22', '2026-11-16', '2026-11-22'],
  ['2026-11-23', '2026-11-23', '2026-11-29'],
  ['2026-01-01', '2025-12-29', '2026-01-04'],
  ['2023-12-31', '2023-12-25', '2023-12-31'],
])('%s is in the week from %s to %s', (today, monday, sunday) => {
  expect(weekOf(calendarDate(today))).toEqual({ today, monday, sunday });
});

test('a fund has a line for what falls due, for what was notified, or for both', () => {
  const due = [{ fundId: 'a', installments: 2, faceValue: 190_000 }];
  const notified = [
    { fundId: 'a', kind: 'settlement', payments: 1, amount: 95_000 },
    { fundId: 'b', kind: 'prepayment', payments: 1, amount: 5 },
    { fundId: 'b', kind: 'repurchase', payments: 1, amount: 7 },
  ] as const;
  expect(fundWeeks(due, notified)).toEqual([
    {
      fundId: 'a',
      expected: 190_000,
      notified: { settlement: 95_000, prepayment: 0, repurchase: 0 },
      total: 95_000,
    },
    { fundId: 'b', expected: 0, notified: { settlement: 0, prepayment: 5, repurchase: 7 }, total: 12 },
  ]);
});

describe('endpoints', () => {
  const endpoint = (url: string, failingSince: string | null): WebhookSubscription => ({
    webhookId: url,
    applicationId: 'acme',
    url,
    events: ['*'],
    fundIds: null,
    description: null,
    status: 'active',
    createdAt: NOW,
    eventsFrom: NOW,
    beginsAt: null,
    updatedAt: NOW,
    lastSuccessAt: null,
    lastFailureAt: failingSince,
    failingSince,
  });

  test('are listed while they fail, the longest first', () => {
    const shown = written(
      endpointsView(
        [
          endpoint('https://fine.example', null),
          endpoint('https://late.example', '2026-11-22T14:00:00.000Z'),
          endpoint('https://gone.example', '2026-11-20T14:00:00.000Z'),
        ],
        'en',
        NOW,
      ),
    );
    expect([...shown.matchAll(/https:\/\/(\w+)\.example/g)].map(([, name]) => name)).toEqual([
      'gone',
      'late',
    ]);
    expect(shown).toContain('2 d 1 h');
  });
});

test('a console without a service beside it says so', () => {
  const followers = [{ name: 'relay', position: 'start', behind: 10_000, atLeast: true }] as const;
  const deliveriesWaiting = { webhooks: 1, oldestSince: '2026-11-22T14:59:00.000Z' };
  const shown = written(lagView({ running: false, followers, deliveriesWaiting }, 'en', NOW));
  expect(shown).toContain('Start the service.');
  expect(shown).toContain('relay: at least 10.000 events behind');
  expect(shown).toContain('has waited for 1 min.');
});

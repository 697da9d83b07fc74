import { describe, expect, test } from '@jest/globals';
import type { WebhookSubscription } from '../../../application/webhooks/subscriptions.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { written } from '../../../infrastructure/console/html.ts';
import { speakingIn } from '../../../infrastructure/console/language.ts';
import { fundWeeks, weekOf } from '../../../infrastructure/console/pages/today/page.ts';
import {
  overdueBody,
  endpointsBody,
  serviceBody,
} from '../../../infrastructure/console/pages/today/cards.ts';

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
  const due = ['2026-06-16', '2026-06-17'].map((day) => ({
    fundId: 'a',
    day,
    installments: 1,
    faceValue: 95_000,
  }));
  const notified = [
    { ...{ fundId: 'a', day: '2026-06-15' }, kind: 'settlement', payments: 1, amount: 95_000 },
    { ...{ fundId: 'b', day: '2026-06-15' }, kind: 'prepayment', payments: 1, amount: 5 },
    { ...{ fundId: 'b', day: '2026-06-16' }, kind: 'repurchase', payments: 1, amount: 7 },
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
    const all = [
      endpoint('https://fine.example', null),
      endpoint('https://late.example', '2026-11-22T14:00:00.000Z'),
      endpoint('https://gone.example', '2026-11-20T14:00:00.000Z'),
    ];
    const shown = speakingIn('en', () => written(endpointsBody(all, NOW)));
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
  const health = { followers, deliveriesWaiting, idleRoles: [], quarantined: 0 };
  const shown = speakingIn('en', () => written(serviceBody({ ...health, running: false }, NOW)));
  expect(shown).toContain('Start the service.');
  expect(shown).toContain('relay: events still to read: at least 10,000');
  expect(shown).toContain('has waited for 1 min.');
});

test('what a person has to look after stands as a problem each', () => {
  const followers = [
    { name: 'relay', position: 'start', behind: 0, atLeast: true, problem: 'another log' },
  ] as const;
  const deliveriesWaiting = { webhooks: 0, oldestSince: null };
  const health = { running: true, followers, deliveriesWaiting, idleRoles: ['relay'], quarantined: 2 };
  const shown = speakingIn('en', () => written(serviceBody(health, NOW)));
  expect([...shown.matchAll(/<p class="problem">([^<]*)</g)].map(([, said]) => said)).toEqual([
    'No process has taken the role relay.',
    'relay cannot follow the log: another log',
    expect.stringContaining('In quarantine: 2.'),
  ]);
  expect(shown).not.toMatch(/All that was recorded|events still to read/);
});

test('what is overdue is summed over its bands, and the worst lead to their operations', () => {
  const bands = [
    { from: 1, to: 30, operations: 2, installments: 3, faceValue: 285_000 },
    { from: 181, to: null, operations: 1, installments: 7, faceValue: 665_000 },
  ];
  const worst = [
    { applicationId: 'acme', code: 'OP 1', fundId: 'a', days: 200, installments: 7, faceValue: 665_000 },
  ];
  const shown = written(overdueBody({ bands, worst }, new Map([['a', 'Aurora']])));
  expect([...shown.matchAll(/<article><small>[^<]*<\/small><p>([^<]*)</g)].map(([, said]) => said)).toEqual([
    '3',
    'R$\u00a09.500,00',
    '200 dias',
  ]);
  expect(shown).toContain('href="/operations/acme/OP%201"');
  expect(shown).toContain('181+');
  const none = speakingIn('en', () => written(overdueBody({ bands: [], worst: [] }, new Map())));
  expect(none).toContain('No active operation is late.');
});

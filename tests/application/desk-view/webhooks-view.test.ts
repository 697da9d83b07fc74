import { describe, expect, test } from '@jest/globals';
import type { App } from '../../../application/app.ts';
import { deskOf } from '../../../application/desk-view/desk-of.ts';
import type { Grant } from '../../../application/desk/rights.ts';

const [A, B] = ['fund-a', 'fund-b'] as const;
const ENDPOINTS = [
  { webhookId: 'of-a', applicationId: 'both', fundIds: [A] },
  { webhookId: 'of-b', applicationId: 'both', fundIds: [B] },
  { webhookId: 'of-both', applicationId: 'both', fundIds: [A, B] },
  { webhookId: 'of-all', applicationId: 'both', fundIds: null },
  { webhookId: 'of-all-of-a', applicationId: 'only-a', fundIds: null },
  { webhookId: 'of-none', applicationId: 'unlinked', fundIds: null },
];
const ANSWER = { attempt: 1, responseStatus: 200, responseBody: '{"name":"Joana Prado"}' };
const delivery = (webhookId: string, fundId: string | null) => ({ webhookId, fundId, attemptLog: [ANSWER] });

const asked: unknown[] = [];
const app = {
  clients: {
    list: async () => [
      { applicationId: 'both', fundIds: [A, B] },
      { applicationId: 'only-a', fundIds: [A] },
      { applicationId: 'unlinked', fundIds: [] },
    ],
    applications: async () => ['both', 'only-a', 'unlinked'],
  },
  webhooks: {
    list: async (of: readonly string[]) =>
      ENDPOINTS.filter(({ applicationId }) => of.includes(applicationId)),
    find: async (_: unknown, id: string) => ENDPOINTS.find(({ webhookId }) => webhookId === id),
    desk: {
      endpoints: async (query: object) => void asked.push(query),
      records: async (...query: readonly unknown[]) => void asked.push(query),
    },
    deliveries: {
      page: async (caller: unknown) => void asked.push(caller),
      event: async (within: unknown) => {
        asked.push(within);
        return { deliveries: [delivery('of-a', A), delivery('of-all', A)] };
      },
    },
  },
} as unknown as App;

const webhooksOf = (...grants: readonly Grant[]) => {
  asked.length = 0;
  return deskOf(app, { issuer: 'i', subject: 's', name: 'n', grants }).webhooks;
};
const query = { choice: 'all', failedFrom: '', limit: 20 } as const;

describe('endpoints of applications with several funds', () => {
  test('are those that are sent nothing of a fund that the person does not see', async () => {
    const webhooks = webhooksOf({ role: 'viewer', funds: [A] });
    const listed = await webhooks.list(['both', 'only-a', 'unlinked']);
    expect(listed.map(({ webhookId }) => webhookId)).toEqual(['of-a', 'of-all-of-a']);
    await expect(webhooks.find('operator', 'of-both')).rejects.toMatchObject({ code: 'webhook_not_found' });
    await webhooks.desk.endpoints(query);
    expect(asked).toEqual([{ ...query, only: ['of-a', 'of-all-of-a'] }]);
    const nothing = webhooksOf({ role: 'viewer', funds: ['fund-c'] });
    expect(await nothing.desk.endpoints(query)).toEqual({ endpoints: [], nextCursor: null });
  });

  test('are counted, and listed, without what they were sent of another fund before', async () => {
    const webhooks = webhooksOf({ role: 'viewer', funds: [A] });
    await webhooks.desk.records(['of-a'], 100);
    await webhooks.deliveries.page('operator', 'of-a', { limit: 50 });
    expect(asked).toEqual([[['of-a'], 100, [A]], { applicationId: 'both', onlyFundIds: [A] }]);
    await expect(webhooks.desk.records(['of-b'], 100)).rejects.toMatchObject({ code: 'webhook_not_found' });
  });

  test('are asked for as ever by who sees every fund', async () => {
    const webhooks = webhooksOf({ role: 'viewer' });
    expect(await webhooks.list(['both'])).toHaveLength(4);
    await webhooks.desk.endpoints(query);
    await webhooks.deliveries.page('operator', 'of-both', { limit: 50 });
    expect(asked).toEqual([query, 'operator']);
  });
});

describe('what a receiver answered', () => {
  const bodiesFor = async (...grants: readonly Grant[]) => {
    const { deliveries } = await webhooksOf(...grants).deliveries.event({ applicationId: 'both' }, 'e');
    return deliveries.map(({ webhookId, attemptLog }) => [webhookId, attemptLog[0]!.responseBody]);
  };

  test('is masked for who may not know borrowers, and there for others', async () => {
    expect(await bodiesFor({ role: 'viewer' })).toEqual([
      ['of-a', '***'],
      ['of-all', '***'],
    ]);
    expect(await bodiesFor({ role: 'checker', funds: [A] })).toEqual([['of-a', ANSWER.responseBody]]);
    expect(asked).toEqual([{ applicationId: 'both', onlyFundIds: [A] }]);
  });
});

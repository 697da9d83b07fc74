import { describe, expect, test } from '@jest/globals';
import { written } from '../../../infrastructure/console/html.ts';
import { speakingIn } from '../../../infrastructure/console/language.ts';
import type { Visit } from '../../../infrastructure/console/page.ts';
import type { App } from '../../../application/app.ts';
import { deliveryView, inLines } from '../../../infrastructure/console/pages/webhooks/page.ts';
import { withQuery } from '../../../infrastructure/console/paths.ts';
import { redeliver, redeliveryForm } from '../../../infrastructure/console/pages/webhooks/endpoint.ts';
import { boundedCount } from '../../../infrastructure/console/pages/webhooks/endpoints.ts';

const ATTEMPT = {
  ...{ attempt: 1, at: '2026-01-15T11:59:00.000Z', durationMs: 9_999.35 },
  ...{ responseStatus: 200, error: null, responseBody: null },
};

const NO_TIME = { createdAt: ATTEMPT.at, deliveredAt: null, nextAttemptAt: null };

describe('the webhook pages', () => {
  test('break a body into lines and leave its numbers as they were signed', () => {
    expect(inLines('{"amount":950.00,"list":[1]}')).toBe(
      '{\n  "amount": 950.00,\n  "list": [\n    1\n  ]\n}',
    );
    expect(inLines('not JSON')).toBe('not JSON');
  });

  test('name what is not counted further', () => {
    expect([boundedCount(999), boundedCount(1_000)]).toEqual(['999', '1.000+']);
  });

  test('show an attempt that was asked for until it is there', async () => {
    const delivery = { webhookId: 'w', attempts: 1, attemptLog: [ATTEMPT], code: null, ...NO_TIME };
    const log = { event: 'loan_received', deliveries: [delivery] };
    const webhooks = {
      find: async () => ({ webhookId: 'w', applicationId: 'a', url: 'https://a.example', status: 'active' }),
      deliveries: {
        event: async () => ({ ...log, body: '{}' }),
        waiting: async (_: unknown, some: readonly object[]) =>
          some.map((one) => ({ ...one, waitsFor: null })),
      },
    };
    const shown = async (address: string): Promise<string> => {
      const visit = { params: { webhook: 'w', event: 'e' }, query: new URLSearchParams(address) };
      const view = () => deliveryView(visit as unknown as Visit, { webhooks } as unknown as App);
      return written(await speakingIn('en', view));
    };
    const asked = 'asked=2026-01-15T12:00:05.000Z';
    const waiting = await shown(`attempt=2&${asked}`);
    expect(waiting).toMatch(
      /hx-trigger="every 2s".*>2<.*15\/01\/2026, 09:00:05.*Asked for here at this time/s,
    );
    for (const there of [`attempt=1&${asked}`, '', 'attempt=x', 'attempt=2&asked=never'])
      expect(await shown(there)).not.toContain('Asked for here');
  });

  test('show a moment that is none as it was typed, and say so beside it', async () => {
    const webhook = { webhookId: 'w', status: 'active', fundIds: null, failingSince: ATTEMPT.at };
    const app = { webhooks: { find: async () => webhook } } as unknown as App;
    const visit = { params: { webhook: 'w' }, fields: new URLSearchParams({ since: '31/02/2026 "8h"' }) };
    const answer = await redeliver(visit as unknown as Visit, app);
    const { searchParams: query } = new URL((answer as { to: string }).to, 'http://console');
    const form = async (of: URLSearchParams): Promise<string> => {
      const view = () => redeliveryForm({ ...visit, query: of } as unknown as Visit, app);
      return written(await speakingIn('en', view));
    };
    const said = await form(query);
    expect(said).toContain('value="31/02/2026 &quot;8h&quot;" required aria-invalid="true"');
    expect(said).toContain('Since when? Write a day and a time that exist');
    expect(await form(new URLSearchParams())).not.toMatch(/aria-invalid|Since when/);
  });

  test('put into an address only what is given', () => {
    expect(withQuery('/webhooks', {})).toBe('/webhooks');
    expect(withQuery('/webhooks', { show: 'failing', after: undefined })).toBe('/webhooks?show=failing');
  });
});

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import type { ClientCredentials } from '../support/api-client.ts';
import type { ServedDescription } from '../support/http-description.ts';
import { RunningService } from '../support/running-service.ts';
import { trustedReceiver } from '../support/trusted-receiver.ts';
import type { TrustedReceiver } from '../support/trusted-receiver.ts';
import type { WebhookReceiver } from '../support/webhook-receiver.ts';
import { within } from '../support/within.ts';

type Json = ReturnType<typeof JSON.parse>;

const PATIENCE_MS = 60_000;
const SINCE = '2020-01-01T00:00:00Z';
const CODES = ['A', 'B', 'C'];

let trusted: TrustedReceiver;
let receiver: WebhookReceiver;
let service: RunningService;
let api: ApiClient;

beforeAll(async () => {
  trusted = await trustedReceiver();
  ({ receiver } = trusted);
  service = await RunningService.start({
    ...trusted.settings,
    WEBHOOK_RETRY_SCHEDULE: '20ms',
  });
  api = await service.client();
}, PATIENCE_MS);
afterAll(async () => {
  await service?.stop();
  await trusted?.close();
});

const subscribe = async (): Promise<string> =>
  (await api.call('POST', '/webhook', { url: receiver.url, events: ['*'] })).body.webhook_id;

const deliveries = async (webhookId: string): Promise<Json[]> =>
  (await api.call('GET', `/webhook/${webhookId}/deliveries?limit=200`)).body.data;

const redeliver = (webhookId: string, body: object) =>
  api.call('POST', `/webhook/${webhookId}/redeliver`, body);

const ended = async (webhookId: string, id: string): Promise<Json> => {
  const read = async () => (await api.call('GET', `/webhook/${webhookId}/redeliver/${id}`)).body;
  await within('the end of the redelivery', PATIENCE_MS, async () => (await read()).status !== 'running');
  return read();
};

describe('a receiver that was away', () => {
  test(
    'gets with one request all that it missed, every operation in order, and reads how far that is',
    async () => {
      receiver.respond = () => 400;
      const webhookId = await subscribe();
      for (const code of CODES) await api.assign(loanRequest(api.fund, code, 2));
      for (const code of CODES) await api.untilStatus(code, 'active');
      for (const code of CODES) await api.settle(code, '001', 950);
      const missed = async () => {
        const all = await deliveries(webhookId);
        const settled = all.filter(({ event }) => event === 'installment_settled');
        return settled.length === CODES.length && all.every(({ status }) => status === 'failed');
      };
      await within('every delivery given up', PATIENCE_MS, missed);
      const lost = await deliveries(webhookId);
      receiver.arrivals.splice(0);
      receiver.respond = () => 200;
      const { status, body } = await redeliver(webhookId, { since: SINCE });
      expect([status, body]).toEqual([
        202,
        {
          ...{ redelivery_id: expect.any(String), webhook_id: webhookId, status: expect.any(String) },
          ...{ since: '2020-01-01T00:00:00.000Z', until: body.created_at, queued: lost.length },
          ...{ gone: 0, delivered: expect.any(Number), failed: 0, created_at: expect.any(String) },
          // A busy machine may have sent some by now.
          completed_at: body.status === 'running' ? null : expect.any(String),
        },
      ]);
      expect(await ended(webhookId, body.redelivery_id)).toEqual({
        ...body,
        ...{ status: 'completed', delivered: lost.length, completed_at: expect.any(String) },
      });
      expect(receiver.arrivals.map(({ eventId }) => eventId).sort()).toEqual(
        lost.map(({ event_id: id }) => id).sort(),
      );
      for (const code of CODES) {
        const of = receiver.arrivals.filter(({ body: { originator_proposal_code: one } }) => one === code);
        const sequences = of.map(({ body: { sequence } }) => sequence);
        expect(sequences).toEqual(sequences.toSorted((one, other) => one - other));
      }
      const after = await deliveries(webhookId);
      expect(
        after.every((one) => one.status === 'delivered' && one.attempts === one.attempt_log.length),
      ).toBe(true);
      const again = (await redeliver(webhookId, { since: SINCE })).body;
      expect(again).toMatchObject({ status: 'completed', queued: 0, completed_at: expect.any(String) });
      const any = (await redeliver(webhookId, { since: SINCE, status: 'any', until: body.until })).body;
      expect(await ended(webhookId, any.redelivery_id)).toMatchObject({
        queued: lost.length,
        delivered: lost.length,
      });
    },
    3 * PATIENCE_MS,
  );

  test(
    'is told why not: paused, running, cancelled, of nobody, or in a span that is none',
    async () => {
      receiver.respond = () => 400;
      const webhookId = await subscribe();
      await api.assign(loanRequest(api.fund, 'D', 2));
      await within('a delivery given up', PATIENCE_MS, async () => {
        const all = await deliveries(webhookId);
        return all.length > 0 && all.every(({ status }) => status === 'failed');
      });
      const refused = async (body: object, id = webhookId): Promise<Json[]> => {
        const answer = await redeliver(id, body);
        const { error_code: code, details = [] } = answer.body;
        return [answer.status, code, ...details.map(({ field }: Json) => field)];
      };
      expect(await refused({})).toEqual([400, 'validation_error', 'since']);
      expect(await refused({ since: 'today' })).toEqual([400, 'validation_error', 'since']);
      expect(await refused({ since: '2020-01-01T00:00:60Z' })).toEqual([400, 'validation_error', 'since']);
      expect(await refused({ since: SINCE, until: SINCE })).toEqual([400, 'validation_error', 'until']);
      expect(await refused({ since: '9999-01-01T00:00:00Z' })).toEqual([400, 'validation_error', 'since']);
      expect(await refused({ since: SINCE, status: 'pending' })).toEqual([400, 'validation_error', 'status']);
      expect(await refused({ since: SINCE }, randomUUID())).toEqual([404, 'webhook_not_found']);
      expect(await refused({ since: SINCE }, '%00')).toEqual([404, 'webhook_not_found']);
      const stranger = await service.client();
      const foreign = await stranger.call('POST', `/webhook/${webhookId}/redeliver`, { since: SINCE });
      expect([foreign.status, foreign.body.error_code]).toEqual([404, 'webhook_not_found']);
      await api.call('POST', `/webhook/${webhookId}/pause`);
      expect(await refused({ since: SINCE })).toEqual([422, 'webhook_invalid_state']);
      await api.call('POST', `/webhook/${webhookId}/resume`);
      const { body } = await redeliver(webhookId, { since: SINCE, until: null, status: null });
      const answers = [
        await redeliver(webhookId, { since: SINCE }),
        await redeliver(webhookId, { since: SINCE }),
      ];
      for (const answer of answers.filter(({ status }) => status !== 202)) {
        expect([answer.status, answer.body.error_code]).toEqual([409, 'redelivery_running']);
        expect(answer.body.details).toMatchObject([{ field: 'redelivery_id' }]);
      }
      await api.call('DELETE', `/webhook/${webhookId}`);
      expect(await refused({ since: SINCE })).toEqual([404, 'webhook_not_found']);
      const read = await api.call('GET', `/webhook/${webhookId}/redeliver/${body.redelivery_id}`);
      expect([read.status, ['cancelled', 'completed'].includes(read.body.status)]).toEqual([200, true]);
      const others = [
        await stranger.call('GET', `/webhook/${webhookId}/redeliver/${body.redelivery_id}`),
        await api.call('GET', `/webhook/${webhookId}/redeliver/${randomUUID()}`),
      ];
      expect(others.map((one) => one.body.error_code)).toEqual(['webhook_not_found', 'webhook_not_found']);
      const unknown = await api.call('GET', `/webhook/${await subscribe()}/redeliver/${body.redelivery_id}`);
      expect([unknown.status, unknown.body.error_code]).toEqual([404, 'not_found']);
    },
    3 * PATIENCE_MS,
  );
});

describe('by the feed', () => {
  const [WRITERS, OPERATIONS_EACH, INSTALLMENTS] = [8, 3, 4];

  let description: ServedDescription;
  beforeAll(async () => {
    description = await service.description();
    // The first page waits for all that is in the log by then, whatever stands last.
    await service.service.parts.funds.name({ fundId: randomUUID(), name: 'First', operator: 'Ana' });
  }, 240_000);

  interface Page {
    readonly text: string;
    readonly data: readonly Record<string, string>[];
    readonly next_after: string | null;
    readonly has_more: boolean;
  }

  /** An integrator, and the pages that it reads as they come over the wire, held against what is described. */
  const integrator = async (credentials: ClientCredentials) => {
    const client = new ApiClient(service.baseUrl, credentials);
    const ask = async (query: string) => {
      const headers = { authorization: `Bearer ${await client.token()}` };
      const response = await fetch(`${service.baseUrl}/event?${query}`, { headers });
      const answer = { method: 'GET', path: '/event', status: response.status, headers: response.headers };
      const text = await response.text();
      expect(description.discrepancies({ ...answer, text })).toEqual([]);
      return { ...answer, text };
    };
    /** Again where a busy machine is too far behind, as an integrator does. */
    const page = async (query = ''): Promise<Page> => {
      const { status, text } = await ask(query);
      if (status === 503) return page(query);
      expect([status, text]).toEqual([200, text]);
      return { text, ...(JSON.parse(text) as Omit<Page, 'text'>) };
    };
    /** From there on, until there is no more for now. */
    const rest = async (query: string, from: string | null = null) => {
      const data: Page['data'][number][] = [];
      for (let after = from; ;) {
        const one = await page(`${query}${after === null ? '' : `&after=${after}`}`);
        data.push(...one.data);
        after = one.next_after;
        if (!one.has_more) return { data, after };
      }
    };
    return { client, ask, page, rest };
  };

  const credentialsOf = async (input: object): Promise<ClientCredentials> => {
    const created = await service.service.parts.clients.create({
      ...{ name: 'test', fundIds: [], rateLimitMultiplier: 1_000 },
      ...input,
    });
    return {
      ...{ client_id: created.clientId, client_secret: created.clientSecret },
      ...{ application_id: created.applicationId, fund_ids: created.fundIds },
    };
  };

  /** As `receivables events` prints them. */
  const printed = async (applicationId: string): Promise<readonly string[]> => {
    const bodies: string[] = [];
    const query = { applicationId, follow: false };
    for await (const { event } of service.service.parts.publication.stream(
      query,
      new AbortController().signal,
    ))
      bodies.push(event.body);
    return bodies;
  };

  const idOf = (body: string): string => (JSON.parse(body) as { event_id: string }).event_id;

  describe('the feed', () => {
    test('is there where the log ends with what no row tells of', async () => {
      const { ask } = await integrator(await credentialsOf({ fundIds: [randomUUID()] }));
      const { status, text } = await ask('');
      expect([status, JSON.parse(text)]).toEqual([200, { data: [], next_after: null, has_more: false }]);
    }, 240_000);

    test('eight writers and a reader by pages of seven: it sees what is printed, and each write that was answered', async () => {
      const credentials = await credentialsOf({ fundIds: [randomUUID()] });
      const { client, rest } = await integrator(credentials);
      const seen: string[] = [];
      let [after, writing]: [string | null, boolean] = [null, true];
      const readOn = async (): Promise<void> => {
        const { data, after: next } = await rest('limit=7', after);
        seen.push(...data.map(({ event_id: id }) => id!));
        after = next;
      };
      const reader = (async () => {
        while (writing) await readOn();
      })();
      const missing: string[] = [];
      const writer = async (n: number): Promise<void> => {
        let mark: string | null = null;
        for (let i = 0; i < OPERATIONS_EACH; i++) {
          const code = `W${n}-${i}`;
          const assigned = await client.assign(loanRequest(client.fund, code, INSTALLMENTS));
          expect(assigned.status).toBe(201);
          await client.untilStatus(code, 'active');
          for (let k = 1; k <= INSTALLMENTS; k++) {
            const installment = String(k).padStart(3, '0');
            expect((await client.settle(code, installment, 950)).status).toBe(200);
            const { data, after: next } = await rest(`originator_proposal_code=${code}&limit=7`, mark);
            const has = data.some((one) => one['installment_code'] === installment);
            if (!has) missing.push(`${code} ${installment}`);
            mark = next;
          }
        }
      };
      await Promise.all(Array.from({ length: WRITERS }, (_, n) => writer(n)));
      writing = false;
      await reader;
      await readOn();
      const all = await printed(credentials.application_id);
      expect(missing).toEqual([]);
      expect(all.length).toBeGreaterThanOrEqual(WRITERS * OPERATIONS_EACH * (INSTALLMENTS + 5));
      expect(seen).toEqual(all.map(idOf));
    }, 240_000);

    test('bodies are those that webhooks carry, byte for byte; pings are none of them', async () => {
      const credentials = await credentialsOf({ fundIds: [randomUUID()] });
      const { client, ask, page } = await integrator(credentials);
      const before = await client.assign(loanRequest(client.fund, 'EARLY', 2));
      expect(before.status).toBe(201);
      await client.untilStatus('EARLY', 'active');
      const hook = { url: 'https://127.0.0.1:9/hooks', events: ['*'] };
      const { webhook_id: id } = (await client.call('POST', '/webhook', hook)).body;
      const pinged = await client.call('POST', `/webhook/${id}/ping`);
      expect(pinged.status).toBe(202);
      expect((await client.settle('EARLY', '001', 900.5)).status).toBe(200);
      const { text, data, next_after: last } = await page('limit=200');
      const bodies = await printed(credentials.application_id);
      expect(text).toBe(
        `{"data":[${bodies.join()}],"next_after":"${idOf(bodies.at(-1)!)}","has_more":false}`,
      );
      for (const one of data) {
        const followed = await client.call('GET', `/webhook/event/${one['event_id']}`);
        expect(text).toContain(followed.body.body);
      }
      expect(data.map(({ event }) => event)).toEqual([
        ...['loan_received', 'loan_approved', 'loan_term_signed', 'disbursement_completed'],
        ...['installment_settled', 'installment_underpaid'],
      ]);
      for (const after of [pinged.body.event_id, randomUUID()]) {
        const refused = await ask(`after=${after}`);
        expect([refused.status, JSON.parse(refused.text)]).toMatchObject([
          400,
          { error_code: 'invalid_query_parameter', details: [{ field: 'after' }] },
        ]);
      }
      expect(await page(`after=${last!.toUpperCase()}`)).toMatchObject({ data: [], next_after: last });
      expect(text).not.toContain('position');
    }, 240_000);

    test('an event whose data is broken on the disk is 503 for its application alone, and what comes before it is there', async () => {
      const [own, other] = [
        await credentialsOf({ fundIds: [randomUUID()] }),
        await credentialsOf({ fundIds: [randomUUID()] }),
      ];
      const [one, another] = [await integrator(own), await integrator(other)];
      for (const { client } of [one, another]) {
        expect((await client.assign(loanRequest(client.fund, 'A', 1))).status).toBe(201);
        await client.untilStatus('A', 'active');
      }
      const [first, broken] = (await printed(own.application_id)).map(idOf);
      const { dataDir } = service.service.parts.configuration;
      const log = new DatabaseSync(join(dataDir, 'events.db'), { timeout: 30_000 });
      log.exec('drop trigger events_never_change');
      log.prepare(`update events set data = '{}' where id = ?`).run(broken!);
      log.close();
      expect(await one.page('limit=200')).toMatchObject({
        ...{ data: [{ event_id: first }], next_after: first, has_more: true },
      });
      for (const after of [first, broken]) {
        const stopped = await one.ask(`after=${after}`);
        expect([stopped.status, stopped.headers.get('retry-after')]).toEqual([503, '60']);
        expect(JSON.parse(stopped.text)).toMatchObject({
          error_code: 'service_unavailable',
          retryable: true,
        });
      }
      expect((await another.rest('limit=1')).data).toHaveLength(4);
    }, 240_000);

    test('what is left out by a filter is passed all the same', async () => {
      const [one, other] = [randomUUID(), randomUUID()];
      const credentials = await credentialsOf({ fundIds: [one, other] });
      const { client, page, ask } = await integrator(credentials);
      expect(await page()).toMatchObject({ data: [], next_after: null, has_more: false });
      for (const [fund, code] of [
        [one, 'A'],
        [other, 'B'],
      ] as const) {
        await client.assign(loanRequest(fund, code, 2));
        await client.untilStatus(code, 'active');
      }
      const all = await printed(credentials.application_id);
      const last = idOf(all.at(-1)!);
      const filtered = await page(`fund_id=${one.toUpperCase()}&event=loan_received,loan_approved`);
      expect(filtered.data.map(({ event, originator_proposal_code: code }) => [event, code])).toEqual([
        ['loan_received', 'A'],
        ['loan_approved', 'A'],
      ]);
      expect(filtered).toMatchObject({ next_after: last, has_more: false });
      expect(await page('originator_proposal_code=NONE')).toMatchObject({ data: [], next_after: last });
      expect(await page(`fund_id=${randomUUID()}`)).toMatchObject({ data: [], next_after: last });
      for (const wrong of ['limit=0', 'limit=201', 'after=1', 'event=webhook.ping', 'fund_id=1', 'cursor=a'])
        expect((await ask(wrong)).status).toBe(400);

      const limited = await integrator(
        await credentialsOf({ applicationId: credentials.application_id, onlyFundIds: [one] }),
      );
      const own = await limited.rest('limit=1');
      expect(new Set(own.data.map(({ fund_id: fund }) => fund))).toEqual(new Set([one]));
      expect(own.data).toHaveLength(4);
      expect(own.after).toBe(own.data.at(-1)!['event_id']);
      expect(await limited.page(`fund_id=${other}`)).toMatchObject({ data: [], next_after: own.after });
      expect((await limited.ask(`after=${last}`)).status).toBe(400);
    }, 240_000);
  });
});

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import type { ServedDescription } from '../support/http-description.ts';
import { RunningService } from '../support/running-service.ts';
import type { ClientCredentials } from '../support/service-process.ts';

const [WRITERS, OPERATIONS_EACH, INSTALLMENTS] = [8, 3, 4];

let service: RunningService;
let description: ServedDescription;
beforeAll(async () => {
  service = await RunningService.start({ WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' });
  description = await service.description();
  // The first page waits for all that is in the log by then, whatever stands last.
  await service.service.parts.app.funds.name({ fundId: randomUUID(), name: 'First', operator: 'Ana' });
}, 240_000);
afterAll(() => service?.stop());

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
  const created = await service.service.parts.app.clients.create({
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
  for await (const { event } of service.service.parts.publication.stream(query, new AbortController().signal))
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
    expect(text).toBe(`{"data":[${bodies.join()}],"next_after":"${idOf(bodies.at(-1)!)}","has_more":false}`);
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
      expect(JSON.parse(stopped.text)).toMatchObject({ error_code: 'service_unavailable', retryable: true });
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

import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loanRequest } from '../support/api-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { authority } from '../support/certificates.ts';
import { RunningService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';
import { within } from '../support/within.ts';

type Json = ReturnType<typeof JSON.parse>;

const PATIENCE_MS = 60_000;
const SINCE = '2020-01-01T00:00:00Z';
const CODES = ['A', 'B', 'C'];

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let receiver: WebhookReceiver;
let service: RunningService;
let api: ApiClient;

beforeAll(async () => {
  directory = await temporaryDirectory();
  const ca = await authority();
  const caFile = join(directory.path, 'ca.pem');
  await writeFile(caFile, ca.caPem);
  receiver = await WebhookReceiver.start(ca);
  service = await RunningService.start({
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
    WEBHOOK_CA_FILE: caFile,
    WEBHOOK_RETRY_SCHEDULE: '20ms',
  });
  api = await service.client(randomUUID());
}, PATIENCE_MS);
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
  await directory?.remove();
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
      const stranger = await service.client(randomUUID());
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

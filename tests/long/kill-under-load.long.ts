import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiClient } from '../support/api-client.ts';
import { FeedFollower, wholeFeed } from '../support/feed-follower.ts';
import { InsistentWriters, eventsOfWholeLife } from '../support/insistent-writers.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { trustedReceiver } from '../support/trusted-receiver.ts';
import type { TrustedReceiver } from '../support/trusted-receiver.ts';
import { signatureHolds } from '../support/webhook-receiver.ts';

const KILLS = Number(process.env['KILLS'] ?? 100);
const ACKNOWLEDGED_BETWEEN_KILLS = 25;
const WRITERS = 6;
const INSTALLMENTS = 3;

let service: ServiceProcess;
let trusted: TrustedReceiver;

beforeAll(async () => {
  trusted = await trustedReceiver();
  service = await ServiceProcess.alone({
    SANDBOX_STEP: '10ms',
    ...trusted.settings,
    WEBHOOK_RETRY_SCHEDULE: ['100ms,200ms,500ms', ...Array.from({ length: 30 }, () => '1s')].join(','),
  });
}, 300_000);

afterAll(async () => {
  await service?.leave('SIGKILL');
  await trusted?.close();
});

describe('kill -9 under load', () => {
  test(
    'loses no acknowledged write, no webhook and no event of the feed, and keeps the order of every operation',
    async () => {
      const api = new ApiClient(service.baseUrl, await service.createClient(randomUUID()));
      const { receiver } = trusted;
      const hook = await api.call('POST', '/webhook', { url: receiver.url, events: ['*'] });
      expect(hook.status).toBe(200);

      const writers = new InsistentWriters(api, {
        writers: WRITERS,
        installments: INSTALLMENTS,
        prefix: 'K',
      });
      const follower = new FeedFollower(api);
      for (let kill = 0; kill < KILLS; kill++) {
        await writers.untilAcknowledged(ACKNOWLEDGED_BETWEEN_KILLS);
        await service.end('SIGKILL');
        await service.start();
      }
      await writers.stop();
      await follower.stop();
      const { finished } = writers;

      const expected = eventsOfWholeLife(INSTALLMENTS);
      for (const code of finished) expect((await api.readable(code)).body.status).toBe('settled');
      const all = () => finished.every((code) => receiver.eventsOf(code).length >= expected.length);
      await receiver.until(all, 'webhooks of every finished operation', 180_000);
      for (const code of finished) expect(receiver.eventsOf(code)).toEqual(expected);
      for (const code of finished) expect(follower.eventsOf(code)).toEqual(expected);
      expect(await wholeFeed(api)).toEqual(follower.ids);
      expect(receiver.arrivals.every((a) => signatureHolds(a, hook.body.signing_secret as string))).toBe(
        true,
      );
      expect(finished.length).toBeGreaterThan(KILLS);
    },
    180_000 + KILLS * 18_000,
  );
});

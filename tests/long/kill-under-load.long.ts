import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pause } from '../../infrastructure/support/time.ts';
import { FeedFollower, wholeFeed } from '../support/feed-follower.ts';
import { InsistentWriters, eventsOfWholeLife } from '../support/insistent-writers.ts';
import { MoodyReceiver } from '../support/moody-receiver.ts';
import { Random } from '../support/random.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { trustedReceiver } from '../support/trusted-receiver.ts';
import type { TrustedReceiver } from '../support/trusted-receiver.ts';
import { within } from '../support/within.ts';

const KILLS = Number(process.env['KILLS'] ?? 100);
const SEED = Number(process.env['SEED'] ?? 20_261_121);
const WRITERS = 6;
const INSTALLMENTS = 3;
const ACKNOWLEDGED_BETWEEN_KILLS = 20;
const TIMEOUT_MS = 500;
const EVENTS = eventsOfWholeLife(INSTALLMENTS);

const random = new Random(SEED);

let service: ServiceProcess;
let trusted: TrustedReceiver<MoodyReceiver>;

beforeAll(async () => {
  trusted = await trustedReceiver((ca) => MoodyReceiver.start(ca, random, TIMEOUT_MS));
  service = await ServiceProcess.start(temporaryDirectory(), {
    SANDBOX_STEP: '10ms',
    ...trusted.settings,
    WEBHOOK_TIMEOUT: `${TIMEOUT_MS}ms`,
    // So many, and so long, that no delivery is given up, also while this machine is too busy to answer in time.
    WEBHOOK_RETRY_SCHEDULE: [
      ...Array.from({ length: 15 }, () => '100ms'),
      ...Array.from({ length: 60 }, () => '1s'),
    ].join(','),
  });
}, 300_000);

afterAll(async () => {
  await service?.end('SIGKILL');
  await trusted?.close();
});

test(
  `${KILLS} kills and a moody receiver: no acknowledged write, webhook or event of the feed is lost, and each operation keeps its order (seed ${SEED})`,
  async () => {
    const api = await service.client();
    const { receiver } = trusted;
    const hook = await api.call('POST', '/webhook', { url: receiver.url, events: ['*'] });
    expect(hook.status).toBe(200);
    const writers = new InsistentWriters(api, { writers: WRITERS, installments: INSTALLMENTS, prefix: 'K' });
    const follower = new FeedFollower(api);
    for (let kill = 0; kill < KILLS; kill++) {
      await writers.untilAcknowledged(ACKNOWLEDGED_BETWEEN_KILLS);
      await pause(random.next() * 100);
      await service.end('SIGKILL');
      await service.start();
    }
    await writers.stop();
    await follower.stop();
    const { acknowledged, finished } = writers;
    for (const code of finished) expect((await api.readable(code)).body.status).toBe('settled');
    receiver.calmDown();
    await within('webhooks of every finished operation', 240_000, () => {
      const events = receiver.eventsByCode();
      return finished.every((code) => (events.get(code)?.length ?? 0) >= EVENTS.length);
    });
    const told = receiver.eventsByCode();
    for (const code of finished)
      expect([code, told.get(code), follower.eventsOf(code)]).toEqual([code, EVENTS, EVENTS]);
    expect(await wholeFeed(api)).toEqual(follower.ids);
    // The same id never comes with other bytes, nor the same event under a second id.
    expect(receiver.contradictions).toEqual([]);
    expect(Object.values(receiver.trouble).every((times) => times > 0)).toBe(true);
    expect(finished.length).toBeGreaterThan(KILLS);
    console.log(
      `${KILLS} kills, ${acknowledged} acknowledged writes, ${finished.length} operations, ${receiver.acceptedPosts} accepted posts, ` +
        `of them ${receiver.acceptedPosts - receiver.distinctEvents} repetitions; trouble ${JSON.stringify(receiver.trouble)}`,
    );
  },
  300_000 + KILLS * 20_000,
);

import { afterAll, expect, test } from '@jest/globals';
import { pause } from '../../../../infrastructure/support/time.ts';
import type { DeliveryQueue } from '../../../../application/webhooks/queue/delivery-queue.ts';
import { openServiceDatabase } from '../../../support/sql/temporary-database.ts';
import { DOWN, DispatchWorld, NEVER, OK, REFUSED } from '../support/dispatch-world.ts';
import type { SentRequest } from '../support/dispatch-world.ts';

const LANES = 12;
const EVENTS_A_LANE = 8;
const WORKERS = 3;
const KILLS = 15;
const SETTINGS = {
  schedule: Array<number>(15).fill(3),
  timeoutMs: 150,
  leaseMs: 300,
  slots: 8,
  slotsForFirstAttempts: 2,
  slotsPerEndpoint: 6,
  lookEveryMs: 20,
  breaker: { failures: 6, firstPauseMs: 3, longestPauseMs: 10 },
};

/** mulberry32: the same seed tells the same story. */
const random = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};

/** What the receivers saw, and every breach of order in it. */
class Witness {
  readonly accepted = new Map<string, string[]>();
  readonly breaches: string[] = [];

  receives({ url, eventId, body }: SentRequest, accepts: boolean): void {
    const [code, sequence] = eventId.split('#') as [string, string];
    const lane = `${url} ${code}`;
    const before = this.accepted.get(lane) ?? [];
    const next = new Set(before).size;
    if (Number(sequence) > next) this.breaches.push(`${lane}: ${sequence} came before ${next} was accepted`);
    if (body !== eventId) this.breaches.push(`${lane}: other bytes`);
    if (accepts) this.accepted.set(lane, [...before, eventId]);
  }
}

const store = await openServiceDatabase();
afterAll(() => store.close());

test.each([1, 2, 3])(
  'receivers that fail and workers that die at any moment never see a lane out of order, and miss nothing (story %i)',
  async (seed) => {
    const chance = random(seed);
    const world = new DispatchWorld(store.database);
    const witness = new Witness();
    const urls = ['https://a.example/', 'https://b.example/'];
    const webhooks = await Promise.all(urls.map((url) => world.subscribe(url)));

    let recorded = Promise.withResolvers<void>();
    const record: DeliveryQueue['record'] = async (...args) => {
      const result = await world.queue.record(...args);
      recorded.resolve();
      recorded = Promise.withResolvers();
      return result;
    };

    const hire = () => {
      const life = { alive: true };
      /** What a dead process asks for is never done, and what was done for it is never heard of. */
      const mortal = async <T>(call: () => Promise<T>): Promise<T> => {
        if (!life.alive) return NEVER as Promise<never>;
        const result = await call();
        return life.alive ? result : (NEVER as Promise<never>);
      };
      const queue: Partial<DeliveryQueue> = {
        lease: (...args) => mortal(() => world.queue.lease(...args)),
        record: (...args) => mortal(() => record(...args)),
        release: (...args) => mortal(() => world.queue.release(...args)),
        schedules: () => mortal(() => world.schedules()),
      };
      const { dispatcher, sender } = world.worker({ settings: SETTINGS, queue });
      sender.respond = async (request) => {
        await pause(chance() * 4);
        if (!life.alive) return NEVER;
        const fate = chance();
        if (fate < 0.15) return DOWN;
        witness.receives(request, fate >= 0.3);
        await pause(chance() * 4);
        return fate < 0.3 ? REFUSED : OK;
      };
      dispatcher.start();
      return { life, dispatcher };
    };

    const workers = Array.from({ length: WORKERS }, hire);
    const events = Array.from({ length: LANES * EVENTS_A_LANE }, (_, i) => world.event(`OP-${i % LANES}`));
    const queueing = (async () => {
      for (let at = 0; at < events.length; at += 8) {
        for (const webhookId of webhooks) await world.enqueue(webhookId, events.slice(at, at + 8));
        workers[Math.floor(chance() * WORKERS)]!.dispatcher.wake(webhooks);
        await pause(chance() * 10);
      }
    })();
    for (let kill = 0; kill < KILLS; kill++) {
      await pause(chance() * 30);
      const victim = Math.floor(chance() * WORKERS);
      workers[victim]!.life.alive = false;
      workers[victim] = hire();
    }
    await queueing;
    const unsettled = async (): Promise<number> => {
      const waiting = webhooks.flatMap((id) => [world.records(id, 'pending'), world.records(id, 'retrying')]);
      return (await Promise.all(waiting)).flat().length;
    };
    // However long it takes: nothing is settled but by a result.
    for (let next = recorded.promise; (await unsettled()) > 0; next = recorded.promise) await next;

    expect(witness.breaches).toEqual([]);
    for (const webhookId of webhooks) expect(await world.records(webhookId, 'failed')).toEqual([]);
    for (const url of urls) {
      for (let lane = 0; lane < LANES; lane++) {
        const seen = [...new Set(witness.accepted.get(`${url} OP-${lane}`))];
        expect(seen).toEqual(
          Array.from({ length: EVENTS_A_LANE }, (_, sequence) => `OP-${lane}#${sequence}`),
        );
      }
    }
    await world.close();
  },
);

import { MovableClock } from '../../../application/maintenance/sandbox/sandbox-clock.ts';
import { describe, expect, jest, test } from '@jest/globals';
import type {
  EventSubscription,
  LogPosition,
  RecordedEvent,
  SubscribeOptions,
} from '../../../application/ports/event-store.ts';
import { ServiceMetrics } from '../../../infrastructure/observability/service-metrics.ts';

const MINUTE_MS = 60_000;
const event = (position: number, ageMs: number): RecordedEvent =>
  ({
    position: String(position) as LogPosition,
    metadata: { recordedAt: new Date(Date.now() - ageMs).toISOString() },
  }) as RecordedEvent;

/** A log whose subscriptions hand out what is there, one event a message, and then wait for the signal. */
const logOf = (events: RecordedEvent[]): EventSubscription => ({
  async *subscribe({ from, signal }: SubscribeOptions) {
    for (const one of events)
      if (from === 'start' || Number(one.position) > Number(from))
        yield { kind: 'events', events: [one], checkpoint: one.position };
    yield { kind: 'caught_up' };
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  },
});

const watching = (events: RecordedEvent[]) => {
  const { registry, followers } = new ServiceMetrics(undefined, new MovableClock(Date.now));
  const subscription = followers.watch('relay', logOf(events));
  const seconds = async (): Promise<number | undefined> => {
    await followers.refresh();
    const { values } = await registry.getSingleMetric('receivables_follower_lag_seconds')!.get();
    return values[0]?.value;
  };
  return { subscription, seconds };
};

const pauseUntil = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

const stop = new AbortController();
const options = { from: 'start', signal: stop.signal } as const;

describe('the lag of a follower', () => {
  test('is unknown before it follows', async () => {
    expect(await watching([event(1, MINUTE_MS)]).seconds()).toBeUndefined();
  });

  test('is the age of what it has in hand, and nothing once it has come back for all there is', async () => {
    const { subscription, seconds } = watching([event(1, MINUTE_MS)]);
    const messages = subscription.subscribe(options)[Symbol.asyncIterator]();
    await messages.next();
    expect(await seconds()).toBeGreaterThanOrEqual(60);
    expect((await messages.next()).value).toEqual({ kind: 'caught_up' });
    expect(await seconds()).toBe(0);
  });

  test.each([
    ['refuses', () => Promise.reject(new Error('may not read $all'))],
    ['says nothing', (signal: AbortSignal) => pauseUntil(signal)],
  ])('is how long a log that %s has told nothing, instead of no number at all', async (_what, answer) => {
    const { registry, followers } = new ServiceMetrics(undefined, new MovableClock(Date.now));
    const log: EventSubscription = {
      async *subscribe({ signal }) {
        await answer(signal);
      },
    };
    const following = followers.watch('relay', log).subscribe(options)[Symbol.asyncIterator]();
    following.next().catch(() => undefined);
    // The time that a look has is over at once.
    using _ = jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => AbortSignal.abort());
    const lag = async (): Promise<number> => {
      await followers.refresh();
      return (await registry.getSingleMetric('receivables_follower_lag_seconds')!.get()).values[0]!.value;
    };
    const first = await lag();
    expect(await lag()).toBeGreaterThan(first);
  });

  test('goes on when it broke off with an event in hand', async () => {
    const { subscription, seconds } = watching([event(1, MINUTE_MS)]);
    const failing = async (): Promise<void> => {
      for await (const _ of subscription.subscribe(options)) throw new Error('the bus is away');
    };
    await expect(failing()).rejects.toThrow('the bus is away');
    expect(await seconds()).toBeGreaterThanOrEqual(60);
  });

  test('counts what a subscription has not handed out, although it should have', async () => {
    const events = [event(1, 2 * MINUTE_MS)];
    const { subscription, seconds } = watching(events);
    const messages = subscription.subscribe(options)[Symbol.asyncIterator]();
    await messages.next();
    await messages.next();
    events.push(event(2, MINUTE_MS));
    const lag = await seconds();
    expect(lag).toBeGreaterThanOrEqual(60);
    expect(lag).toBeLessThan(120);
  });

  test('is unknown again after an orderly stop: another process may have taken over', async () => {
    const { subscription, seconds } = watching([event(1, MINUTE_MS)]);
    const stopping = new AbortController();
    for await (const _ of subscription.subscribe({ from: 'start', signal: stopping.signal })) {
      stopping.abort();
      break;
    }
    expect(await seconds()).toBeUndefined();
  });
});

import { randomUUID } from 'node:crypto';
import type {
  EventMetadata,
  EventStore,
  EventSubscription,
  EventToAppend,
  JsonText,
  KeyClaim,
  LogPlaces,
  RecordedEvent,
  SubscribeOptions,
  SubscriptionMessage,
} from '../../application/ports/event-store.ts';

export type EventStoreUnderTest = EventStore & EventSubscription & LogPlaces;

/** A promise of the port. It holds on a store that other tests use as well: it looks at streams of its own only. */
export interface EventStoreCase {
  readonly name: string;
  /** @param patienceMs how long to wait for what must happen */
  readonly check: (store: EventStoreUnderTest, patienceMs: number) => Promise<void>;
}

export const newPrefix = (): string => `loan-${randomUUID()}.`;

export const sampleMetadata = (overrides: Partial<EventMetadata> = {}): EventMetadata => ({
  correlationId: randomUUID(),
  causationId: randomUUID(),
  actor: 'originator-1',
  applicationId: 'application-1',
  recordedAt: '2026-01-15T12:00:00.000Z',
  hash: '9f'.repeat(32),
  ...overrides,
});

export const sampleEvent = (data = '{"amount":95000}'): EventToAppend => ({
  id: randomUUID(),
  type: 'loan.received.v1',
  data: data as JsonText,
  metadata: sampleMetadata(),
});

export const sampleEvents = (count: number): readonly EventToAppend[] =>
  Array.from({ length: count }, (_, n) => sampleEvent(`{"n":${n}}`));

export const newClaim = (): KeyClaim => ({
  applicationId: randomUUID(),
  endpoint: 'POST /loan',
  key: 'key-1',
});

export const idsOf = (events: readonly { readonly id: string }[]): readonly string[] =>
  events.map(({ id }) => id);

/** The error that the promise rejects with; undefined when it resolves. */
export const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

export const within = async <Value>(
  promise: Promise<Value>,
  patienceMs: number,
  what: string,
): Promise<Value> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing within ${patienceMs} ms`)), patienceMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
};

type FollowOptions = Omit<SubscribeOptions, 'signal'>;

/** Messages up to and with the first after which `done` holds. The subscription is ended then. */
export const follow = async (
  store: EventSubscription,
  options: FollowOptions,
  patienceMs: number,
  done: (messages: readonly SubscriptionMessage[]) => boolean,
): Promise<readonly SubscriptionMessage[]> => {
  const controller = new AbortController();
  const iterator = store.subscribe({ ...options, signal: controller.signal })[Symbol.asyncIterator]();
  const messages: SubscriptionMessage[] = [];
  try {
    for (;;) {
      const next = await within(
        iterator.next(),
        patienceMs,
        `subscription after ${messages.length} messages`,
      );
      if (next.done) throw new Error(`subscription ended by itself after ${messages.length} messages`);
      messages.push(next.value);
      if (done(messages)) return messages;
    }
  } finally {
    controller.abort();
    void iterator.return?.().catch(() => undefined);
  }
};

export const eventsIn = (
  messages: readonly SubscriptionMessage[],
  prefix: string,
): readonly RecordedEvent[] =>
  messages.flatMap((message) =>
    message.kind === 'events' ? message.events.filter(({ stream }) => stream.startsWith(prefix)) : [],
  );

export const isCaughtUp = (messages: readonly SubscriptionMessage[]): boolean =>
  messages.at(-1)?.kind === 'caught_up';

/** What a new subscriber is handed of the prefix until it has caught up. */
export const catchUp = async (
  store: EventSubscription,
  prefix: string,
  patienceMs: number,
  options: FollowOptions = { from: 'start' },
): Promise<readonly RecordedEvent[]> =>
  eventsIn(await follow(store, options, patienceMs, isCaughtUp), prefix);

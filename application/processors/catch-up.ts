import type { EventSubscription, SubscribeOptions, SubscriptionMessage } from '../ports/event-store.ts';
import type { LogOrder } from '../ports/read-models.ts';
import type { Place } from './processor.ts';
import type { Runner } from './runner.ts';

interface CatchingUp extends Pick<SubscribeOptions, 'batchSize' | 'streamPrefix'> {
  readonly source: EventSubscription;
  readonly order: Pick<LogOrder, 'compare'>;
  /** Between two batches: writers of the same store have their turn. */
  readonly breathe?: () => Promise<void>;
}

type Following = Pick<Runner<never>, 'place' | 'load' | 'take'>;

const behind = (
  message: SubscriptionMessage,
  place: Place,
  { compare }: CatchingUp['order'],
): SubscriptionMessage | undefined => {
  if (message.kind === 'caught_up') return message;
  if (compare(message.checkpoint, place) <= 0) return undefined;
  if (message.kind === 'checkpoint') return message;
  return { ...message, events: message.events.filter(({ position }) => compare(position, place) > 0) };
};

/** False when one of them lost its place to another process. */
const takeIn = async (
  runners: readonly Following[],
  { source, order, breathe, ...reading }: CatchingUp,
  from: Place,
  signal: AbortSignal,
): Promise<boolean> => {
  const messages = source.subscribe({ ...reading, from, signal });
  for await (const message of messages) {
    for (const runner of runners) {
      const rest = behind(message, runner.place, order);
      if (rest && !(await runner.take(rest, signal))) return false;
    }
    if (message.kind === 'caught_up') return true;
    await breathe?.();
  }
  return false;
};

/** From the place that is furthest behind; nothing is tried again. @throws PoisonEventError @throws RefusedWritesError */
export const catchUp = async (
  runners: readonly Following[],
  following: CatchingUp,
  signal: AbortSignal,
): Promise<void> => {
  const { compare } = following.order;
  while (!signal.aborted) {
    const places: Place[] = [];
    for (const runner of runners) places.push(await runner.load());
    const from = places.reduce((one, other) => (compare(one, other) <= 0 ? one : other));
    const ending = new AbortController();
    try {
      if (await takeIn(runners, following, from, AbortSignal.any([signal, ending.signal]))) return;
    } finally {
      ending.abort();
    }
  }
  throw signal.reason;
};

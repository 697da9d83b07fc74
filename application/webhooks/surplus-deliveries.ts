import { loanStream } from '../command-handling/operation.ts';
import { UnreadableEventError } from '../event-codec/fields.ts';
import type { RealClock } from '../ports/clock.ts';
import { BUCKET_CHARACTERS } from './delivery-comparison.ts';
import type {
  ComparedDelivery,
  DeliveryComparison,
  DeliveryDifference,
  KeptDelivery,
} from './delivery-comparison.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Translator } from '../publication/public-events.ts';
import { firstIdAt } from '../support/time-ordered-id.ts';

export interface SurplusDependencies {
  readonly comparison: DeliveryComparison;
  readonly events: Pick<EventStore, 'read'>;
  readonly translator: Translator;
  readonly realClock: RealClock;
}

type Surplus = Omit<DeliveryDifference, 'kind' | 'webhookId' | 'applicationId' | 'repaired'> & {
  readonly kind: Extract<DeliveryDifference['kind'], 'twice' | 'unknown'>;
};

const BUCKET_MS = 16 ** (12 - BUCKET_CHARACTERS);
/** About a day, so that no question keeps the store for long. */
const SLICE_MS = 82 * BUCKET_MS;
const PAGE = 500;
/** Sorts behind every id that begins like the text before it. */
const BEHIND = 'g';

/** Counted by the quarter of an hour; only where the store holds another number are they looked up one by one. */
export class SurplusDeliveries {
  readonly #deps: SurplusDependencies;
  readonly #since: string;
  readonly #met = new Map<string, Map<string, number>>();

  /** @param since made from then on, ISO 8601 UTC */
  constructor(dependencies: SurplusDependencies, since: string) {
    this.#deps = dependencies;
    this.#since = firstIdAt(Math.ceil(Date.parse(since) / BUCKET_MS) * BUCKET_MS);
  }

  meet({ webhookId, deliveryId }: ComparedDelivery): void {
    if (deliveryId < this.#since) return;
    const buckets = this.#met.get(webhookId) ?? new Map<string, number>();
    const bucket = deliveryId.slice(0, BUCKET_CHARACTERS);
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1);
    this.#met.set(webhookId, buckets);
  }

  async *of(webhookId: string, applicationId: string): AsyncGenerator<Surplus> {
    const { comparison, realClock } = this.#deps;
    const met = this.#met.get(webhookId);
    const now = Date.parse(realClock.realNow());
    // Ids may run a little ahead of the clock.
    for (let from = this.#since; from < firstIdAt(now + BUCKET_MS);) {
      const to = firstIdAt(msOf(from) + SLICE_MS);
      for (const { bucket, deliveries } of await comparison.counts(webhookId, from, to))
        if (deliveries !== (met?.get(bucket) ?? 0)) yield* this.#in(bucket, webhookId, applicationId);
      from = to;
    }
  }

  async *#in(bucket: string, webhookId: string, applicationId: string): AsyncGenerator<Surplus> {
    const to = `${bucket}${BEHIND}`;
    for (let after = bucket; ;) {
      const page = await this.#deps.comparison.page(webhookId, { after, to }, PAGE);
      const last = page.at(-1);
      if (!last) return;
      const operations = Map.groupBy(page, ({ event }) => event?.code);
      for (const [code, some] of operations) yield* await this.#unlike(applicationId, code, some);
      after = last.deliveryId;
    }
  }

  async #unlike(
    applicationId: string,
    code: string | undefined,
    deliveries: readonly KeptDelivery[],
  ): Promise<readonly Surplus[]> {
    const published = code === undefined ? [] : await this.#publishedOf(applicationId, code);
    if (published === undefined) return [];
    const ids = new Set(published.map(({ eventId }) => eventId));
    return deliveries.filter(({ eventId }) => !ids.has(eventId)).map((one) => surplusOf(one, published));
  }

  /** Undefined where an event cannot be read, so that nothing can be said. */
  async #publishedOf(applicationId: string, code: string): Promise<readonly PublicEvent[] | undefined> {
    const { events, translator } = this.#deps;
    try {
      return await translator.translate((await events.read(loanStream(applicationId, code))).events);
    } catch (error) {
      if (error instanceof UnreadableEventError) return undefined;
      throw error;
    }
  }
}

const msOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

const surplusOf = ({ eventId, event }: KeptDelivery, published: readonly PublicEvent[]): Surplus => {
  if (!event)
    return {
      ...{ kind: 'unknown', eventId, event: null, code: null, sequence: null, timestamp: null },
      detail: 'there is a delivery, and its event is gone',
    };
  const { name, code, sequence, timestamp } = event;
  const place = { eventId, event: name, code, sequence, timestamp };
  const original = published.find((one) => one.sequence === sequence && one.name === name);
  return original
    ? {
        kind: 'twice',
        ...place,
        detail: `event ${original.eventId} of the log was delivered under this id too`,
      }
    : { kind: 'unknown', ...place, detail: 'the log has no such event' };
};

import { DomainError } from '../../domain/shared/domain-error.ts';
import { seesFund } from '../command-handling/operation.ts';
import type { RequestContext } from '../command-handling/request-context.ts';
import type { BusinessClock, RealClock } from '../ports/clock.ts';
import type { RecordedEvent } from '../ports/event-store.ts';
import { PING } from '../publication/catalogue.ts';
import { pingEvent } from '../publication/public-events.ts';
import type { Publication } from '../publication/publication.ts';
import { instantOf } from '../schemas/values.ts';
import type { DeliveryLog, DeliveryPage, DeliveryRecord, EventDelivery } from './delivery-log.ts';
import type { DeliveryState } from './delivery-states.ts';
import { wants } from './fan-out.ts';
import type { DeliveryQueue } from './queue/delivery-queue.ts';
import type { WebhookEvent } from './queue/enqueue.ts';
import type { Redelivery } from './queue/redeliver.ts';
import { noWebhook, requireActive } from './subscriptions.ts';
import type { WebhookCaller, WebhookSubscription, WebhookSubscriptions } from './subscriptions.ts';

interface DeliveryDependencies {
  readonly subscriptions: WebhookSubscriptions;
  readonly queue: DeliveryQueue;
  readonly log: DeliveryLog;
  readonly publication: Publication;
  /** Of what pings say. */
  readonly clock: BusinessClock;
  readonly realClock: RealClock;
  readonly apiVersion: string;
  readonly onQueued: (webhookIds: readonly string[]) => void;
}

interface DeliverySearch {
  readonly status?: DeliveryState;
  readonly since?: string;
  readonly events?: readonly string[];
  readonly code?: string;
  readonly eventId?: string;
  readonly limit: number;
}

interface RecoveryQuery {
  readonly webhookId: string;
  readonly since: string;
  readonly until?: string;
  readonly status: DeliveryState;
}

export interface RedeliveryReceipt {
  readonly eventId: string;
  readonly deliveries: readonly Redelivery[];
}

export interface EventReport {
  readonly eventId: string;
  readonly event: string;
  readonly body: string;
  readonly deliveries: readonly EventDelivery[];
}

export interface ShownDelivery extends EventDelivery {
  readonly url: string;
}

export interface WaitingDelivery extends DeliveryRecord {
  readonly waitsFor:
    | {
        readonly kind: 'another_event';
        readonly eventId: string;
        readonly event: string;
        /** When it is tried, again or for the first time; past while that is under way. */
        readonly triedAt: string;
      }
    | { readonly kind: 'webhook_resumed' }
    | null;
}

export type Recoverable = Pick<DeliveryRecord, 'deliveryId' | 'eventId' | 'event' | 'code' | 'createdAt'>;

const PAGE = 200;

const recoverable = ({ deliveryId, eventId, event, code, createdAt }: DeliveryRecord): Recoverable => ({
  ...{ deliveryId, eventId, event, code, createdAt },
});

const noEvent = (eventId: string): DomainError =>
  new DomainError('event_not_found', `there is no event ${eventId}`);

/** What became of events at webhooks, and sending them again. What names a webhook throws DomainError `webhook_not_found` when there is none. */
export class Deliveries {
  readonly #deps: DeliveryDependencies;

  constructor(dependencies: DeliveryDependencies) {
    this.#deps = dependencies;
  }

  /** Newest first. @throws DomainError `invalid_query_parameter` for a broken `since` or `cursor` */
  async page(
    caller: WebhookCaller,
    webhookId: string,
    search: DeliverySearch & { readonly cursor?: string },
  ): Promise<DeliveryPage> {
    const { query } = await this.#asked(caller, webhookId, search);
    const onlyFundIds = caller === 'operator' ? undefined : caller.onlyFundIds;
    const { limit, cursor } = search;
    return this.#deps.log.list({
      ...query,
      ...(onlyFundIds && { onlyFundIds }),
      ...(cursor !== undefined && { cursor }),
      limit,
    });
  }

  /** For an operator: newest first, page after page. @throws DomainError `invalid_query_parameter` */
  async *search(webhookId: string, search: DeliverySearch): AsyncGenerator<WaitingDelivery> {
    const { webhook, query } = await this.#asked('operator', webhookId, search);
    let left = search.limit;
    let cursor: string | null | undefined;
    while (left > 0 && cursor !== null) {
      const page: DeliveryPage = await this.#deps.log.list({
        ...query,
        limit: Math.min(PAGE, left),
        ...(cursor !== undefined && { cursor }),
      });
      yield* await this.waiting(webhook, page.deliveries);
      left -= page.deliveries.length;
      cursor = page.nextCursor;
    }
  }

  async waiting(
    { webhookId, status }: Pick<WebhookSubscription, 'webhookId' | 'status'>,
    deliveries: readonly DeliveryRecord[],
  ): Promise<readonly WaitingDelivery[]> {
    const open = deliveries.filter((one) => one.status === 'pending' || one.status === 'retrying');
    if (open.length === 0) return deliveries.map((one) => ({ ...one, waitsFor: null }));
    const blocked = await this.#deps.log.blocked(
      webhookId,
      open.map(({ deliveryId }) => deliveryId),
    );
    const waits = new Set(open);
    const reason = (one: DeliveryRecord): WaitingDelivery['waitsFor'] => {
      if (!waits.has(one)) return null;
      const before = blocked.get(one.deliveryId);
      if (status === 'paused') return { kind: 'webhook_resumed' };
      return before ? { kind: 'another_event', ...before } : null;
    };
    return deliveries.map((one) => ({ ...one, waitsFor: reason(one) }));
  }

  /** @param within the client's application and funds, or an operator's webhook @throws DomainError `event_not_found` */
  async event(
    within: Pick<RequestContext, 'applicationId' | 'onlyFundIds'>,
    eventId: string,
  ): Promise<EventReport> {
    const { name, body } = (await this.#known(within, eventId)).event;
    return { eventId, event: name, body, deliveries: await this.#deps.log.ofEvents([eventId]) };
  }

  /** From the log where no delivery keeps it: no webhook was there for it, or it is too old. */
  async #known(
    within: Pick<RequestContext, 'applicationId' | 'onlyFundIds'>,
    eventId: string,
  ): Promise<{ readonly event: WebhookEvent; readonly webhookIds: readonly string[] }> {
    const { queue, publication } = this.#deps;
    const { applicationId } = within;
    const found = await queue.findEvent(applicationId, eventId);
    const event = found?.event ?? (await publication.find(applicationId, eventId));
    if (!event || !seesFund(within, event.fundId)) throw noEvent(eventId);
    return { event, webhookIds: found?.webhookIds ?? [] };
  }

  /** Of what was published of these events of one operation, oldest first. */
  async ofRecorded(recorded: readonly RecordedEvent[]): Promise<readonly ShownDelivery[]> {
    const { log, subscriptions, publication } = this.#deps;
    const published = await publication.translator.translate(recorded);
    const found = await log.ofEvents(published.map(({ eventId }) => eventId));
    const known = await subscriptions.ofApplications(
      published.slice(0, 1).map(({ applicationId }) => applicationId),
    );
    const urls = new Map(known.map(({ webhookId, url }) => [webhookId, url]));
    return found.map((one) => ({ ...one, url: urls.get(one.webhookId) ?? '' }));
  }

  /** At once. @throws DomainError `event_not_found`, `webhook_invalid_state` when no subscription can get it */
  async redeliver(context: RequestContext, eventId: string): Promise<RedeliveryReceipt> {
    const { queue, subscriptions, realClock, onQueued } = this.#deps;
    const { event, webhookIds } = await this.#known(context, eventId);
    const targets = (await subscriptions.ofApplications([context.applicationId]))
      .filter(({ status }) => status === 'active')
      // A ping is about one registration: no other webhook ever gets it.
      .filter((one) => (event.name === PING ? webhookIds.includes(one.webhookId) : wants(one, event)))
      .map(({ webhookId }) => webhookId);
    if (targets.length === 0) {
      throw new DomainError(
        'webhook_invalid_state',
        'no webhook that matches this event is active: register or resume one that takes it',
      );
    }
    const deliveries = await queue.redeliver(event, targets, realClock.realNow());
    onQueued(targets);
    return { eventId, deliveries };
  }

  /** Sends `webhook.ping` to this webhook, at once. @throws DomainError `webhook_invalid_state` when it is paused */
  async ping(caller: WebhookCaller, webhookId: string): Promise<RedeliveryReceipt> {
    const { queue, log, clock, realClock, apiVersion, onQueued } = this.#deps;
    const webhook = await this.#deps.subscriptions.existing(caller, webhookId);
    requireActive(webhook);
    const { applicationId } = webhook;
    const event = pingEvent({ applicationId, timestamp: clock.now(), apiVersion });
    const { eventId } = event;
    await queue.enqueue([{ webhookId, event }], realClock.realNow());
    const [delivery] = await log.ofEvents([eventId]);
    if (!delivery) throw noWebhook(webhookId);
    onQueued([webhookId]);
    return { eventId, deliveries: [{ webhookId, deliveryId: delivery.deliveryId, attempt: 1 }] };
  }

  /** Read whole: repeating moves the pages. @throws DomainError `invalid_query_parameter`, `webhook_invalid_state` */
  async plan(
    query: RecoveryQuery,
  ): Promise<{ readonly webhook: WebhookSubscription; readonly deliveries: readonly Recoverable[] }> {
    const { webhookId, status } = query;
    const since = instantOf('since', query.since);
    const until =
      query.until === undefined ? this.#deps.realClock.realNow() : instantOf('until', query.until);
    if (query.until !== undefined && until <= since)
      throw new DomainError('invalid_query_parameter', 'until: give an instant after since');
    const webhook = await this.#deps.subscriptions.existing('operator', webhookId);
    requireActive(webhook);
    const found: Recoverable[] = [];
    for await (const record of this.search(webhookId, { since, status, limit: Infinity }))
      if (record.createdAt < until) found.push(recoverable(record));
    return { webhook, deliveries: found.reverse() };
  }

  /** A running service finds it by itself. @returns the number of the attempt; `undefined` when the event is gone */
  async repeat(
    { webhookId, applicationId }: WebhookSubscription,
    { eventId }: Pick<Recoverable, 'eventId'>,
  ): Promise<number | undefined> {
    const { queue, realClock } = this.#deps;
    const found = await queue.findEvent(applicationId, eventId);
    if (!found?.webhookIds.includes(webhookId)) return undefined;
    const [queued] = await queue.redeliver(found.event, [webhookId], realClock.realNow());
    return queued?.attempt;
  }

  /** For an operator, who has not looked it up. @throws DomainError `event_not_found`, `webhook_invalid_state` */
  async resend(webhookId: string, eventId: string): Promise<number> {
    const webhook = await this.#deps.subscriptions.existing('operator', webhookId);
    requireActive(webhook);
    const attempt = await this.repeat(webhook, { eventId });
    if (attempt === undefined)
      throw new DomainError('event_not_found', `the webhook ${webhookId} has no event ${eventId} any more`);
    return attempt;
  }

  async #asked(
    caller: WebhookCaller,
    webhookId: string,
    { since, status, events, code, eventId }: DeliverySearch,
  ) {
    const query = {
      webhookId,
      ...(status && { status }),
      ...(events && { events }),
      ...(since !== undefined && { since: instantOf('since', since) }),
    };
    const webhook = await this.#deps.subscriptions.existing(caller, webhookId);
    if (code === undefined)
      return { webhook, query: eventId === undefined ? query : { ...query, eventIds: [eventId] } };
    const eventIds = await this.#deps.publication.idsOf(webhook.applicationId, code);
    return {
      webhook,
      query: { ...query, eventIds: eventIds.filter((id) => eventId === undefined || id === eventId) },
    };
  }
}

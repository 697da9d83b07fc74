import { DomainError } from '../../domain/shared/domain-error.ts';
import type { RealClock } from '../ports/clock.ts';
import type {
  DeliveryLog,
  DeliveryPage,
  DeliveryQuery,
  DeliveryRecord,
  DeliveryState,
} from '../ports/delivery-log.ts';
import type { DeliveryQueue } from '../ports/delivery-queue.ts';
import type {
  WebhookDirectory,
  WebhookSubscription,
  WebhookSubscriptions,
} from '../ports/webhook-subscriptions.ts';
import { instantOf } from '../schemas/values.ts';

interface Dependencies {
  readonly subscriptions: WebhookDirectory & Pick<WebhookSubscriptions, 'ofApplications'>;
  readonly log: DeliveryLog;
  readonly queue: Pick<DeliveryQueue, 'findEvent' | 'redeliver'>;
  readonly clock: RealClock;
}

export interface RecoveryQuery {
  readonly webhookId: string;
  /** Created at or after, RFC 3339. */
  readonly since: string;
  /** Created before, RFC 3339; default: now. */
  readonly until?: string;
  readonly status: DeliveryState;
}

export interface DeliverySearch {
  readonly status?: DeliveryState;
  /** Created at or after, RFC 3339. */
  readonly since?: string;
  readonly limit: number;
}

/** A delivery to repeat, with what an operator wants to read about it. */
export type Recoverable = Pick<DeliveryRecord, 'deliveryId' | 'eventId' | 'event' | 'code' | 'createdAt'>;

export interface RecoveryPlan {
  readonly webhook: WebhookSubscription;
  /** Oldest first. */
  readonly deliveries: readonly Recoverable[];
}

const PAGE = 200;

const recoverable = ({ deliveryId, eventId, event, code, createdAt }: DeliveryRecord): Recoverable => ({
  deliveryId,
  eventId,
  event,
  code,
  createdAt,
});

const requireActive = ({ status, webhookId }: WebhookSubscription): void => {
  if (status === 'paused')
    throw new DomainError('webhook_invalid_state', `webhook ${webhookId} is paused: resume it first`);
};

/** What an operator does about webhooks of any application, beside the running service. */
export class WebhookRecovery {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** Oldest first; empty for an application that has none. */
  list(applicationId: string): Promise<readonly WebhookSubscription[]> {
    return this.#deps.subscriptions.ofApplications([applicationId]);
  }

  /** @throws DomainError `webhook_not_found` */
  async find(webhookId: string): Promise<WebhookSubscription> {
    const found = await this.#deps.subscriptions.findAnywhere(webhookId);
    if (!found) throw new DomainError('webhook_not_found', `there is no webhook ${webhookId}`);
    return found;
  }

  /** One page, newest first. @throws DomainError `webhook_not_found` `invalid_query_parameter` */
  async page(query: DeliveryQuery): Promise<DeliveryPage> {
    await this.find(query.webhookId);
    return this.#deps.log.list(query);
  }

  /** Newest first, page after page. @throws DomainError `webhook_not_found` `invalid_query_parameter` */
  async *deliveries(webhookId: string, search: DeliverySearch): AsyncGenerator<DeliveryRecord> {
    const { since, status, limit } = search;
    const query = {
      webhookId,
      ...(status !== undefined && { status }),
      ...(since !== undefined && { since: instantOf('since', since) }),
    };
    await this.find(webhookId);
    let left = limit;
    let cursor: string | null | undefined;
    while (left > 0 && cursor !== null) {
      const page: DeliveryPage = await this.#deps.log.list({
        ...query,
        limit: Math.min(PAGE, left),
        ...(cursor !== undefined && { cursor }),
      });
      yield* page.deliveries;
      left -= page.deliveries.length;
      cursor = page.nextCursor;
    }
  }

  /**
   * What is to be repeated, read whole before anything is sent: repeating changes states, which would move the pages.
   * @throws DomainError `webhook_not_found` `invalid_query_parameter`, and `webhook_invalid_state` for a paused webhook
   */
  async plan(query: RecoveryQuery): Promise<RecoveryPlan> {
    const { webhookId, status } = query;
    const since = instantOf('since', query.since);
    const until = query.until === undefined ? this.#deps.clock.realNow() : instantOf('until', query.until);
    if (query.until !== undefined && until <= since)
      throw new DomainError('invalid_query_parameter', 'until: give an instant after since');
    const webhook = await this.find(webhookId);
    requireActive(webhook);
    const found: Recoverable[] = [];
    for await (const record of this.deliveries(webhookId, { since, status, limit: Infinity }))
      if (record.createdAt < until) found.push(recoverable(record));
    return { webhook, deliveries: found.reverse() };
  }

  /**
   * Queues one more attempt, which a running service finds by itself.
   * @returns the number of the attempt; `undefined` when the event has been removed since
   */
  async repeat(
    webhook: WebhookSubscription,
    { eventId }: Pick<Recoverable, 'eventId'>,
  ): Promise<number | undefined> {
    const { queue, clock } = this.#deps;
    const found = await queue.findEvent(webhook.applicationId, eventId);
    if (!found?.webhookIds.includes(webhook.webhookId)) return undefined;
    const [queued] = await queue.redeliver(found.event, [webhook.webhookId], clock.realNow());
    return queued?.attempt;
  }

  /**
   * Queues one more attempt of this event at this webhook alone.
   * @throws DomainError `webhook_not_found`, `event_not_found`, and `webhook_invalid_state` for a paused webhook
   */
  async resend(webhookId: string, eventId: string): Promise<void> {
    const webhook = await this.find(webhookId);
    requireActive(webhook);
    if ((await this.repeat(webhook, { eventId })) === undefined)
      throw new DomainError('event_not_found', `the webhook ${webhookId} has no event ${eventId} any more`);
  }
}

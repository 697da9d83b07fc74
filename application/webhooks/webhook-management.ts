import { DomainError } from '../../domain/shared/domain-error.ts';
import type { BusinessClock, RealClock } from '../ports/clock.ts';
import type { DeliveryLog, DeliveryPage } from '../ports/delivery-log.ts';
import type { DeliveryQueue, WebhookEvent } from '../ports/delivery-queue.ts';
import { secretContext } from '../ports/webhook-subscriptions.ts';
import type {
  RandomSource,
  Sealer,
  SubscriptionChange,
  WebhookAddressGuard,
  WebhookSubscription,
  WebhookSubscriptions,
} from '../ports/webhook-subscriptions.ts';
import type {
  CreateWebhookInput,
  CreatedWebhook,
  EventReport,
  ListDeliveriesInput,
  RedeliveryReceipt,
  RotatedSecret,
  UpdateWebhookInput,
  Webhooks,
} from '../ports/webhooks.ts';
import { PING } from '../publishing/event-names.ts';
import type { PublishedEvents } from '../publishing/public-event-translator.ts';
import { bodyOf } from '../publishing/public-events.ts';
import { seesFund } from '../command-handling/operation.ts';
import type { RequestContext } from '../ports/clients.ts';
import { instantOf } from '../schemas/values.ts';
import { checkedEvents, checkedFunds, wants } from './fan-out.ts';

interface Ping {
  readonly eventId: string;
  readonly applicationId: string;
  readonly timestamp: string;
  readonly apiVersion: string;
}

/** Tells a receiver that its registration works; about no operation and no fund. */
export const pingEvent = ({ eventId, applicationId, timestamp, apiVersion }: Ping): WebhookEvent => {
  const nowhere = { code: null, fundId: null, sequence: 0 };
  const data = { message: 'This webhook is registered and reachable. Events will arrive here.' };
  return {
    eventId,
    name: PING,
    applicationId,
    timestamp,
    ...nowhere,
    body: bodyOf({ name: PING, eventId, timestamp, apiVersion, data, ...nowhere }),
  };
};

interface Dependencies {
  readonly subscriptions: WebhookSubscriptions;
  readonly queue: DeliveryQueue;
  readonly log: DeliveryLog;
  readonly guard: WebhookAddressGuard;
  readonly sealer: Sealer;
  readonly random: RandomSource;
  /** Events that no delivery keeps. */
  readonly published: Pick<PublishedEvents, 'find'>;
  /** Of what pings say, and of the first events that a subscription gets. */
  readonly clock: BusinessClock;
  /** Of subscriptions and deliveries. */
  readonly realClock: RealClock;
  readonly apiVersion: string;
  /** True in the sandbox. */
  readonly pingsOnCreation: boolean;
  /** Told which subscriptions have something to send. */
  readonly onQueued: (webhookIds: readonly string[]) => void;
}

const MOST_PER_APPLICATION = 20;

const noEvent = (eventId: string): DomainError =>
  new DomainError('event_not_found', `there is no event ${eventId}`);
const notFound = (webhookId: string): DomainError =>
  new DomainError('webhook_not_found', `there is no webhook ${webhookId}`);

export class WebhookManagement implements Webhooks {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  async create(context: RequestContext, input: CreateWebhookInput): Promise<CreatedWebhook> {
    const { subscriptions, guard, random, clock, realClock, pingsOnCreation, onQueued } = this.#deps;
    const events = checkedEvents(input.events);
    const fundIds = checkedFunds(context, input.fundIds);
    guard.check(input.url);
    const { applicationId } = context;
    const webhookId = random.id();
    const signingSecret = random.secret();
    const createdAt = realClock.realNow();
    const eventsFrom = clock.now();
    const sealedSecret = await this.#sealed(signingSecret, webhookId);
    const described = { url: input.url, events, fundIds, description: input.description ?? null };
    const subscription = { webhookId, applicationId, ...described, sealedSecret, createdAt, eventsFrom };
    const ping = pingsOnCreation ? { ping: this.#ping(applicationId, eventsFrom) } : {};
    if (!(await subscriptions.add({ ...subscription, ...ping }, MOST_PER_APPLICATION))) {
      const message = `an application may have ${MOST_PER_APPLICATION} webhooks: delete one before adding another`;
      throw new DomainError('webhook_invalid_state', message);
    }
    if (pingsOnCreation) onQueued([webhookId]);
    return { webhook: await this.#found(context, webhookId), signingSecret };
  }

  #ping(applicationId: string, timestamp: string): WebhookEvent {
    const { random, apiVersion } = this.#deps;
    return pingEvent({ eventId: random.id(), applicationId, timestamp, apiVersion });
  }

  async #sealed(secret: string, webhookId: string): Promise<string> {
    return this.#deps.sealer.seal(secret, secretContext(webhookId));
  }

  list(context: RequestContext): Promise<readonly WebhookSubscription[]> {
    return this.#deps.subscriptions.ofApplications([context.applicationId]);
  }

  async #found(context: RequestContext, webhookId: string): Promise<WebhookSubscription> {
    const found = await this.#deps.subscriptions.find(context.applicationId, webhookId);
    if (!found) throw notFound(webhookId);
    return found;
  }

  async update(
    context: RequestContext,
    webhookId: string,
    input: UpdateWebhookInput,
  ): Promise<WebhookSubscription> {
    const { otherFields = [], url, events, fundIds, description } = input;
    if (otherFields.length > 0) {
      const details = otherFields.map((field) => ({
        field,
        code: 'immutable',
        message: 'this field cannot be changed',
      }));
      throw new DomainError(
        'immutable_field',
        'only url, events, description and fund_ids can be changed',
        details,
      );
    }
    const change: SubscriptionChange = {
      ...(url !== undefined && { url }),
      ...(events !== undefined && { events: checkedEvents(events) }),
      ...(fundIds !== undefined && { fundIds: checkedFunds(context, fundIds) }),
      ...(description !== undefined && { description }),
    };
    if (Object.keys(change).length === 0)
      throw new DomainError('empty_update', 'the request changes nothing');
    await this.#found(context, webhookId);
    if (url !== undefined) this.#deps.guard.check(url);
    return this.#change(context, webhookId, change);
  }

  async #change(
    context: RequestContext,
    webhookId: string,
    change: SubscriptionChange,
  ): Promise<WebhookSubscription> {
    const { subscriptions, realClock } = this.#deps;
    const changed = await subscriptions.update(context.applicationId, webhookId, change, realClock.realNow());
    if (!changed) throw notFound(webhookId);
    return changed;
  }

  async pause(context: RequestContext, webhookId: string): Promise<WebhookSubscription> {
    return this.#turn(context, webhookId, 'paused');
  }

  async resume(context: RequestContext, webhookId: string): Promise<WebhookSubscription> {
    const resumed = await this.#turn(context, webhookId, 'active');
    this.#deps.onQueued([webhookId]);
    return resumed;
  }

  async #turn(
    context: RequestContext,
    webhookId: string,
    status: 'active' | 'paused',
  ): Promise<WebhookSubscription> {
    const found = await this.#found(context, webhookId);
    return found.status === status ? found : this.#change(context, webhookId, { status });
  }

  async rotateSecret(context: RequestContext, webhookId: string): Promise<RotatedSecret> {
    const signingSecret = this.#deps.random.secret();
    const sealedSecret = await this.#sealed(signingSecret, webhookId);
    const { updatedAt } = await this.#change(context, webhookId, { sealedSecret });
    return { webhookId, signingSecret, rotatedAt: updatedAt };
  }

  async remove(context: RequestContext, webhookId: string): Promise<void> {
    const { subscriptions, realClock } = this.#deps;
    if (!(await subscriptions.remove(context.applicationId, webhookId, realClock.realNow())))
      throw notFound(webhookId);
  }

  async deliveries(
    context: RequestContext,
    webhookId: string,
    { since, ...query }: ListDeliveriesInput,
  ): Promise<DeliveryPage> {
    const from = since === undefined ? {} : { since: instantOf('since', since) };
    await this.#found(context, webhookId);
    const { onlyFundIds } = context;
    return this.#deps.log.list({ webhookId, ...(onlyFundIds && { onlyFundIds }), ...query, ...from });
  }

  async redeliver(context: RequestContext, eventId: string): Promise<RedeliveryReceipt> {
    const { queue, subscriptions, realClock, onQueued } = this.#deps;
    const found = await queue.findEvent(context.applicationId, eventId);
    if (!found || !seesFund(context, found.event.fundId)) throw noEvent(eventId);
    const { event, webhookIds } = found;
    const targets = (await subscriptions.ofApplications([context.applicationId]))
      .filter(({ status }) => status === 'active')
      // A ping is about one registration: no other webhook ever gets it.
      .filter((one) => (event.name === PING ? webhookIds.includes(one.webhookId) : wants(one, event)))
      .map(({ webhookId }) => webhookId);
    if (targets.length === 0) {
      throw new DomainError('webhook_invalid_state', 'no webhook that matches this event is active');
    }
    const deliveries = await queue.redeliver(event, targets, realClock.realNow());
    onQueued(targets);
    return { eventId, deliveries };
  }

  async ping(context: RequestContext, webhookId: string): Promise<RedeliveryReceipt> {
    const { queue, log, clock, realClock, onQueued } = this.#deps;
    if ((await this.#found(context, webhookId)).status === 'paused') {
      throw new DomainError('webhook_invalid_state', `webhook ${webhookId} is paused: resume it first`);
    }
    const event = this.#ping(context.applicationId, clock.now());
    await queue.enqueue([{ webhookId, event }], realClock.realNow());
    const [delivery] = await log.ofEvent(event.eventId);
    if (!delivery) throw notFound(webhookId);
    onQueued([webhookId]);
    const { eventId } = event;
    return { eventId, deliveries: [{ webhookId, deliveryId: delivery.deliveryId, attempt: 1 }] };
  }

  async event(context: RequestContext, eventId: string): Promise<EventReport> {
    const { queue, log, published } = this.#deps;
    const { applicationId } = context;
    const event =
      (await queue.findEvent(applicationId, eventId))?.event ??
      (await published.find(applicationId, eventId));
    if (!event || !seesFund(context, event.fundId)) throw noEvent(eventId);
    const { name, body } = event;
    return { eventId, event: name, body, deliveries: await log.ofEvent(eventId) };
  }
}

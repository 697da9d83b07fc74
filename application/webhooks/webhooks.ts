import { randomUUID } from 'node:crypto';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { RequestContext } from '../command-handling/request-context.ts';
import type { BusinessClock, RealClock } from '../ports/clock.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import type { DeadLetters } from './late-events.ts';
import type { EventStore, LogPlaces } from '../ports/event-store.ts';
import { pingEvent } from '../publication/public-events.ts';
import type { Publication } from '../publication/publication.ts';
import type { LogOrder } from '../ports/read-models.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { Deliveries } from './deliveries.ts';
import { DeliveryLag } from './queue/floors.ts';
import type { DeliveryDifference } from './delivery-comparison.ts';
import { DeliveryLog } from './delivery-log.ts';
import { fanOutTo, checkedEvents, checkedFunds } from './fan-out.ts';
import type { LateEvents } from './late-events.ts';
import { DeliveryQueue } from './queue/delivery-queue.ts';
import { RangeRedeliveries } from './queue/range-redeliveries.ts';
import { Redeliveries } from './redeliveries.ts';
import { WebhookSubscriptions, noWebhook, secretContext } from './subscriptions.ts';
import type { SubscriptionChange, WebhookCaller, WebhookSubscription } from './subscriptions.ts';
import type {
  VerificationDependencies,
  VerifyDeliveriesRequest,
  VerifyDeliveriesSummary,
} from './verify-deliveries.ts';
import { WebhookDesk } from './webhook-desk.ts';

export interface CreateWebhookInput {
  readonly url: string;
  /** Names of the event catalogue, or `*` for all. */
  readonly events: readonly string[];
  /** Absent or null: every fund of the application, also one linked later. */
  readonly fundIds?: readonly string[] | null;
  readonly description?: string | null;
}

export interface CreatedWebhook {
  readonly webhook: WebhookSubscription;
  readonly signingSecret: string;
}

export interface RotatedSecret {
  readonly webhookId: string;
  readonly signingSecret: string;
  readonly rotatedAt: string;
}

export interface Forwarder {
  /** With which it signs, new for each run. */
  readonly secret: string;
  /** Answers what became of it, such as `200` or why it failed. Never throws. */
  send(event: PublicEvent, attempt: number, signal: AbortSignal): Promise<string>;
}

interface Dependencies {
  readonly database: SqlDatabase;
  readonly cacheBytes?: number;
  readonly events: Pick<EventStore, 'read'> & Pick<LogPlaces, 'end'>;
  readonly publication: Publication;
  /** Of what pings say, and of the first events that a subscription gets. */
  readonly clock: BusinessClock;
  /** Of subscriptions and deliveries. */
  readonly realClock: RealClock;
  readonly order: Pick<LogOrder, 'compare' | 'comparable'>;
  /** How far the clocks of two processes may be apart; 0 with one process. */
  readonly clockToleranceMs: number;
  readonly apiVersion: string;
  readonly pingsOnCreation: boolean;
  /** Told which subscriptions have something to send, or another address: what is known of their receivers may be over. */
  readonly onQueued: (webhookIds: readonly string[]) => void;
  /**
   * Takes an `https` address without user information and fragment whose host is not plainly unreachable from the public internet. Judged
   * by the text alone: what a name stands for is found out, and checked, at every sending.
   * @throws DomainError `invalid_webhook_url` saying what is wrong
   */
  readonly checkUrl: (url: string) => void;
  /** Of at least 256 unpredictable bits, printable. */
  readonly newSecret: () => string;
  /** Binds the sealed text to its owner. */
  readonly seal: (secret: string, context: string) => string | Promise<string>;
  readonly verification: Pick<
    VerificationDependencies,
    'subscription' | 'quarantine' | 'fannedOut' | 'keptForMs' | 'sleep' | 'clockToleranceMs'
  >;
  /** What was put aside on the way here, and under which group. @throws Error where no bus does that */
  readonly putAside: () => Promise<{ readonly letters: DeadLetters; readonly group: string }>;
  /** @throws Error in production */
  readonly forwarder: (url: string) => Forwarder;
}

const MOST_PER_APPLICATION = 20;

/** What belongs to another application does not exist for a client: DomainError `webhook_not_found`. */
export class Webhooks {
  readonly subscriptions: WebhookSubscriptions;
  readonly queue: DeliveryQueue;
  readonly deliveries: Deliveries;
  readonly ranges: RangeRedeliveries;
  readonly redeliveries: Redeliveries;
  readonly desk: WebhookDesk;
  readonly lag: DeliveryLag;
  readonly forwarder: Dependencies['forwarder'];
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    const { database, cacheBytes } = dependencies;
    this.#deps = dependencies;
    this.subscriptions = new WebhookSubscriptions(database);
    this.queue = new DeliveryQueue(database, cacheBytes);
    const { subscriptions, queue } = this;
    this.deliveries = new Deliveries({
      ...dependencies,
      subscriptions,
      queue,
      log: new DeliveryLog(database),
    });
    this.ranges = new RangeRedeliveries(database);
    this.redeliveries = new Redeliveries({ ...dependencies, subscriptions, ranges: this.ranges });
    this.desk = new WebhookDesk(database);
    this.lag = new DeliveryLag(database);
    this.forwarder = dependencies.forwarder;
  }

  /** @throws DomainError of `checkUrl`, `checkedEvents`, `checkedFunds`; `webhook_invalid_state`: it has as many as it may */
  async create(context: RequestContext, input: CreateWebhookInput): Promise<CreatedWebhook> {
    const { clock, realClock, apiVersion, pingsOnCreation, onQueued } = this.#deps;
    const events = checkedEvents(input.events);
    const fundIds = checkedFunds(context, input.fundIds);
    this.#deps.checkUrl(input.url);
    const { applicationId } = context;
    const webhookId = randomUUID();
    const signingSecret = this.#deps.newSecret();
    const createdAt = realClock.realNow();
    const eventsFrom = clock.now();
    const sealedSecret = await this.#sealed(signingSecret, webhookId);
    const described = { url: input.url, events, fundIds, description: input.description ?? null };
    const begun = { createdAt, eventsFrom, beginsAt: await this.#deps.events.end() };
    const subscription = { webhookId, applicationId, ...described, sealedSecret, ...begun };
    const ping = pingsOnCreation && {
      ping: pingEvent({ applicationId, timestamp: eventsFrom, apiVersion }),
    };
    if (!(await this.subscriptions.add({ ...subscription, ...ping }, MOST_PER_APPLICATION))) {
      const message = `an application may have ${MOST_PER_APPLICATION} webhooks: delete one before adding another`;
      throw new DomainError('webhook_invalid_state', message);
    }
    await this.#noteFilter({ webhookId, events, fundIds });
    if (pingsOnCreation) onQueued([webhookId]);
    return { webhook: await this.find(context, webhookId), signingSecret };
  }

  async #sealed(secret: string, webhookId: string): Promise<string> {
    return this.#deps.seal(secret, secretContext(webhookId));
  }

  list(applicationIds: readonly string[]): Promise<readonly WebhookSubscription[]> {
    return this.subscriptions.ofApplications(applicationIds);
  }

  find(caller: WebhookCaller, webhookId: string): Promise<WebhookSubscription> {
    return this.subscriptions.existing(caller, webhookId);
  }

  /** Only what is present changes. @throws DomainError those of `create`, `empty_update` */
  async update(
    context: RequestContext,
    webhookId: string,
    input: Partial<CreateWebhookInput>,
  ): Promise<WebhookSubscription> {
    const { url, events, fundIds, description } = input;
    const change: SubscriptionChange = {
      ...(url !== undefined && { url }),
      ...(events !== undefined && { events: checkedEvents(events) }),
      ...(fundIds !== undefined && { fundIds: checkedFunds(context, fundIds) }),
      ...(description !== undefined && { description }),
    };
    if (Object.keys(change).length === 0)
      throw new DomainError('empty_update', 'the request changes nothing');
    await this.find(context, webhookId);
    if (url !== undefined) this.#deps.checkUrl(url);
    const changed = await this.#change(context, webhookId, change);
    if (change.events !== undefined || change.fundIds !== undefined) await this.#noteFilter(changed);
    if (url !== undefined) this.#deps.onQueued([webhookId]);
    return changed;
  }

  /** The end of the log is asked for after the change: no event behind it can have met the choice of before. */
  async #noteFilter(filter: Parameters<WebhookSubscriptions['noteFilter']>[0]): Promise<void> {
    const { events: log } = this.#deps;
    // What was asked for is stored; without the note, deliveries are compared from the change's time on.
    await (async () => this.subscriptions.noteFilter(filter, await log.end()))().catch(() => undefined);
  }

  async #change(
    { applicationId }: RequestContext,
    webhookId: string,
    change: SubscriptionChange,
  ): Promise<WebhookSubscription> {
    const now = this.#deps.realClock.realNow();
    const changed = await this.subscriptions.update(applicationId, webhookId, change, now);
    if (!changed) throw noWebhook(webhookId);
    return changed;
  }

  /** Keeps queueing, sends nothing. Idempotent. */
  async pause(context: RequestContext, webhookId: string): Promise<WebhookSubscription> {
    return this.#turn(context, webhookId, 'paused');
  }

  /** What queued meanwhile goes out, in order. Idempotent. */
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
    const found = await this.find(context, webhookId);
    return found.status === status ? found : this.#change(context, webhookId, { status });
  }

  /** Every attempt that starts after this is signed with the new secret. */
  async rotateSecret(context: RequestContext, webhookId: string): Promise<RotatedSecret> {
    const signingSecret = this.#deps.newSecret();
    const sealedSecret = await this.#sealed(signingSecret, webhookId);
    const { updatedAt } = await this.#change(context, webhookId, { sealedSecret });
    return { webhookId, signingSecret, rotatedAt: updatedAt };
  }

  /** What still waits is never sent. */
  async remove({ applicationId }: RequestContext, webhookId: string): Promise<void> {
    if (!(await this.subscriptions.remove(applicationId, webhookId, this.#deps.realClock.realNow())))
      throw noWebhook(webhookId);
  }

  async *verify(
    request: VerifyDeliveriesRequest,
  ): AsyncGenerator<DeliveryDifference, VerifyDeliveriesSummary> {
    const [{ verifyDeliveries }, { DeliveryComparison }, { SqlSealBook }] = await Promise.all([
      import('./verify-deliveries.ts'),
      import('./delivery-comparison.ts'),
      import('../audit/seals/seal-book.ts'),
    ]);
    const { database, events, order, clock, realClock, verification } = this.#deps;
    const { translator } = this.#deps.publication;
    const { queue } = this;
    const [comparison, book] = [new DeliveryComparison(database), new SqlSealBook(database)];
    const stores = { comparison, book, queue, events, translator, order, clock, realClock };
    return yield* verifyDeliveries({ ...verification, ...stores }, request);
  }

  /** Events that were put aside on their way here. @throws what `putAside` throws */
  async lateEvents(): Promise<LateEvents> {
    const { LateEvents } = await import('./late-events.ts');
    const { events, order, clockToleranceMs, realClock: clock, putAside } = this.#deps;
    const { translator } = this.#deps.publication;
    const { subscriptions, queue } = this;
    // A running service finds by itself what is queued beside it.
    const fanOut = fanOutTo({ subscriptions, queue, clock, order, clockToleranceMs });
    return new LateEvents({ ...(await putAside()), events, translator, fanOut, queue });
  }
}

import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { PublicEvent } from '../../../../application/ports/event-bus.ts';
import type { WebhookEvent } from '../../../../application/webhooks/queue/enqueue.ts';
import type { CreatedWebhook } from '../../../../application/webhooks/webhooks.ts';
import type { RequestContext } from '../../../../application/command-handling/request-context.ts';
import type { Publication } from '../../../../application/publication/publication.ts';
import { Webhooks } from '../../../../application/webhooks/webhooks.ts';
import { DomainError } from '../../../../domain/shared/domain-error.ts';
import type { SqlDatabase } from '../../../../application/sql/sql-database.ts';
import type { DeliveryQueue } from '../../../../application/webhooks/queue/delivery-queue.ts';
import { InMemoryEventStore } from '../../../support/in-memory-event-store.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

export const RECEIVER = 'https://receiver.example/hooks';
export const [FUND, OTHER_FUND] = [randomUUID(), randomUUID()];

export const refusedWith = (code: string): unknown => expect.objectContaining({ name: 'DomainError', code });

/** One application and what it does with its webhooks. */
export class ManagementWorld {
  readonly clock = new ManualClock();
  readonly context: RequestContext;
  /** Subscriptions that the sender was woken for. */
  readonly queued: string[] = [];
  readonly queue: DeliveryQueue;
  readonly management: Webhooks;
  /** The same in a sandbox, which sends pings. */
  readonly sandbox: Webhooks;
  /** What the log holds beside what is queued. */
  published: PublicEvent | undefined;
  /** Ids of events by application and code. */
  readonly told = new Map<string, readonly string[]>();
  readonly log = new InMemoryEventStore();
  #secrets = 0;

  constructor(database: SqlDatabase) {
    this.context = {
      requestId: 'r',
      clientId: 'c',
      applicationId: randomUUID(),
      fundIds: [FUND, OTHER_FUND],
    };
    this.management = this.#open(database, false);
    this.queue = this.management.queue;
    this.sandbox = this.#open(database, true);
  }

  #open(database: SqlDatabase, pingsOnCreation: boolean): Webhooks {
    const unused = (): never => {
      throw new Error('not asked for here');
    };
    return new Webhooks({
      database,
      events: this.log,
      publication: {
        find: () => Promise.resolve(this.published),
        idsOf: (applicationId: string, code: string) =>
          Promise.resolve(this.told.get(`${applicationId} ${code}`) ?? []),
      } as unknown as Publication,
      order: { compare: unused, comparable: unused },
      clockToleranceMs: 0,
      checkUrl: (url) => {
        if (url.startsWith('http:')) throw new DomainError('invalid_webhook_url', 'url: only https');
      },
      seal: (text, owner) => `sealed(${text})for(${owner})`,
      newSecret: () => `secret-${++this.#secrets}`,
      clock: this.clock,
      realClock: this.clock,
      apiVersion: '2026.1.0',
      pingsOnCreation,
      onQueued: (webhookIds) => this.queued.push(...webhookIds),
      verification: { sleep: unused } as never,
      putAside: unused,
      forwarder: unused,
    });
  }

  create(overrides = {}, by = this.context): Promise<CreatedWebhook> {
    return this.management.create(by, { url: RECEIVER, events: ['*'], ...overrides });
  }

  stranger(): RequestContext {
    return { ...this.context, applicationId: randomUUID() };
  }

  event(overrides: Partial<WebhookEvent> = {}): WebhookEvent {
    return {
      eventId: randomUUID(),
      name: 'loan_received',
      applicationId: this.context.applicationId,
      fundId: FUND,
      code: 'OP-1',
      sequence: 0,
      timestamp: this.clock.now(),
      body: '{}',
      ...overrides,
    };
  }

  enqueue(webhookId: string, event: WebhookEvent): Promise<number> {
    return this.queue.enqueue([{ webhookId, event }], this.clock.now());
  }
}

import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { PublicEvent } from '../../../../application/ports/event-bus.ts';
import type { WebhookEvent } from '../../../../application/ports/delivery-queue.ts';
import type { CreatedWebhook } from '../../../../application/ports/webhooks.ts';
import type { RequestContext } from '../../../../application/ports/clients.ts';
import { WebhookManagement } from '../../../../application/webhooks/webhook-management.ts';
import { DomainError } from '../../../../domain/shared/domain-error.ts';
import type { SqlDatabase } from '../../../../infrastructure/sql/sql-database.ts';
import { SqlDeliveryLog } from '../../../../infrastructure/sql/webhooks/delivery-log.ts';
import { SqlDeliveryQueue } from '../../../../infrastructure/sql/webhooks/delivery-queue.ts';
import { SqlWebhookSubscriptions } from '../../../../infrastructure/sql/webhooks/subscriptions.ts';
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
  readonly queue: SqlDeliveryQueue;
  readonly management: WebhookManagement;
  /** The same in a sandbox, which sends pings. */
  readonly sandbox: WebhookManagement;
  /** What the log holds beside what is queued. */
  published: PublicEvent | undefined;
  #secrets = 0;

  constructor(database: SqlDatabase) {
    this.context = {
      requestId: 'r',
      clientId: 'c',
      applicationId: randomUUID(),
      fundIds: [FUND, OTHER_FUND],
    };
    this.queue = new SqlDeliveryQueue(database);
    this.management = this.#open(database, false);
    this.sandbox = this.#open(database, true);
  }

  #open(database: SqlDatabase, pingsOnCreation: boolean): WebhookManagement {
    return new WebhookManagement({
      subscriptions: new SqlWebhookSubscriptions(database),
      queue: this.queue,
      log: new SqlDeliveryLog(database),
      published: { find: () => Promise.resolve(this.published) },
      guard: {
        check: (url) => {
          if (url.startsWith('http:')) throw new DomainError('invalid_webhook_url', 'url: only https');
        },
      },
      sealer: { seal: (text, owner) => `sealed(${text})for(${owner})`, open: () => '' },
      random: { id: randomUUID, secret: () => `secret-${++this.#secrets}` },
      clock: this.clock,
      realClock: this.clock,
      apiVersion: '2026.1.0',
      pingsOnCreation,
      onQueued: (webhookIds) => this.queued.push(...webhookIds),
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

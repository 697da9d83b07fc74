import type { RangeRedelivery } from '../../application/webhooks/queue/range-redeliveries.ts';
import type { WebhookSubscription } from '../../application/webhooks/subscriptions.ts';
import type { CreateWebhookInput, Webhooks } from '../../application/webhooks/webhooks.ts';

const NOW = '2026-01-15T12:00:00.000Z';

const webhook: WebhookSubscription = {
  webhookId: 'hook-1',
  applicationId: 'app-a',
  url: 'https://hooks.example.com/x',
  events: ['*'],
  fundIds: null,
  description: null,
  status: 'active',
  eventsFrom: NOW,
  beginsAt: null,
  createdAt: NOW,
  updatedAt: NOW,
  lastSuccessAt: null,
  lastFailureAt: null,
  failingSince: null,
};

const redelivery: RangeRedelivery = {
  ...{ redeliveryId: 'redelivery-1', webhookId: 'hook-1', status: 'running', since: NOW, until: NOW },
  ...{ queued: 3, gone: 0, delivered: 1, failed: 0, createdAt: NOW, completedAt: null },
};

/** Webhooks that accept everything. */
export const acceptingWebhooks = (): Webhooks =>
  ({
    create: async (_context: unknown, input: CreateWebhookInput) => ({
      webhook: { ...webhook, ...input, description: null, fundIds: null },
      signingSecret: 's',
    }),
    list: async () => [webhook],
    find: async () => webhook,
    update: async () => webhook,
    pause: async () => ({ ...webhook, status: 'paused' }),
    resume: async () => webhook,
    rotateSecret: async (_context: unknown, webhookId: string) => ({
      webhookId,
      signingSecret: 't',
      rotatedAt: NOW,
    }),
    remove: async () => undefined,
    deliveries: {
      page: async () => ({ deliveries: [], nextCursor: null }),
      ping: async (_context: unknown, webhookId: string) => ({
        eventId: '5c0f9a52-7f6b-4a3c-8a37-1e2d3c4b5a69',
        deliveries: [{ webhookId, deliveryId: 'd', attempt: 1 }],
      }),
      event: async (_context: unknown, eventId: string) => ({
        eventId,
        event: 'loan_received',
        body: '{}',
        deliveries: [],
      }),
      redeliver: async () => ({
        eventId: '5c0f9a52-7f6b-4a3c-8a37-1e2d3c4b5a69',
        deliveries: [{ webhookId: 'hook-1', deliveryId: 'd-1', attempt: 2 }],
      }),
    },
    redeliveries: { start: async () => redelivery, find: async () => redelivery },
  }) as unknown as Webhooks;

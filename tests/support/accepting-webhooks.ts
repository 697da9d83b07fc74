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
  }) as unknown as Webhooks;

import type {
  CreateWebhookInput,
  ListDeliveriesInput,
  UpdateWebhookInput,
} from '../../../application/ports/webhooks.ts';
import type { DeliveryState } from '../../../application/ports/delivery-log.ts';
import type { Query } from './query.ts';

/** What the schema NewWebhook has let through. */
export interface NewWebhookBody {
  readonly url: string;
  readonly events: readonly string[];
  readonly fund_ids?: readonly string[];
  readonly description?: string;
}

/** What the schema WebhookUpdate has let through. */
export interface WebhookUpdateBody {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly fund_ids?: readonly string[] | null;
  readonly description?: string | null;
}

const lowerCase = (ids: readonly string[]): readonly string[] => ids.map((id) => id.toLowerCase());

export const createWebhookInput = (body: NewWebhookBody): CreateWebhookInput => ({
  url: body.url,
  events: body.events,
  ...(body.fund_ids && { fundIds: lowerCase(body.fund_ids) }),
  ...(body.description !== undefined && { description: body.description }),
});

export const updateWebhookInput = (body: WebhookUpdateBody): UpdateWebhookInput => ({
  ...(body.url !== undefined && { url: body.url }),
  ...(body.events !== undefined && { events: body.events }),
  ...(body.fund_ids !== undefined && { fundIds: body.fund_ids && lowerCase(body.fund_ids) }),
  ...(body.description !== undefined && { description: body.description }),
});

export const listDeliveriesInput = (query: Query): ListDeliveriesInput => ({
  ...(query['status'] !== undefined && { status: query['status'] as DeliveryState }),
  ...(query['since'] !== undefined && { since: String(query['since']) }),
  limit: Number(query['limit']),
  ...(query['cursor'] !== undefined && { cursor: String(query['cursor']) }),
});

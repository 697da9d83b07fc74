import { DomainError } from '../../domain/shared/domain-error.ts';
import type { RequestContext } from '../command-handling/request-context.ts';
import type { WebhookSubscription, WebhookSubscriptions } from './subscriptions.ts';

/** Who asks: a client, for what is its application's, or an operator, for a webhook of any application. */
export type WebhookCaller = Pick<RequestContext, 'applicationId' | 'onlyFundIds'> | 'operator';

export const noWebhook = (webhookId: string): DomainError =>
  new DomainError('webhook_not_found', `there is no webhook ${webhookId}`);

/** What belongs to another application does not exist for a client. @throws DomainError `webhook_not_found` */
export const webhookFor = async (
  subscriptions: WebhookSubscriptions,
  caller: WebhookCaller,
  webhookId: string,
): Promise<WebhookSubscription> => {
  const found = await (caller === 'operator'
    ? subscriptions.findAnywhere(webhookId)
    : subscriptions.find(caller.applicationId, webhookId));
  if (!found) throw noWebhook(webhookId);
  return found;
};

/** @throws DomainError `webhook_invalid_state` */
export const requireActive = ({ status, webhookId }: WebhookSubscription): void => {
  if (status === 'paused')
    throw new DomainError('webhook_invalid_state', `webhook ${webhookId} is paused: resume it first`);
};

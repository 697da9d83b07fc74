import { instant } from '../../format.ts';
import { empty } from '../../html.ts';
import type { View } from '../../html.ts';
import type { ShownDelivery } from '../../../../application/webhooks/deliveries.ts';
import { tableView } from '../../table.ts';
import { deliveryBadge } from '../webhooks/endpoint.ts';
import { texts } from './texts.ts';

const answerOf = ({ lastResponseStatus, lastError }: ShownDelivery): string =>
  [lastResponseStatus, lastError].filter((one) => one !== null).join(' · ');

/** What was sent about an operation, and what receivers answered. */
export const webhooksTable = (deliveries: readonly ShownDelivery[], label: string): View => {
  return tableView(
    { label, dense: true, empty: empty(texts.noWebhooks) },
    [
      [texts.event, ({ event }) => event, 'code'],
      [texts.to, ({ url }) => url, 'code'],
      [texts.delivery, ({ status }) => deliveryBadge(status)],
      [texts.attempts, ({ attempts }) => attempts, 'number'],
      [texts.answer, answerOf],
      [texts.at, (one) => instant(one.deliveredAt ?? one.lastAttemptAt ?? one.createdAt), 'date'],
    ],
    deliveries,
  );
};

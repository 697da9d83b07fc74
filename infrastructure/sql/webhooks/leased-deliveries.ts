import type {
  DeliveryEndpoint,
  LaneLease,
  LeasedDelivery,
} from '../../../application/ports/delivery-queue.ts';
import type { StatementResult } from '../sql-database.ts';
import type { EventBodies } from './event-bodies.ts';

/** A lane's head as the lane statements answer it. */
export interface HeadRow {
  readonly webhook_id: string;
  readonly lane: string;
  readonly redelivery_attempt: number | null;
  readonly delivery_id: string;
  readonly event_id: string;
  readonly attempts: number;
  readonly scheduled_attempts: number;
  readonly created_at: string;
}

interface EndpointRow {
  readonly webhook_id: string;
  readonly application_id: string;
  readonly url: string;
  readonly sealed_secret: string;
}

export const endpointOf = ({ rows }: StatementResult): DeliveryEndpoint | undefined => {
  const [row] = rows as unknown as readonly EndpointRow[];
  if (!row) return undefined;
  const { webhook_id, application_id, url, sealed_secret } = row;
  return { webhookId: webhook_id, applicationId: application_id, url, sealedSecret: sealed_secret };
};

/** A head whose subscription is active, and the lease that it stands under. */
export interface Head {
  readonly row: HeadRow;
  readonly endpoint: DeliveryEndpoint;
  readonly lease: LaneLease;
}

/** Puts heads and their events together; undefined for one whose event is gone. */
export const leasedDeliveries = async (
  heads: readonly Head[],
  bodies: EventBodies,
): Promise<readonly (LeasedDelivery | undefined)[]> => {
  const events = await bodies.load(heads.map(({ row }) => row.event_id));
  return heads.map(({ row, endpoint, lease }) => {
    const event = events.get(row.event_id);
    return (
      event && {
        lease,
        endpoint,
        deliveryId: row.delivery_id,
        event,
        attempt: row.redelivery_attempt ?? row.attempts + 1,
        scheduledAttempts: row.scheduled_attempts,
        redelivery: row.redelivery_attempt !== null,
        createdAt: row.created_at,
      }
    );
  });
};

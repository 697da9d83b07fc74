import { ALL_APPLICATIONS, DECISION_KEYS } from '../administrator/decision-desk.ts';
import { ENDPOINTS } from '../loans/endpoints.ts';
import type { EventStore, KeyClaim, RecordedEvent } from '../ports/event-store.ts';
import type { Difference } from './difference.ts';

/** Keys that are unique beyond their operation, so that the store holds them as well. */
const CLAIMED: ReadonlySet<string> = new Set([
  ENDPOINTS.settleInstallment,
  ENDPOINTS.processPrepayment,
  ENDPOINTS.requestRepurchase,
  DECISION_KEYS,
]);

const claimOf = ({ metadata }: RecordedEvent): KeyClaim | undefined => {
  const { idempotency, applicationId } = metadata;
  if (!idempotency || !CLAIMED.has(idempotency.endpoint)) return undefined;
  const { endpoint, key } = idempotency;
  return { applicationId: endpoint === DECISION_KEYS ? ALL_APPLICATIONS : applicationId, endpoint, key };
};

/** Every key that an event used up must lead to its stream. */
export const checkClaims = async (
  store: Pick<EventStore, 'findClaim'>,
  events: readonly RecordedEvent[],
): Promise<readonly Difference[]> => {
  const checked = events.map(async (event): Promise<readonly Difference[]> => {
    const claim = claimOf(event);
    if (!claim) return [];
    const found = await store.findClaim(claim);
    const { stream } = event;
    if (found === stream) return [];
    const place = { stream, revision: Number(event.revision), what: `key of ${claim.endpoint}` };
    return [{ kind: 'claim', ...place, expected: stream, found: found ?? '(nobody)' }];
  });
  return (await Promise.all(checked)).flat();
};

import type { LoanEvent } from '../../domain/loan/events.ts';
import { decodeLoanEvent } from '../event-codec/event-codec.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Handled } from './command-handler.ts';

/**
 * The first event of an accepted request: just decided, or as it was stored when the request was accepted. A replay reads the
 * stream for it, because the state does not tell several requests of the same kind apart.
 */
export const acceptedEvent = async (
  store: Pick<EventStore, 'read'>,
  stream: string,
  handled: Handled,
): Promise<LoanEvent | undefined> => {
  if (!handled.replayed) return handled.events[0];
  const [first] = (await store.read(stream, handled.acceptedAt)).events;
  return first && decodeLoanEvent(first);
};

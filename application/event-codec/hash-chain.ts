import { hash } from 'node:crypto';
import type { EventMetadata, EventToAppend } from '../ports/event-store.ts';

/** What the first event of every stream chains to. */
export const CHAIN_START = '0'.repeat(64);

type Unchained = Omit<EventToAppend, 'metadata'> & { readonly metadata: Omit<EventMetadata, 'hash'> };

/**
 * Hexadecimal SHA-256 over the previous hash, the stream, and everything of the event but its own hash. Fields are length-prefixed,
 * so that no two events share an input. Metadata fields stand in a fixed order: stores may hand them back in another.
 */
export const chainHash = (previous: string, stream: string, event: Unchained): string => {
  const { metadata } = event;
  const { idempotency } = metadata;
  const parts = [
    previous,
    stream,
    event.id,
    event.type,
    event.data,
    metadata.correlationId,
    metadata.causationId,
    metadata.actor,
    metadata.applicationId,
    metadata.recordedAt,
    ...(idempotency ? [idempotency.endpoint, idempotency.key, idempotency.fingerprint] : []),
  ];
  return hash('sha256', parts.map((part) => `${part.length}:${part}`).join(''));
};

/** The events with their hashes, each chained to the one before. */
export const chainEvents = (
  previous: string,
  stream: string,
  events: readonly Unchained[],
): EventToAppend[] => {
  let link = previous;
  return events.map((event) => {
    link = chainHash(link, stream, event);
    return { ...event, metadata: { ...event.metadata, hash: link } };
  });
};

/**
 * When an event that follows one of `before` is recorded: never earlier, although another process may not know yet that the clock was
 * moved, and clocks of two machines differ.
 */
export const notEarlier = <Instant extends string>(now: Instant, before: string | undefined): Instant =>
  before !== undefined && before > now ? (before as Instant) : now;

/** Index of the first event whose hash does not follow from the one before; -1 when the whole chain holds. */
export const findBrokenLink = (stream: string, events: readonly EventToAppend[]): number => {
  let previous = CHAIN_START;
  return events.findIndex((event) => {
    const { hash: stored, ...metadata } = event.metadata;
    const holds = chainHash(previous, stream, { ...event, metadata }) === stored;
    previous = stored;
    return !holds;
  });
};

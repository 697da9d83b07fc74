import type { RenegotiationId } from '../../domain/shared/identifiers.ts';

/** Sees to renegotiations that stand in the way of a command. */
export interface Reservations {
  /**
   * Resolves once the renegotiation holds nothing any more: carried out, or given up.
   *
   * @throws DomainError `concurrent_modification` when it is still being decided after a bounded wait
   */
  resolve(renegotiationId: RenegotiationId): Promise<void>;
}

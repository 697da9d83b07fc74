import type { DomainEvent } from '../../domain/domain-event.ts';
import type { Payload } from './payload.ts';

export type EventOf<Type extends DomainEvent['type']> = Extract<DomainEvent, { type: Type }>;

/** How one domain event is stored. The stored name is the storage format's name: it never changes and is never reused. */
export interface EventEntry<Type extends DomainEvent['type']> {
  readonly storedType: string;
  encode(event: EventOf<Type>): Payload;
  decode(payload: Payload): EventOf<Type>;
}

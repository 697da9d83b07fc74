import type { DomainEvent } from '../../domain/domain-event.ts';
import type { ProjectedEvent, TableWrite } from './projection.ts';

/** A projected event of one type. */
export type ProjectedAs<Type extends DomainEvent['type']> = ProjectedEvent & {
  readonly event: Extract<DomainEvent, { type: Type }>;
};

/** One entry an event, so that the compiler asks every projection about a new one. */
export type EventWriters = {
  readonly [Type in DomainEvent['type']]:
    ((projected: ProjectedAs<Type>) => readonly TableWrite[]) | 'unconcerned';
};

export const writeWith =
  (writers: EventWriters) =>
  (projected: ProjectedEvent): readonly TableWrite[] => {
    const writer = writers[projected.event.type] as
      ((projected: ProjectedEvent) => readonly TableWrite[]) | 'unconcerned';
    return writer === 'unconcerned' ? [] : writer(projected);
  };

import { Administrator } from '../../application/administrator/administrator.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import { ALONE, commandHandler, fixedClock } from './application-parts.ts';

type Dependencies = ConstructorParameters<typeof Administrator>[0];

/** The administrator's module over a store alone; its worklists are asked for nothing. */
export const administratorOf = (
  events: EventStore,
  clock: ReturnType<typeof fixedClock> = fixedClock(),
  more: Partial<Dependencies> = {},
): Administrator =>
  new Administrator({
    commands: commandHandler(events, clock),
    formats: ALONE,
    events,
    readModel: undefined as never,
    clock,
    pause: () => Promise.resolve(),
    disbursementTolerance: 1_000,
    deadLetterFile: (path = 'usual.jsonl') => ({ path, put: () => Promise.resolve() }),
    ...more,
  });

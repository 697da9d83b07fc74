import { Desk } from '../../application/desk/desk.ts';
import type { DeskLogLine, DeskQuery } from '../../application/desk/desk.ts';
import { queryBuilder } from '../../application/sql/engine.ts';
import { ALONE } from './application-parts.ts';
import { InMemoryEventStore } from './in-memory-event-store.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingLogger } from './recording-logger.ts';

type Parts = ConstructorParameters<typeof Desk>[0];

/** A desk whose log goes nowhere, for what does not read it. */
export const UNHEEDING: Pick<Desk, 'record'> = { record: () => Promise.resolve() };

/** A desk over a log of its own, where a test does not hand over another one; its read model shows no operation. */
export const deskOver = (parts: Partial<Parts> = {}): Desk =>
  new Desk({
    sessions: undefined as never,
    events: new InMemoryEventStore(),
    readModel: { builder: queryBuilder('sqlite'), read: () => Promise.resolve([]) },
    formats: ALONE,
    clock: new ManualClock(),
    pause: () => Promise.resolve(),
    logger: new RecordingLogger(),
    ...parts,
  });

export const linesOf = async (
  desk: Pick<Desk, 'lines'>,
  query?: DeskQuery,
): Promise<readonly DeskLogLine[]> => Array.fromAsync(desk.lines(query));

import { randomUUID } from 'node:crypto';
import { loanStream } from '../../../application/command-handling/operation.ts';
import { decodeEvent, encodeEvent } from '../../../application/event-codec/event-codec.ts';
import { projectedEvent } from '../../../application/projecting/projected-event.ts';
import type { EventMetadata, RecordedEvent } from '../../../application/ports/event-store.ts';
import type { LoanEvent } from '../../../domain/loan/events.ts';
import type { ProjectedEvent } from '../../../projections/projection.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { receivedLoan, second, settled, toActive } from '../../projections/loan/projected-events.ts';

const APPLICATION = 'app-1';

export const streamOf = (code: string): string => loanStream(APPLICATION, code);

const metadata: EventMetadata = {
  correlationId: 'request-1',
  causationId: 'request-1',
  actor: 'client-1',
  applicationId: APPLICATION,
  recordedAt: second(100),
  hash: '00',
};

export const decode = (recorded: RecordedEvent): ProjectedEvent =>
  projectedEvent(recorded, decodeEvent(recorded));

/** A log of operations that can be told event by event. */
export class StoryLog extends InMemoryEventStore {
  /** Answers the revision that the event got. */
  async tell(code: string, ...events: readonly LoanEvent[]): Promise<bigint> {
    const stream = streamOf(code);
    const stored = events.map((event) => ({ id: randomUUID(), ...encodeEvent(event), metadata }));
    return (await this.append(stream, await this.head(stream), stored)).revision;
  }

  /** Assigned, active, and paid in full. */
  async tellWhole(code: string): Promise<void> {
    await this.tell(code, receivedLoan({ applicationId: APPLICATION, code }, 3));
    for (const event of [...toActive, settled('P1'), settled('P2', 5_000), settled('P3')])
      await this.tell(code, event);
  }

  assign(code: string): Promise<bigint> {
    return this.tell(code, receivedLoan({ applicationId: APPLICATION, code }, 3));
  }
}

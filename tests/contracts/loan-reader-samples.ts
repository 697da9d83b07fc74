import type { SqlLoanReader } from '../../application/loans/loan-reader.ts';
import { randomUUID } from 'node:crypto';
import type { LogPosition } from '../../application/ports/event-store.ts';
import type { ProjectionStore } from '../../application/projecting/projection-store.ts';
import type { LoanEvent } from '../../domain/loan/events.ts';
import type { LoanReceived } from '../../domain/loan/index.ts';
import type { ProjectedEvent } from '../../projections/projection.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import { projected, receivedLoan } from '../projections/loan/projected-events.ts';
import type { Operation } from '../projections/loan/projected-events.ts';
import type { Promised } from './promises.ts';

export interface LoanReaderUnderTest {
  readonly reader: Pick<SqlLoanReader, 'find' | 'list'>;
  /** Brings events into the read model; they are there when it resolves. */
  readonly project: (events: readonly ProjectedEvent[]) => Promise<void>;
}

export type LoanReaderCase = Promised<LoanReaderUnderTest>;

export const newOperation = (code = 'OP-1'): Operation => ({ applicationId: randomUUID(), code });

/** The events that follow an assignment, from revision 1 on. */
export const assign = async (
  { project }: LoanReaderUnderTest,
  operation: Operation,
  {
    count = 2,
    then = [],
    ...overrides
  }: Partial<LoanReceived> & { count?: number; then?: readonly LoanEvent[] } = {},
): Promise<void> => project(projected(operation, [receivedLoan(operation, count, overrides), ...then]));

/** Writes through the real projection, one batch a call. */
export const projectInto =
  (store: ProjectionStore): LoanReaderUnderTest['project'] =>
  async (events) => {
    const from = await store.checkpoint(loanProjection);
    const writes = events.flatMap((event) => loanProjection.project(event));
    const applied = await store.apply(loanProjection, writes, from, randomUUID() as string as LogPosition);
    if (!applied) throw new Error('another projector was faster');
  };

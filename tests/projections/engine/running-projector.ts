import type { LogPosition, RecordedEvent } from '../../../application/ports/event-store.ts';
import type { ProjectionStore } from '../../../application/ports/read-models.ts';
import { Projector } from '../../../projections/engine/projector.ts';
import type { ProjectorDependencies } from '../../../projections/engine/projector.ts';
import { loanProjection } from '../../../projections/loan/loan-projection.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { decode, until } from './story-log.ts';
import type { StoryLog } from './story-log.ts';

export type LoanProjector = Projector<RecordedEvent, LogPosition>;

/** Small batches, so that a short story makes many of them. */
export const projectorOf = (
  log: StoryLog,
  store: ProjectionStore,
  overrides: Partial<ProjectorDependencies<RecordedEvent, LogPosition>> = {},
): { readonly projector: LoanProjector; readonly logger: RecordingLogger } => {
  const logger = new RecordingLogger();
  const projector = new Projector<RecordedEvent, LogPosition>({
    projection: loanProjection,
    log,
    store,
    decode,
    logger,
    batchSize: 3,
    ...overrides,
  });
  return { projector, logger };
};

export const caughtUp = (projector: LoanProjector): Promise<void> =>
  until(() => projector.status().caughtUp, 'the projector has seen the end of the log');

/** Runs until everything in the log is projected. */
export const project = async (log: StoryLog, store: ProjectionStore): Promise<void> => {
  const { projector } = projectorOf(log, store);
  projector.start();
  await caughtUp(projector);
  await projector.stop();
};

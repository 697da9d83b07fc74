import type { ProjectionStore } from '../../../application/projecting/projection-store.ts';
import { ReadModelFollower } from '../../../application/projecting/read-model.ts';
import { pause } from '../../../infrastructure/support/time.ts';
import { loanProjection } from '../../../projections/loan/loan-projection.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { decode } from './story-log.ts';
import type { StoryLog } from './story-log.ts';
import { until } from '../../support/within.ts';

/** Small batches, so that a short story makes many of them. */
export const projectorOf = (
  log: StoryLog,
  store: ProjectionStore,
  overrides: Partial<ConstructorParameters<typeof ReadModelFollower>[0]> = {},
): { readonly projector: ReadModelFollower; readonly logger: RecordingLogger } => {
  const logger = new RecordingLogger();
  const projector = new ReadModelFollower({
    projection: loanProjection,
    log,
    store,
    decode,
    logger,
    pause,
    batchSize: 3,
    ...overrides,
  });
  return { projector, logger };
};

export const caughtUp = (projector: ReadModelFollower): Promise<void> =>
  until(() => projector.status().caughtUp, 'the projector has seen the end of the log');

/** Runs until everything in the log is projected. */
export const project = async (log: StoryLog, store: ProjectionStore): Promise<void> => {
  const { projector } = projectorOf(log, store);
  projector.start();
  await caughtUp(projector);
  await projector.stop();
};

import { LOAN_STREAM_PREFIX } from '../../../application/command-handling/operation.ts';
import { PolledProgress, ReadModelProgress } from '../../../application/loans/read-model-progress.ts';
import { ReadModelFollower } from '../../../application/projecting/read-model.ts';
import { loanProjection } from '../../../projections/loan/loan-projection.ts';
import type { Projection } from '../../../projections/projection.ts';
import { SqlLoanVersions } from '../../../application/loans/loan-reader.ts';
import { catchUp } from '../../cli/catch-up.ts';
import { oneAtATime } from '../../support/one-at-a-time.ts';
import { pause, throttled } from '../../support/time.ts';
import type { Foundations } from '../foundations.ts';
import { toProjected } from '../projections.ts';
import type { Adapters } from './adapters.ts';

/** Requests wait for the loans; what finds events by their id leaves the machine to requests. */
const LOAN_PAUSE_MS = 8;
const INDEX_PAUSE_MS = 250;

/** What follows the log and writes rows, and what knows how far it is. */
export const readModelArea = (
  { engines, logger, observability }: Foundations,
  { projectionStore: store }: Adapters,
) => {
  const projector = (projection: Projection, pauseMs: number) =>
    new ReadModelFollower({
      projection,
      log: observability.follower(`${projection.name}-projector`, throttled(engines.eventStore, pauseMs)),
      store,
      decode: toProjected,
      logger,
      pause,
      ...(projection.ofOperationsAlone && { streamPrefix: LOAN_STREAM_PREFIX }),
    });
  const loanProjector = projector(loanProjection, LOAN_PAUSE_MS);
  const others = engines.projections.filter((projection) => projection !== loanProjection);
  const projectors = [loanProjector, ...others.map((projection) => projector(projection, INDEX_PAUSE_MS))];
  const now = (): number => performance.now();
  const catchUps = new Map(projectors.map((one) => [one.name, oneAtATime(() => catchUp(one))]));
  const versions = new SqlLoanVersions(engines.readModelDatabase);
  return {
    /** Resolves when operations are read as everything that was stored before the call leaves them. @throws Error when it cannot */
    caughtUp: catchUps.get(loanProjection.name)!,
    /** The same of each read model. */
    all: engines.projections.map(({ name, tables }) => ({ name, tables, catchUp: catchUps.get(name)! })),
    projectors,
    progress: new ReadModelProgress({
      local: loanProjector,
      // A command beside an embedded service writes the same read model when it rebuilds it.
      elsewhere: new PolledProgress({ versions, sleep: pause, now }),
      now,
    }),
  };
};

export type ReadModels = ReturnType<typeof readModelArea>;

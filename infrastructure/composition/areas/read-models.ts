import { LOAN_STREAM_PREFIX } from '../../../application/command-handling/operation.ts';
import { PolledProgress, ReadModelProgress } from '../../../application/loans/read-model-progress.ts';
import { Projector } from '../../../application/projecting/projector.ts';
import { loanProjection } from '../../../projections/loan/loan-projection.ts';
import type { Projection } from '../../../projections/projection.ts';
import type { ProjectionsServices } from '../../cli/cli-services.ts';
import { SqlLoanVersions } from '../../sql/read-models/loan-reader.ts';
import { pause, throttled } from '../../support/time.ts';
import type { Foundations } from '../foundations.ts';
import { toProjected } from '../projections.ts';
import { rebuildOf } from '../serving-generation.ts';
import type { Adapters } from './adapters.ts';

/** Requests wait for the loans; reports and look-ups wait until their own read models have caught up, so those leave the machine to requests. */
const LOAN_PAUSE_MS = 8;
const FUND_SIDE_PAUSE_MS = 250;

/** What follows the log and writes rows, and what knows how far it is. */
export const readModelArea = (
  { engines, logger, observability }: Foundations,
  { projectionStore: store }: Adapters,
) => {
  const projector = (projection: Projection, pauseMs: number) =>
    new Projector({
      projection,
      log: observability.follower(`${projection.name}-projector`, throttled(engines.eventStore, pauseMs)),
      store,
      decode: toProjected,
      logger,
      pause,
      ...(projection.ofOperationsAlone && { streamPrefix: LOAN_STREAM_PREFIX }),
    });
  const loanProjector = projector(loanProjection, LOAN_PAUSE_MS);
  const fundSideProjectors = engines.projections
    .filter((projection) => projection !== loanProjection)
    .map((projection) => projector(projection, FUND_SIDE_PAUSE_MS));
  const now = (): number => performance.now();
  const versions = new SqlLoanVersions(engines.readModelDatabase);
  return {
    loanProjector,
    fundSideProjectors,
    projectors: [loanProjector, ...fundSideProjectors],
    progress: new ReadModelProgress({
      local: loanProjector,
      // A command beside an embedded service writes the same read model when it rebuilds it.
      elsewhere: new PolledProgress({ versions, sleep: pause, now }),
      now,
    }),
  };
};

export type ReadModels = ReturnType<typeof readModelArea>;

/** What the command line needs to build read models anew. */
export const projectionsServices = ({ engines }: Foundations): ProjectionsServices => {
  const { generations, eventStore, projections } = engines;
  const rebuilding = rebuildOf({ log: eventStore, generations });
  return {
    list: async function* () {
      for (const { number, state } of await generations.list()) {
        const generation = await generations.open(number);
        try {
          const places = await generation.places();
          for (const projection of projections)
            yield {
              generation: number,
              state,
              projection: projection.name,
              programVersion: projection.version,
              place: places.get(projection.name),
              rows: await generation.rows(projection),
            };
        } finally {
          await generation.close();
        }
      }
    },
    rebuild: (request) => rebuilding.execute(request),
    dropOld: () => generations.dropOld(),
  };
};
